"""Without public manifests tests run on what the repository holds, and a line at the end says what was left out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kind_definitions
from shared_files import OWN_ALONE, VARIABLE, needs_shared

pytestmark = pytest.mark.costly

ROOT = Path(__file__).parents[2]
QUOTED = re.compile(r'"([a-z0-9.-]+/[a-z]+)"')
PLUGINS = ["-n0", "-p", "no:cacheprovider"]


def run(*command: str, chosen: str | Path = OWN_ALONE) -> str:
    """The output of Python with USHER_TEST_CORPUS."""
    environment = {**os.environ, VARIABLE: str(chosen), "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, cwd=ROOT, timeout=120, check=False
    )
    return done.stdout + done.stderr


def test_what_needs_public_files_is_left_out_and_counted_in_one_line() -> None:
    printed = run(
        "-m", "pytest", "-ra", *PLUGINS, "-k", "knows_every_field", "tests/unit/server/certs/test_cert_manager.py"
    )

    (line,) = [line for line in printed.splitlines() if line.startswith("LEFT OUT")]
    assert line.startswith("LEFT OUT: 4 tests, which need manifests and definitions of public projects;")
    assert "docs/testing.md" in line
    assert "SKIPPED" not in printed
    assert "## Public manifests" in (ROOT / "docs/testing.md").read_text(encoding="utf-8")


def test_the_variable_names_a_folder(tmp_path: Path) -> None:
    (tmp_path / "crds").mkdir()
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "INDEX.tsv").touch()

    printed = run("-c", "import shared_files; print(shared_files.is_there(), shared_files.FOLDER)", chosen=tmp_path)

    assert printed == f"True {tmp_path}\n"


def test_a_folder_without_its_parts_is_refused(tmp_path: Path) -> None:
    printed = run("-c", "import shared_files", chosen=tmp_path)

    missing = f"{tmp_path}/corpus/INDEX.tsv and {tmp_path}/crds"
    assert f"USHER_TEST_CORPUS is '{tmp_path}', but {missing} cannot be found" in printed


@needs_shared("published definitions")
def test_whatever_tests_install_has_a_definition_of_our_own() -> None:
    texts = (file.read_text(encoding="utf-8") for file in ROOT.glob("tests/e2e/**/*.py"))
    names = {f"{name}.yaml" for text in texts for name in QUOTED.findall(text)}
    published = {name for name in names if (kind_definitions.PUBLISHED / name).is_file()}

    assert len(published) >= 20
    assert {name for name in published if not (kind_definitions.OWN / name).is_file()} == set()
