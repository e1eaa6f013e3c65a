"""build/usher.pyz, which scripts/pyz builds: usher in one file, in an environment without anything else."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYZ = ROOT / "build" / "usher.pyz"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYZ.exists(), reason="there is no build/usher.pyz; make it: scripts/pyz"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def run(*arguments: str | Path, home: Path, file: Path = PYZ) -> subprocess.CompletedProcess[str]:
    """Runs the file with the Python of the machine, without its packages, and without the sources."""
    path = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if ".venv" not in each)
    return subprocess.run(
        ["python3", "-I", file, *arguments],
        cwd=home,
        env={"HOME": str(home), "PATH": path, "SHIV_ROOT": str(home / "extracted")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_file_judges_manifests_in_an_empty_environment(home: Path) -> None:
    done = run("check", ROOT / "examples", home=home)

    assert (done.returncode, done.stderr) == (1, "")
    assert "5 errors" in done.stdout
    assert {each.name for each in home.iterdir()} <= {"extracted", ".cache", "kubectl-usher"}


def test_the_file_has_what_commands_about_a_live_cluster_need(home: Path) -> None:
    assert run("audit", home=home).stderr.startswith("usher: there is no cluster to read")


def test_the_file_names_the_extra_that_the_server_needs(home: Path) -> None:
    done = run("serve", home=home)

    assert done.returncode == 2
    assert done.stderr == "usher: usher serve needs the library structlog for this: pip install 'gpu-usher[server]'\n"


def test_the_archive_beside_it_has_the_plugin_of_kubectl(home: Path) -> None:
    (archive,) = PYZ.parent.glob("kubectl-usher-*.tar.gz")
    with tarfile.open(archive) as opened:
        assert opened.getnames() == ["kubectl-usher", "LICENSE"]
        opened.extract("kubectl-usher", home, filter="data")

    assert run("--help", home=home, file=home / "kubectl-usher").stdout.startswith("Usage: kubectl usher")
