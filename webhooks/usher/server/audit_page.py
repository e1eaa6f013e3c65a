"""Serves the last report of an audit over HTTP: read-only, and only to users of this machine unless an option allows
others.

`/` is the page, `/audit.json` its document, `/healthz` for probes. A page of another origin gets nothing: requests must
name a host of this machine, so that an attacker's name for 127.0.0.1 cannot read the report.
"""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final

import structlog
import uvloop
from fastapi import FastAPI, Request, Response
from msgspec import Struct

from usher import errors
from usher.audit.document import Audit
from usher.server import ports
from usher.server.ports import Address

_MOST: Final = 1_000
"""Characters of an error that are shown."""


class Rendered(Struct, frozen=True, kw_only=True):
    """A report as the server sends it."""

    html: bytes
    json: bytes


Render = Callable[[Audit, tuple[str, ...]], Rendered]
"""Makes a report from an audit and the notices above it."""


class State(Struct, frozen=True, kw_only=True):
    """`report` is the last good one; None before it exists."""

    report: Rendered | None = None
    problem: str = ""
    """Why the last audit failed; empty if it did not."""


class Refresher:
    """Makes audits in a thread of its own; `state` may be read at any time."""

    def __init__(
        self, make: Callable[[], Audit], render: Render, *, every: timedelta, now: Callable[[], datetime]
    ) -> None:
        self.state = State()
        self._make, self._render, self._every, self._now = make, render, every, now
        self._audit: Audit | None = None
        self._made: datetime | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        # A daemon thread, so that a long audit does not keep the process from ending.
        threading.Thread(target=self._run, name="audit", daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.refresh()
            self._stopping.wait(self._every.total_seconds())

    def refresh(self) -> None:
        """Makes one audit. An error becomes part of the state, and the old report stays."""
        started = self._now()
        try:
            audit = self._make()
            report = self._render(audit, (self._next(),))
        except errors.UsherError as error:
            self._failed(started, str(error))
        except Exception as error:  # noqa: BLE001 - after any error, the old report stays
            # The text of an unexpected error may hold anything; the log has it.
            structlog.get_logger().exception("audit_failed")
            self._failed(started, f"unexpected {type(error).__name__}; the log has more")
        else:
            self._audit, self._made = audit, self._now()
            self.state = State(report=report)
            structlog.get_logger().info("audit_made", taken=audit.taken)

    def _failed(self, started: datetime, reason: str) -> None:
        structlog.get_logger().error("audit_problem", reason=reason[:_MOST], kept="the last good report")
        problem = f"The audit of {_minute(started)} failed: {reason[:_MOST]}"
        report = self.state.report
        if self._audit is not None and self._made is not None:
            age = self._now() - self._made
            notice = f"{problem}. This report is older: it was made {_hours_and_minutes(age)} before. {self._next()}"
            report = self._render(self._audit, (notice,))
        self.state = State(report=report, problem=problem)

    def _next(self) -> str:
        return f"The next audit begins at about {_minute(self._now() + self._every)}; reload the page to see it."


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _hours_and_minutes(duration: timedelta) -> str:
    minutes = max(0, round(duration / timedelta(minutes=1)))
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


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


def page_app(refresher: Refresher, *, policy: str, local: bool) -> FastAPI:
    """The application that answers.

    Args:
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
    server = ports.http_server(page_app(refresher, policy=policy, local=not remote))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    with ports.listening_socket(place) as listening:
        address = ports.address_of(listening)
        refresher.start()
        structlog.get_logger().info("started", audit=f"http://{address}")
        started(address)
        try:
            await server.serve(sockets=[listening])
        finally:
            refresher.stop()
