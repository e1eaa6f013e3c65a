"""Runs both ports until a signal ends it."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog
import uvicorn
from fastapi import FastAPI

from usher import errors
from usher.certs.serving import Checked, Reloader
from usher.policy.evaluator import Evaluator, Request
from usher.server.app import admin_app, webhook_app
from usher.server.metrics import Metrics

KEEP_ALIVE: Final = 120
"""Seconds. The API server keeps idle connections for 90; whoever closes first must not be us (reliability.md 1.4)."""

GRACE: Final = 20
"""Seconds that open requests get to end after a signal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    webhook: Address
    admin: Address
    certificate: Path
    key: Path


class _Server(uvicorn.Server):
    """Leaves signals to us: two servers share this process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(settings: Settings, evaluator: Evaluator, *, revision: str, started: asyncio.Event) -> None:
    """Answers reviews until SIGTERM or SIGINT; sets `started` once both ports answer.

    Raises:
        CertificateError: the certificate or key cannot be served.
        InputError: a port cannot be bound.
        EngineError: the policies do not evaluate; a server that cannot decide does not start.
    """
    evaluator.decide(Request(value=_PROBE))
    metrics = Metrics(engine=evaluator.engine.name, revision=revision)
    reloader = Reloader(settings.certificate, settings.key)
    webhook = _server(webhook_app(evaluator, metrics), reloader=reloader)

    def missing() -> str:
        if not webhook.started or webhook.should_exit:
            return "the webhook port is not open"
        # A new pair that is bad leaves the old one in service; only an expired one makes us useless.
        expired = reloader.leaf.not_valid_after_utc <= datetime.now(UTC)
        return f"the certificate has expired: {reloader.problem}" if expired else ""

    admin = _server(admin_app(metrics, ready=missing))
    servers = (webhook, admin)
    _stop_on_signals(servers)
    with _bound(settings.webhook) as webhook_socket, _bound(settings.admin) as admin_socket:
        watch = asyncio.create_task(reloader.watch(report=_log_certificate))
        announce = asyncio.create_task(_announce(servers, started))
        try:
            await asyncio.gather(webhook.serve(sockets=[webhook_socket]), admin.serve(sockets=[admin_socket]))
        finally:
            watch.cancel()
            announce.cancel()
            evaluator.engine.close()


# Evaluated once before the ports open: compiles, instantiates and proves the whole path.
_PROBE: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "probe", "namespace": "default"},
    "spec": {"containers": [{"name": "probe", "image": "probe"}]},
}


def _server(app: FastAPI, *, reloader: Reloader | None = None) -> _Server:
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        ssl_context_factory=None if reloader is None else lambda _config, _default: reloader.context,
    )
    return _Server(config)


@contextlib.contextmanager
def _bound(address: Address) -> Iterator[socket.socket]:
    """A listening socket; uvicorn's own binding would end the process without an error that names the port."""
    try:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        bound = socket.create_server((address.host, address.port), family=family, backlog=2048)
    except OSError as error:
        raise errors.InputError(
            f"port {address.port} on {address.host} cannot be opened: {error.strerror}; choose another"
        ) from None
    with bound:
        yield bound


def _stop_on_signals(servers: tuple[_Server, ...]) -> None:
    def stop(number: signal.Signals) -> None:
        structlog.get_logger().info("stopping", signal=number.name)
        for server in servers:
            # A second signal means: at once.
            server.force_exit = server.should_exit
            server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)


def _log_certificate(checked: Checked) -> None:
    if checked.problem is not None:
        structlog.get_logger().error("certificate_problem", reason=str(checked.problem))
    elif checked.reloaded:
        structlog.get_logger().info("certificate_reloaded")


async def _announce(servers: tuple[_Server, ...], started: asyncio.Event) -> None:
    # uvicorn tells of its start in no other way.
    while not all(server.started for server in servers):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    started.set()
