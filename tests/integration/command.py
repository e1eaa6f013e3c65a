"""The command `usher`: in this process, or as a process of its own, as users and CI systems run it."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest import mock

import orjson
import pytest
import yaml
from kubernetes.config import kube_config

import builders
import forked_server
from usher import paths
from usher.cli import main
from usher.extensions import installed_programs

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
BAD_EXAMPLE: Final = str(EXAMPLES / "bad-pytorchjob.yaml")

_NO_CACHE: Final = "/proc/no-cache"
"""No directory can be made there: verdicts of other tests must not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return orjson.loads(self.out)


_compiled_once: Final = installed_programs.made_once
_modules: Final[dict[str, bytes]] = {}


def _compiled_by_some_test(make: Callable[[], bytes], *, of: str, cache: Path | None) -> bytes:
    """A module that some test has compiled already from the same sources, which takes opa a third of a second.

    A test with a cache of its own compiles for itself.
    """
    if cache is None or not cache.is_relative_to(_NO_CACHE):
        return _compiled_once(make, of=of, cache=cache)
    if of not in _modules:
        _modules[of] = make()
    return _modules[of]


installed_programs.made_once = _compiled_by_some_test

# The library reads $KUBECONFIG when it is imported: without this, a test could ask the cluster of the user who runs it.
kube_config.KUBE_CONFIG_DEFAULT_LOCATION = "~/.kube/config"


def environment(**extra: str) -> dict[str, str]:
    """Nothing of the machine that could change what a command does."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "PYTHONPATH") or "COVERAGE_" in key}
    # The engine compiles the policies for a second where it finds no cache of them.
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    own = {"HOME": "/nonexistent", "XDG_CACHE_HOME": cache, "USHER_CACHE_DIR": _NO_CACHE, "LANG": "C.UTF-8"}
    return {**kept, **own, **extra}


def usher(
    *arguments: str | Path,
    stdin: str | bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Run:
    """Runs the command in this process, with streams, folder and environment of its own."""
    given, out, err = (
        io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", write_through=True)
        for data in (stdin.encode() if isinstance(stdin, str) else stdin, b"", b"")
    )
    with (
        mock.patch.dict(os.environ, environment(**(env or {})), clear=True),
        mock.patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd or Path.cwd()),
        pytest.raises(SystemExit) as ended,
    ):
        main.main([str(argument) for argument in arguments])
    assert isinstance(ended.value.code, int)
    return Run(code=ended.value.code, out=written(out), err=written(err))


def written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def usher_process(
    *arguments: str | Path,
    stdin: str | bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Run:
    """Runs the command as a process of its own: for what depends on the process."""
    variables = environment(**(env or {}))
    done = subprocess.run(
        [*forked_server.command_line(variables), *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        cwd=cwd,
        env=variables,
        check=False,
        timeout=120,
    )
    return Run(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def manifest(*objects: paths.Json) -> str:
    text: str = yaml.dump_all(objects, Dumper=yaml.CSafeDumper, sort_keys=False)
    return text


def write(file: Path, *objects: paths.Json) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(manifest(*objects))
    return file


def good() -> paths.Object:
    return builders.pod(name="good")


def bad(name: str = "bad", *, namespace: str | None = "ml-research") -> paths.Object:
    """A Job that USH103 denies for its limit of 1 GPU, whose line is the only one that ends so."""
    container = builders.container(requests={builders.GPU: 2}, limits={builders.GPU: 1})
    return builders.job(builders.template(container, restartPolicy="Never"), name=name, namespace=namespace)


def bad_line(file: Path) -> int:
    """Where `bad` is wrong."""
    return next(number for number, text in enumerate(file.read_text().splitlines(), 1) if text.endswith("gpu: 1"))


def warned() -> paths.Object:
    """Nothing is wrong with it, but a toleration that is usually needed is missing."""
    return builders.pod(builders.container(gpus=1), name="warned")


CONFIG: Final = {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config"}
"""The keys that each usher.yaml has."""


def config(file: Path, **sections: Any) -> Path:
    return write(file, {**CONFIG, **sections})


SWITCHED_OFF: Final = {"enforcement": {"rules": [{"check": "gpu-requests-equal-limits", "action": "off"}]}}
"""A configuration under which `bad` is not denied."""
