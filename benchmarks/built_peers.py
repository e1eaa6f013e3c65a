"""Builds tools of others from the Go module proxy, so that benchmarks measure them in the same run."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".tools" / "peers"
RULES = ROOT / "benchmarks" / "peers"
"""The rules that they judge by."""

MODULES = {
    "conftest": "github.com/open-policy-agent/conftest@v0.71.1",
    "gator": "github.com/open-policy-agent/gatekeeper/v3/cmd/gator@v3.23.1",
}


def peer(name: str) -> str | None:
    """A tool of others, built if Go is there; a build takes minutes, once. None if it cannot be had."""
    built = FOLDER / name
    if not built.exists() and shutil.which("go"):
        environment = {**os.environ, "GOBIN": str(FOLDER), "GOFLAGS": "-mod=mod -p=1"}
        command = ["nice", "-n", "15", "go", "install", "-trimpath", "-ldflags=-s -w", MODULES[name]]
        subprocess.run(command, env=environment, check=False)
    return str(built) if built.exists() else shutil.which(name)


def conftest(path: Path) -> list[str] | None:
    """The command that judges files with conftest by five rules; None without conftest."""
    program = peer("conftest")
    return None if program is None else [program, "test", "--policy", str(RULES / "conftest.rego"), str(path)]
