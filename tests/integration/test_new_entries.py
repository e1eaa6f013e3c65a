"""What CONTRIBUTING.md says of a new fabric, accelerator vendor and report format: in a copy of the package, each is
added in the files that the page names, and in no other.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
from integration import command
from integration.command import Run, write
from usher import paths

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of the package that may be changed."""

    root: Path

    def insert(self, file: str, before: str, lines: str) -> None:
        """Writes lines after the line that ends with `before`."""
        path = self.root / "webhooks" / "usher" / file
        head, found, rest = path.read_text().partition(before + "\n")
        assert found, f"{file} has no line that ends with {before}"
        path.write_text(head + found + lines + rest)

    def add(self, file: str, content: str) -> None:
        path = self.root / "webhooks" / "usher" / file
        assert not path.exists()
        path.write_text(content)

    def usher(self, *arguments: str | Path) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "usher", *map(str, arguments)],
            env=command.environment(PYTHONPATH=str(self.root / "webhooks")),
            cwd=self.root,
            capture_output=True,
            check=False,
            timeout=120,
        )
        return Run(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "webhooks" / "usher", tmp_path / "webhooks" / "usher", ignore=ignored)
    (tmp_path / "policies").symlink_to(ROOT / "policies")
    return Copy(root=tmp_path)


def training(resource: str, *, node_selector: dict[str, str] | None = None) -> paths.Object:
    """A PyTorchJob of two pods."""
    container = builders.container("pytorch", requests={resource: 8}, limits={resource: 8})
    spec: dict[str, Any] = {"containers": [container], "nodeSelector": node_selector or {}}
    replicas: Any = {role: {"replicas": 1, "template": {"spec": spec}} for role in ("Master", "Worker")}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "bert", "namespace": "ml"},
        "spec": {"pytorchReplicaSpecs": replicas},
    }


def test_a_fabric_is_a_profile_in_config_fabrics(copy: Copy) -> None:
    copy.insert(
        "config/fabrics/shipped.py",
        "PROFILES: Final = {",
        '    "slingshot": Shipped(\n'
        '        profile=Fabric(env={"FI_PROVIDER": "cxi"}),\n'
        '        about="Slingshot, with libfabric.",\n'
        "        add=(),\n"
        '        sources=("https://ofiwg.github.io/libfabric/main/man/fi_cxi.7.html",),\n'
        "    ),\n",
    )
    labels = {"example.com/pool": "cray"}
    pool = {"name": "cray", "nodeSelector": labels, "resources": [builders.GPU], "fabric": "slingshot"}
    (copy.root / "usher.yaml").write_text(yaml.safe_dump({"pools": [pool]}))
    file = write(copy.root / "job.yaml", training(builders.GPU, node_selector=labels))

    run = copy.usher("check", "--diff", file)

    assert "FI_PROVIDER=cxi" in run.out


def test_an_accelerator_vendor_is_an_entry_of_known_names(copy: Copy) -> None:
    copy.insert(
        "accelerators/names.py",
        "VENDORS: Final[dict[str, tuple[Known, ...]]] = {",
        '    "tenstorrent": (*_names(Unit.DEVICE, "tenstorrent.com/n300"),),\n',
    )
    file = write(copy.root / "job.yaml", training("tenstorrent.com/n300"))

    run = copy.usher("workload", "show", file)

    assert "16 tenstorrent.com/n300 (extended resource)" in run.out


def test_a_report_format_is_a_module_in_reports_and_a_line_in_formats(copy: Copy) -> None:
    copy.add(
        "reports/table.py",
        "from typing import TextIO\n\n"
        "from usher.check import findings\n\n\n"
        "def write(found: findings.Report, stream: TextIO, /) -> None:\n"
        "    for result in found.results:\n"
        '        stream.write(f"{result.identity},{result.outcome}\\n")\n',
    )
    copy.insert(
        "check/formats/known_formats.py",
        'reader="programs"),',
        '    "table": Format(module="usher.check.formats.table", reader="spreadsheets"),\n',
    )
    file = write(copy.root / "bad.yaml", command.bad())

    run = copy.usher("check", "--format", "table", file)

    assert (run.code, run.out) == (1, "Job ml-research/bad,deny\n")
    assert "spreadsheets" in copy.usher("audit", "--help").out
