"""Servers under test as processes: started with a log of their own, awaited, and stopped by their id."""

import functools
import http.client
import shutil
import ssl
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from e2e.cluster import wait_until

LOOPBACK = "127.0.0.1"

_READY_SECONDS = 120.0
_STOP_SECONDS = 10.0


class ProcessError(Exception):
    """A server ended, or was not ready in time; the message ends with the tail of its log."""


class Process(Protocol):
    """A process that was started, as `subprocess.Popen` offers it."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """`health` is a URL that answers 200 once the server is ready."""

    name: str
    health: str
    log: Path
    process: Process


def start(name: str, command: Sequence[str | Path], *, health: str, log: Path, env: Mapping[str, str]) -> Running:
    """A process that ends with the thread that started it, where `setpriv` exists (most Linux systems).

    Its output is appended to `log`; of this process's environment it gets nothing but `env`.
    """
    setpriv = shutil.which("setpriv")
    with_parent = [setpriv, "--pdeathsig", "KILL"] if setpriv else []
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*with_parent, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(env),
            # Ctrl-C is for the tests; they stop what they started in order.
            process_group=0,
        )
    return Running(name=name, health=health, log=log, process=process)


def stop(process: Process) -> None:
    process.terminate()
    try:
        process.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until_ready(servers: Sequence[Running], *, tls: ssl.SSLContext) -> None:
    """Waits for all of them.

    Raises:
        ProcessError: one of them ended or took too long.
    """
    for server in servers:
        try:
            wait_until(
                functools.partial(_is_ready, server, beside=servers, tls=tls),
                description=f"{server.name} is ready",
                timeout=_READY_SECONDS,
            )
        except TimeoutError as error:
            raise ProcessError(f"{error}\n{_tail(server.log)}") from error


def _is_ready(server: Running, *, beside: Iterable[Running], tls: ssl.SSLContext) -> bool:
    for each in beside:
        exit_code = each.process.poll()
        if exit_code is not None:
            raise ProcessError(f"{each.name} ended with {exit_code}\n{_tail(each.log)}")
    url = urlsplit(server.health)
    address, port = url.hostname or "", url.port
    connection = (
        http.client.HTTPSConnection(address, port, timeout=30, context=tls)
        if url.scheme == "https"
        else http.client.HTTPConnection(address, port, timeout=30)
    )
    try:
        connection.request("GET", url.path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _tail(log: Path, *, lines: int = 15) -> str:
    text = log.read_text(errors="replace").splitlines()
    return "\n".join([f"{log}, the last lines:", *text[-lines:]])
