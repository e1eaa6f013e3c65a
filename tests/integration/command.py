"""The command `usher` as a process of its own, as users and CI systems run it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

import builders
from usher import paths

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
BAD_EXAMPLE: Final = str(EXAMPLES / "bad-pytorchjob.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return orjson.loads(self.out)


def environment(**extra: str) -> dict[str, str]:
    """Nothing of the machine that could change what a command does."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "PYTHONPATH") or "COVERAGE_" in key}
    return {**kept, "HOME": "/nonexistent", "LANG": "C.UTF-8", **extra}


def usher(
    *arguments: str | Path,
    stdin: str | bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Run:
    done = subprocess.run(
        [sys.executable, "-m", "usher", *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(**(env or {})),
        check=False,
        timeout=120,
    )
    return Run(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def manifest(*objects: paths.Json) -> str:
    return yaml.safe_dump_all(objects, sort_keys=False)


def write(file: Path, *objects: paths.Json) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(manifest(*objects))
    return file


def good() -> paths.Object:
    return builders.pod(name="good")


def bad(name: str = "bad", *, namespace: str | None = "ml-research") -> paths.Object:
    """A Job that USH103 denies for its limit of 1 GPU, whose line is the only one that ends so."""
    container = builders.container(requests={builders.GPU: 2}, limits={builders.GPU: 1})
    return builders.job(builders.template(container), name=name, namespace=namespace)


def bad_line(file: Path) -> int:
    """Where `bad` is wrong."""
    return next(number for number, text in enumerate(file.read_text().splitlines(), 1) if text.endswith("gpu: 1"))


def warned() -> paths.Object:
    """Nothing is wrong with it, but a toleration that is usually needed is missing."""
    return builders.pod(builders.container(gpus=1), name="warned")


def config(file: Path, **sections: Any) -> Path:
    return write(file, {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config", **sections})


SWITCHED_OFF: Final = {"enforcement": {"rules": [{"check": "gpu-requests-equal-limits", "action": "off"}]}}
"""A configuration under which `bad` is not denied."""
