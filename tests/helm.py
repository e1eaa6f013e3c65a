"""Helm, as users run it, with nothing of this machine's own settings."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).parents[1]
CHART: Final = ROOT / "manifests" / "helm" / "gpu-usher"
HELM: Final = ROOT / ".tools" / "bin" / "helm"
NAMESPACE: Final = "gpu-usher"

needs_helm = pytest.mark.skipif(not HELM.exists(), reason="not in .tools/bin: helm; build with: scripts/helm")


def run(arguments: Sequence[str | Path], *, home: Path, code: int = 0) -> str:
    """The output of a command; its error if it has to fail."""
    done = subprocess.run(
        [HELM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def rendered(*options: str, home: Path, namespace: str = NAMESPACE) -> list[dict[str, Any]]:
    """The objects of the chart with some options."""
    text = run(arguments(*options, namespace=namespace), home=home)
    return [each for each in yaml.safe_load_all(text) if each]


def arguments(*options: str, namespace: str = NAMESPACE) -> list[str | Path]:
    return ["template", "gpu-usher", CHART, f"--namespace={namespace}", "--kube-version=1.36.0", *options]
