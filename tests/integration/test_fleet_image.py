"""The image of `scripts/image --fleet`: as its user, it writes parts and merges them, and knows object stores."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import builders

pytestmark = pytest.mark.slow

OUTPUT: Final = Path(__file__).parents[2] / "build" / "image-fleet"
Usher = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def usher(tmp_path_factory: pytest.TempPathFactory) -> Usher:
    """Runs the command in a container, as the image's own user, with a folder at /audits."""
    if os.getuid() or not shutil.which("buildah"):
        pytest.skip("needs root and buildah")
    files = sorted(OUTPUT.glob("gpu-usher-fleet-*.tar"))
    if not files:
        pytest.skip("there is no image; make it: scripts/image --fleet")
    store = tmp_path_factory.mktemp("images")
    buildah = ("buildah", "--storage-driver=vfs", f"--root={store}/storage", f"--runroot={store}/run")
    made = subprocess.run(
        [*buildah, "from", f"oci-archive:{files[-1]}"], capture_output=True, text=True, check=True
    ).stdout.strip()

    def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        options = ("--isolation=chroot", "--cap-drop=ALL", f"--volume={folder}:/audits")
        command = [*buildah, "run", *options, made, "--", "python3", "-m", "usher", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def audits(tmp_path: Path) -> Path:
    """A folder in which the image's user may write, with a dump of a cluster."""
    for each in (tmp_path, *list(tmp_path.parents)[:2]):
        each.chmod(0o777)
    (tmp_path / "dump.json").write_text(json.dumps(builders.pod(builders.container(gpus=2), name="a")))
    return tmp_path


def test_it_writes_parts_and_merges_them(usher: Usher, audits: Path) -> None:
    written = usher("audit", "/audits/dump.json", "--cluster-name=lab", "--output-dir=/audits/parts", folder=audits)
    merged = usher("report", "merge", "/audits/parts", "--format=json", folder=audits)

    assert written.returncode == 0, written.stderr
    assert json.loads(merged.stdout)["summary"]["workloads"] == 1


def test_it_knows_s3_and_says_what_other_stores_need(usher: Usher, audits: Path) -> None:
    without = usher("report", "merge", "s3://audits/x", folder=audits).stderr
    other = usher("report", "merge", "gs://audits/x", folder=audits).stderr

    assert "is not installed" not in without
    assert "usher cannot list it" in without
    assert "a library for gs:// is not installed: pip install 'gpu-usher[fleet]' gcsfs" in other
