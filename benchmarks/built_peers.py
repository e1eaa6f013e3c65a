"""Builds tools of others from the Go module proxy, so that benchmarks measure them in the same run."""

import json
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".tools" / "peers"
RULES = ROOT / "benchmarks" / "peers"
"""The rules that they judge by."""

GATEKEEPER = "github.com/open-policy-agent/gatekeeper/v3@v3.23.1"
PACKAGES = {
    "conftest": ("github.com/open-policy-agent/conftest@v0.71.1", "."),
    "gator": (GATEKEEPER, "./cmd/gator"),
    "gatekeeper": (GATEKEEPER, "."),
    "kyverno": ("github.com/kyverno/kyverno@v1.19.0", "./cmd/kyverno"),
}
"""The module of each tool and its package there."""

DEFINITIONS = {"gatekeeper": "charts/gatekeeper/crds/*.yaml", "kyverno": "config/crds/*/*.yaml"}
"""Where a module has the definitions (CRDs) of the kinds that a server of it reads."""


def peer(name: str) -> str | None:
    """A tool of others, built if Go is there; a build takes minutes, once. None if it cannot be had."""
    built = FOLDER / name
    if not built.exists() and shutil.which("go"):
        _build(name, built)
    return str(built) if built.exists() else shutil.which(name)


def _build(name: str, built: Path) -> None:
    """Builds in the folder of the tool's own module, because the replace lines of other modules do not count."""
    module, package = PACKAGES[name]
    found = subprocess.run(["go", "mod", "download", "-json", module], capture_output=True, check=False)
    folder = Path(json.loads(found.stdout or "{}").get("Dir", ""))
    if found.returncode or not folder.is_absolute():
        return
    built.parent.mkdir(parents=True, exist_ok=True)
    if name in DEFINITIONS:
        definitions(name).mkdir(exist_ok=True)
        for each in folder.glob(DEFINITIONS[name]):
            shutil.copyfile(each, definitions(name) / each.name)
    command: list[str | Path] = ["nice", "-n", "15", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", built, package]
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false -p=1", "CGO_ENABLED": "0"}
    subprocess.run(command, cwd=folder, env=environment, check=False)


def definitions(name: str) -> Path:
    """The folder with the definitions of a tool that is built."""
    return FOLDER / f"{name}-definitions"


def conftest(path: Path) -> list[str] | None:
    """The command that judges files with conftest by five rules; None without conftest."""
    program = peer("conftest")
    return None if program is None else [program, "test", "--policy", str(RULES / "conftest.rego"), str(path)]
