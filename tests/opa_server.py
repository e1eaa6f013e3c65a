"""The real OPA: a server on loopback, and its compiler for policies that are written in a test."""

import contextlib
import ssl
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from e2e import ports, processes
from usher.policy.engines.engine import Entrypoint

OPA: Final = Path(__file__).parents[1] / ".tools" / "bin" / "opa"
"""Where `scripts/tools opa` puts it."""

POLICIES: Final = Path(__file__).parents[1] / "policies"

needs_opa: Final = [
    pytest.mark.opa,
    pytest.mark.skipif(not OPA.is_file(), reason="not in .tools/bin: opa; build with: scripts/tools opa"),
]
"""For `pytestmark`."""


def compiled(source: str, directory: Path, *, capabilities: Path | None = None) -> bytes:
    """A policy with all entry points, as WebAssembly.

    Raises:
        ValueError: OPA refuses it; the message is OPA's.
    """
    file, archive = directory / "policy.rego", directory / "bundle.tar.gz"
    file.write_text(source, encoding="utf-8")
    options = ["--capabilities", str(capabilities)] if capabilities else []
    entrypoints = [option for entrypoint in Entrypoint for option in ("--entrypoint", entrypoint.value)]
    result = subprocess.run(
        [OPA, "build", "--target", "wasm", *entrypoints, *options, "--output", archive, file],
        check=False,
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        raise ValueError(result.stdout + result.stderr)
    with tarfile.open(archive) as tar:
        member = tar.extractfile("/policy.wasm")
        assert member is not None
        return member.read()


@contextlib.contextmanager
def running(
    directory: Path,
    *policies: Path,
    arguments: tuple[str | Path, ...] = (),
    port: int | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[str]:
    """The URL of a healthy server, which has ended when the context is left.

    Args:
        directory: where it writes its log.
        policies: files and folders to load; tests and manifests in them are left out.
        arguments: further arguments for `opa run`.
        port: to listen on; a free one by default.
        tls: what trusts the server, where the arguments make it speak TLS.

    Raises:
        ProcessError: it did not become healthy; the message ends with the tail of its log.
    """
    address = f"{processes.LOOPBACK}:{port or ports.free(1)[0]}"
    url = f"{'https' if tls else 'http'}://{address}"
    left_out = ["--ignore", "*_test.rego", "--ignore", "*.yaml"]
    server = processes.start(
        "opa",
        # Without the check, it would ask for newer versions of itself on the Internet.
        [OPA, "run", "--server", "--addr", address, "--skip-version-check", *left_out, *arguments, *policies],
        health=f"{url}/health",
        log=directory / "opa.log",
        env={"HOME": str(directory)},
    )
    try:
        processes.wait_until_ready([server], tls=tls or ssl.create_default_context())
        yield url
    finally:
        processes.stop(server.process)
