"""The built wheel: what users install, tried with the sources out of sight."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from integration.command import environment

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(directory)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = directory.glob("*.whl")
    return built


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_has_one_top_level_package(wheel: Path) -> None:
    top = {name.partition("/")[0] for name in names(wheel)}

    assert {name for name in top if not name.endswith((".dist-info", ".data"))} == {"usher"}


def test_the_wheel_brings_the_manual_pages_to_where_man_looks(wheel: Path) -> None:
    pages = {name.partition(".data/")[2] for name in names(wheel) if ".data/" in name}

    assert pages == {f"data/share/man/man1/{page.name}" for page in (ROOT / "docs/man").glob("*.1")}
    assert "data/share/man/man1/usher-check.1" in pages


def test_the_wheel_brings_the_policies_and_leaves_their_tests_behind(wheel: Path) -> None:
    policies = [name for name in names(wheel) if name.startswith("usher/_policies/")]

    assert "usher/_policies/policy.wasm" in policies
    assert "usher/_policies/usher/main/main.rego" in policies
    assert not [name for name in policies if "_test.rego" in name or "/examples" in name]


def test_the_wheel_brings_what_own_checks_are_compiled_with(wheel: Path) -> None:
    policies = {name.removeprefix("usher/_policies/") for name in names(wheel)}
    libraries = {path.name for path in (ROOT / "policies/usher/lib").glob("*.rego") if "_test" not in path.name}

    assert {"capabilities.json", "schemas/input.json", *(f"usher/lib/{name}" for name in libraries)} <= policies


def test_the_wheel_holds_every_module_and_every_data_file_of_the_sources(wheel: Path) -> None:
    files = {
        path.relative_to(ROOT / "webhooks").as_posix()
        for path in (ROOT / "webhooks/usher").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert files <= set(names(wheel))
    assert "usher/py.typed" in names(wheel)


def test_an_installed_wheel_judges_the_example_that_is_wrong_in_seven_ways(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    probe = "import sys; sys.path.insert(0, sys.argv.pop(1)); import usher; print(usher.__file__); "
    probe += "from usher.cli.main import main; main()"

    done = subprocess.run(
        [sys.executable, "-c", probe, str(tmp_path / "site"), "check", str(ROOT / "examples")],
        cwd=tmp_path,
        # Lines that run in here are not those of the sources.
        env={key: value for key, value in environment().items() if "COVERAGE" not in key},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.startswith(str(tmp_path / "site"))
    assert done.returncode == 1, done.stderr
    assert "5 errors" in done.stdout
    assert "5 warnings" in done.stdout
