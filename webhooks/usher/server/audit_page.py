"""Serves the last report of an audit over HTTP: read-only, and only to users of this machine unless an option allows
others.

`/` is the page, `/audit.json` its document, `/healthz` for probes. A page of another origin gets nothing: requests must
name a host of this machine, so that an attacker's name for 127.0.0.1 cannot read the report.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Final

import structlog
import uvloop
from fastapi import FastAPI, Request, Response

from usher import errors
from usher.server import ports
from usher.server.audit_refresh import Refresher
from usher.server.ports import Address

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_NOTHING: Final = "'none'"
_NOT_FRAMED: Final = f"frame-ancestors {_NOTHING}"
_WAITING: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="5">'
    "<title>gpu-usher audit</title><p>The first audit is running. This page loads again by itself."
)


def app(refresher: Refresher, *, policy: str, local: bool) -> FastAPI:
    """The application that answers.

    Args:
        refresher: holds the last report.
        policy: the Content-Security-Policy of the page.
        local: whether only requests that name this machine are answered.
    """
    made = FastAPI(title="gpu-usher audit", docs_url=None, redoc_url=None, openapi_url=None)

    @made.middleware("http")
    async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        if local and not is_local(request.url.hostname or ""):
            answer = Response("usher answers only requests to localhost\n", status_code=421, media_type="text/plain")
        else:
            answer = await call_next(request)
        answer.headers.update(_HEADERS)
        answer.headers.setdefault("Content-Security-Policy", f"default-src {_NOTHING}; {_NOT_FRAMED}")
        return answer

    @made.api_route("/", methods=["GET", "HEAD"])
    async def page() -> Response:
        state = refresher.state
        if state.report is not None:
            headers = {"Content-Security-Policy": f"{policy}; {_NOT_FRAMED}"}
            return Response(state.report.html, media_type="text/html; charset=utf-8", headers=headers)
        return _missing(state.problem, Response(_WAITING, media_type="text/html; charset=utf-8"))

    @made.api_route("/audit.json", methods=["GET", "HEAD"])
    async def document() -> Response:
        state = refresher.state
        if state.report is not None:
            return Response(state.report.json, media_type="application/json")
        return _missing(state.problem, Response("the first audit is running\n", media_type="text/plain"))

    @made.api_route("/healthz", methods=["GET", "HEAD"])
    async def healthz() -> Response:
        return Response("ok\n", media_type="text/plain")

    return made


def _missing(problem: str, waiting: Response) -> Response:
    answer = Response(f"{problem}\n", media_type="text/plain") if problem else waiting
    answer.status_code = 503
    answer.headers["Retry-After"] = "5"
    return answer


def is_local(host: str) -> bool:
    """Whether a host is this machine, by name or address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    refresher: Refresher, place: Address, *, policy: str, remote: bool, started: Callable[[Address], None]
) -> None:
    """Answers until SIGINT or SIGTERM.

    Args:
        refresher: makes the reports; it runs as long as the server does.
        place: where to listen.
        policy: the Content-Security-Policy of the page.
        remote: whether other machines may send requests.
        started: called with the address once the port answers.

    Raises:
        InputError: other machines can reach the address and `remote` is not set, or the address cannot be bound.
    """
    if not remote and not is_local(place.host):
        raise errors.InputError(
            f"{place.host} lets other machines read the report, which names workloads and their owners; "
            "listen on 127.0.0.1, or add --serve-remote and put a proxy that asks for a login before it"
        )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(refresher, place, policy=policy, remote=remote, started=started))


async def _serve(
    refresher: Refresher, place: Address, *, policy: str, remote: bool, started: Callable[[Address], None]
) -> None:
    server = ports.server(app(refresher, policy=policy, local=not remote))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    with ports.bound(place) as listening:
        address = ports.address(listening)
        refresher.start()
        structlog.get_logger().info("started", audit=f"http://{address}")
        started(address)
        try:
            await server.serve(sockets=[listening])
        finally:
            refresher.stop()
