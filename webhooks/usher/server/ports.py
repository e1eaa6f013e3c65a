"""The two ports: sockets that listen, and HTTP servers with the bounds that uvicorn lacks."""

import asyncio
import contextlib
import errno
import resource
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog
import uvicorn
from msgspec import Struct
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from usher import errors
from usher.server.bodies import ARRIVED

ARRIVAL_SECONDS: Final = 10.0
"""Seconds from the first byte of a request to its last. API servers do not wait longer for an answer."""

MAX_HEAD: Final = 64 * 1024
"""Bytes of request line and headers that the server keeps until the rest arrives. API servers send less than 1 KiB."""

MAX_REQUEST: Final = 16 * 2**20
"""Bytes of a whole request with head, framing and trailers. The limit of a review body is half of it."""

_LONGEST_NAME: Final = 64
"""Characters of a client's name in the log."""

LINGER: Final = 1.0
"""Seconds that a client has to close its TLS connection when the server ends."""

_QUIET: Final = 10.0
"""Seconds between two lines about refused clients."""


class BoundedProtocol(HttpToolsProtocol):
    """Ends connections that would hold memory or a connection slot without limit.

    A connection without a request stays open for the keep-alive time, also before its first request, because clients in
    Go open connections ahead of need.
    """

    arrival = ARRIVAL_SECONDS
    clients: frozenset[str] = frozenset()
    """Allowed common names in client certificates; empty if any client may call."""

    _arriving = False
    """Whether a request has arrived in part."""
    _head_arriving = False
    _received = 0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        if self.clients and (name := _common_name(transport)) not in self.clients:
            _log_refusal(name)
            transport.abort()
            return
        self._await_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._arriving:
            self._await_request()
            return
        self._received += len(data)
        if self._received > (MAX_HEAD if self._head_arriving else MAX_REQUEST):
            self.transport.abort()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.arrival, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # uvicorn forgets this event when the peer resets the connection, and so keeps the whole connection in memory.
        self._unset_keepalive_if_required()
        self._end_deadline()

    def shutdown(self) -> None:
        super().shutdown()
        if self.transport.is_closing():
            self.loop.call_later(LINGER, self.transport.abort)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[ARRIVED] = time.monotonic()  # type: ignore[typeddict-unknown-key] # a key of our own
        self._end_deadline()
        self._arriving = self._head_arriving = True
        self._received = 0

    def on_headers_complete(self) -> None:
        self._head_arriving = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._end_deadline()
        self._arriving = False
        super().on_message_complete()

    def _await_request(self) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete  # type: ignore[redundant-expr] # at first it is None
        if not answering and self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def protocol_for(clients: frozenset[str]) -> type[asyncio.Protocol]:
    """The protocol for clients whose certificates have one of these common names; any client if there is no name."""
    return type("BoundedProtocol", (BoundedProtocol,), {"clients": clients})


def _common_name(transport: asyncio.Transport) -> str:
    """The common name in the client's certificate, which the handshake has verified; empty without one."""
    connection = transport.get_extra_info("ssl_object")
    subject = (connection.getpeercert() or {}).get("subject", ()) if connection is not None else ()
    names = [value for part in subject for key, value in part if key == "commonName"]
    return names[0] if len(names) == 1 else ""


class _Refusals:
    logged = -_QUIET


def _log_refusal(name: str) -> None:
    now = time.monotonic()
    if now - _Refusals.logged >= _QUIET:
        _Refusals.logged = now
        structlog.get_logger().warning(
            "client_refused", client=name[:_LONGEST_NAME], reason="--client-name does not allow this common name"
        )


_SPARE_DESCRIPTORS: Final = 16
"""Free file descriptors below which clients are refused soon."""

_BETWEEN_DESCRIPTORS: Final = 60.0
"""Seconds between two lines about exhausted descriptors."""

_DESCRIPTORS: Final = Path("/proc/self/fd")


def open_descriptors() -> tuple[int, int]:
    """The number of open file descriptors of this process, and the most that it may open; -1 for unlimited."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        return sum(1 for _ in _DESCRIPTORS.iterdir()), limit
    except OSError as error:
        # Reading the folder takes a descriptor too.
        return (limit if error.errno in (errno.EMFILE, errno.ENFILE) else 0), limit


async def watch_descriptors(look: float = 1.0) -> None:
    """Logs exhausted file descriptors. The event loop then closes new connections without a message."""
    logged = -_BETWEEN_DESCRIPTORS
    while True:
        await asyncio.sleep(look)
        number, limit = open_descriptors()
        now = time.monotonic()
        if 0 <= limit <= number + _SPARE_DESCRIPTORS and now - logged >= _BETWEEN_DESCRIPTORS:
            logged = now
            structlog.get_logger().error(
                "descriptors_exhausted",
                open=number,
                limit=limit,
                reason="new connections are closed, and failurePolicy decides; raise the limit of open files (nofile)",
            )


KEEP_ALIVE: Final = 120
"""Seconds. The API server keeps idle connections for 90; it must close first (docs/domain/webhooks.md#connections)."""

GRACE: Final = 20
"""Seconds that open requests get to end after that."""


class Address(Struct, frozen=True, kw_only=True):
    host: str
    port: int
    """0 means any free port."""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Server(uvicorn.Server):
    """Leaves signals to us: two servers share this process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def http_server(
    app: ASGIApp, *, context: ssl.SSLContext | None = None, clients: frozenset[str] = frozenset()
) -> Server:
    """An HTTP server; over TLS with a context.

    Args:
        context: for the listener; it may change the certificate at any time.
        clients: allowed common names in client certificates; empty if any client may call.
    """
    config = uvicorn.Config(
        app,
        loop="none",  # the caller chooses the event loop
        http=protocol_for(clients),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        ssl_context_factory=None if context is None else lambda _config, _default: context,
    )
    return Server(config)


@contextlib.contextmanager
def listening_socket(place: Address) -> Iterator[socket.socket]:
    """A listening socket. uvicorn's own binding would end the process without naming the port."""
    try:
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        listening = socket.create_server((place.host, place.port), family=family, backlog=2048)
    except OSError as error:
        # Python adds the address to the system's words.
        reason = str(error.strerror).partition(" (")[0]
        raise errors.InputError(
            f"port {place.port} on {place.host} cannot be opened: {reason}; choose another"
        ) from None
    with listening:
        yield listening


def address_of(listening: socket.socket) -> Address:
    host, port = listening.getsockname()[:2]
    return Address(host=host, port=port)
