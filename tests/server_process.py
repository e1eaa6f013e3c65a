"""`usher serve` as a process of its own on loopback, with a certificate, a log and a client."""

import contextlib
import http.client
import json
import signal
import socket
import ssl
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from prometheus_client.parser import text_string_to_metric_families

import forked_server
from e2e import ports, processes
from e2e.cluster import wait_until
from integration import command
from usher import paths
from usher.server.certs import issue

BOUND = 120.0
"""Seconds after which a test gives up waiting; a busy machine takes many times what a quiet one does."""

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes

    @property
    def response(self) -> Any:
        """The response of a review."""
        assert self.headers["content-type"] == "application/json"
        return orjson.loads(self.body)["response"]


@dataclass(slots=True)
class LogLines:
    """The lines of a log that were read so far: a log of many tests is long, and tests read it again and again."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    size: int = 0
    """The bytes of these lines."""

    def read(self, file: Path) -> list[dict[str, Any]]:
        """All complete lines of the file, which only grows."""
        with file.open("rb") as log:
            log.seek(self.size)
            new = log.read()
        new = new[: new.rfind(b"\n") + 1]
        self.size += len(new)
        self.lines += [json.loads(line) for line in new.splitlines()]
        return self.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProcess:
    """A server that is running; `directory` holds its certificate, its configuration and its log."""

    directory: Path
    port: int
    admin_port: int
    running: processes.Running
    _log: LogLines = field(default_factory=LogLines, init=False, repr=False)

    @property
    def url(self) -> str:
        return f"https://{processes.LOOPBACK}:{self.port}"

    @property
    def admin_url(self) -> str:
        return f"http://{processes.LOOPBACK}:{self.admin_port}"

    @property
    def ca_file(self) -> Path:
        return self.directory / "ca.crt"

    @property
    def pid(self) -> int:
        return self.running.process.pid

    @property
    def log_text(self) -> str:
        """All that it wrote, to either stream."""
        return self.running.log.read_text()

    def log(self, event: str = "") -> list[dict[str, Any]]:
        """Its log, or the lines about one kind of event."""
        return [line for line in self._log.read(self.running.log) if event in ("", line["event"])]

    def decision(self, uid: str) -> dict[str, Any]:
        """The log line about the review with this uid; the server answers first and writes then."""
        lines = wait_until(
            lambda: [line for line in self.log("decision") if line["uid"] == uid],
            description=f"the decision about {uid} is in the log",
            timeout=BOUND,
        )
        (line,) = lines
        return line

    def client_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca_file)
        context.set_alpn_protocols(["h2", "http/1.1"])
        return context

    @contextlib.contextmanager
    def connection(self) -> Iterator[http.client.HTTPSConnection]:
        """A connection that is kept open from one request to the next."""
        connection = http.client.HTTPSConnection(
            processes.LOOPBACK, self.port, timeout=BOUND, context=self.client_context()
        )
        with contextlib.closing(connection):
            yield connection

    @contextlib.contextmanager
    def socket(self) -> Iterator[ssl.SSLSocket]:
        """A connection for requests that no client library would send."""
        with (
            socket.create_connection((processes.LOOPBACK, self.port), timeout=BOUND) as plain,
            self.client_context().wrap_socket(plain, server_hostname=processes.LOOPBACK) as encrypted,
        ):
            yield encrypted

    def ask(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        with self.connection() as connection:
            return ask(connection, method, path, body=body, headers=headers)

    def review(self, endpoint: str, body: bytes) -> Any:
        """The response to a review that is answered."""
        answer = self.ask("POST", f"/{endpoint}", body=body, headers=JSON)
        assert answer.status == 200, answer
        return answer.response

    def admin(self, path: str) -> Answer:
        with contextlib.closing(
            http.client.HTTPConnection(processes.LOOPBACK, self.admin_port, timeout=BOUND)
        ) as connection:
            return ask(connection, "GET", path)

    def metrics(self) -> dict[str, float]:
        """Every series with its value, spelt `name{label="value"}`."""
        with urllib.request.urlopen(f"{self.admin_url}/metrics", timeout=BOUND) as answer:
            families = text_string_to_metric_families(answer.read().decode())
        return {
            sample.name
            + "{"
            + ",".join(f'{label}="{value}"' for label, value in sorted(sample.labels.items()))
            + "}": sample.value
            for family in families
            for sample in family.samples
        }


def ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    connection.request(method, path, body=body, headers=dict(headers or {}))
    response = connection.getresponse()
    return Answer(
        status=response.status,
        headers={name.lower(): value for name, value in response.getheaders()},
        body=response.read(),
    )


@contextlib.contextmanager
def running(
    directory: Path,
    *,
    config: paths.Object | None = None,
    arguments: tuple[str, ...] = (),
    awaited: bool = True,
    from_files: bool = True,
    env: Mapping[str, str] | None = None,
    constants: Mapping[str, float] | None = None,
) -> Iterator[ServerProcess]:
    """A server that is ready, and has ended when the context is left.

    Args:
        directory: where it finds its certificate, which is made if it is missing, and writes its log.
        config: its usher.yaml.
        arguments: further ones of `usher serve`.
        awaited: whether to wait until it is ready; else only until it answers at all.
        from_files: whether it serves the certificate in the directory; else `arguments` say which.
        env: further variables of its environment.
        constants: shorter pauses for it, by `module.NAME`, where it can be forked (forked_server.py).

    Raises:
        ProcessError: it did not get ready; the message holds the end of its log.
    """
    issue.ensure(directory, names=[processes.LOOPBACK, "localhost"], now=datetime.now(UTC))
    if config is not None:
        # JSON is YAML.
        (directory / "usher.yaml").write_bytes(orjson.dumps({**command.CONFIG, **config}))
        arguments = (f"--config={directory / 'usher.yaml'}", *arguments)
    port, admin_port = ports.free(2)
    files = (f"--certificate={directory / 'tls.crt'}", f"--key={directory / 'tls.key'}") if from_files else ()
    given = (
        "serve",
        f"--host={processes.LOOPBACK}",
        *files,
        f"--port={port}",
        f"--admin-port={admin_port}",
        *arguments,
    )
    process = _started(
        given,
        health=f"http://{processes.LOOPBACK}:{admin_port}/{'readyz' if awaited else 'healthz'}",
        log=directory / "usher.log",
        env=command.environment(**(env or {})),
        constants=constants,
    )
    server = ServerProcess(directory=directory, port=port, admin_port=admin_port, running=process)
    try:
        processes.wait_until_ready([process], tls=server.client_context())
        yield server
    finally:
        # As Ctrl-C: it ends without the pause of five seconds in which clients would turn to other servers.
        with contextlib.suppress(ProcessLookupError):
            process.process.send_signal(signal.SIGINT)
        processes.stop(process.process)


def _started(
    arguments: Sequence[str], *, health: str, log: Path, env: Mapping[str, str], constants: Mapping[str, float] | None
) -> processes.Running:
    if not forked_server.can_start(env):
        return processes.start("usher", [sys.executable, "-m", "usher", *arguments], health=health, log=log, env=env)
    with log.open("ab") as output:
        process = forked_server.start(arguments, log=output, env=env, constants=constants)
    return processes.Running(name="usher", health=health, log=log, process=process)
