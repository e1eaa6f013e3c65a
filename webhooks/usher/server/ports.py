"""The two ports: sockets that listen, and HTTP servers with the bounds that uvicorn lacks.

The body of a request is bounded in size, in time, and together with all other bodies in flight.
"""

import asyncio
import contextlib
import errno
import re
import resource
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, cast

import structlog
import uvicorn
from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from usher import errors

ARRIVED: Final = "usher.arrived"
"""Where the protocol notes in a scope when the first byte of the request was read, by `time.monotonic`."""

HEADERS: Final = "usher.headers"
"""Where the protocol notes the headers that every response has, the date among them."""

LONGEST_SECONDS: Final = 3.0
"""Seconds of the longest webhook timeout that `usher manifests` writes. An API server sends its own as `?timeout=`."""

MARGIN_SECONDS: Final = 0.3
"""Seconds for the way to the API server and back."""

QUEUE_SECONDS: Final = 0.4
"""Seconds that a review may wait for others. It may have waited as long in its socket before, which the server cannot
see.
"""

SHORTENED: Final = 0.1
"""Seconds of waiting after which a timeout counts as too many reviews, and not as our fault."""

_TIMEOUT: Final = re.compile(rb"(?:^|&)timeout=(\d{1,6}(?:\.\d{1,9})?)(ms|s|m)(?:&|$)")
_SECONDS: Final = {b"ms": 0.001, b"s": 1.0, b"m": 60.0}


class ReviewTime:
    """The time of one review, in seconds of `time.monotonic`."""

    __slots__ = ("arrived", "began", "deciding", "read", "until", "waits")

    def __init__(self, scope: Scope) -> None:
        self.began: float = time.monotonic()
        self.read = self.deciding = self.began
        """When the server began to read the request, had read it, and began to decide."""
        self.arrived: float = scope.get(ARRIVED, self.began)
        self.until: float = self.arrived + allowed_seconds(scope.get("query_string", b""))
        """The time at which the server must send the answer."""
        self.waits: list[tuple[str, float, float]] = []
        """Name, begin and end of each wait of the decision."""

    @property
    def waited_too_long(self) -> bool:
        """Whether the review could not begin in time, so that its answer would probably be late."""
        waited: float = self.began - self.arrived
        return waited > min(QUEUE_SECONDS, (self.until - self.arrived) / 2)

    @property
    def was_shortened(self) -> bool:
        """Whether the review waited so long for others that a missed deadline is not its own fault."""
        waited: float = self.began - self.arrived + self.deciding - self.read
        return waited > SHORTENED

    def phases(self, now: float) -> dict[str, float]:
        """Seconds by phase: waiting for other reviews, reading the body, deciding and answering."""
        queued = self.began - self.arrived + self.deciding - self.read
        return {"queued": queued, "read": self.read - self.began, "decided": now - self.deciding}

    def steps(self, now: float) -> Iterator[tuple[str, float, float]]:
        """The phases with their begin and end, and what the decision waited for. A review may wait for others twice."""
        for name, begin, end in (
            ("queued", self.arrived, self.began),
            ("read", self.began, self.read),
            ("queued", self.read, self.deciding),
            ("decided", self.deciding, now),
        ):
            if end > begin:
                yield name, begin, end
        yield from self.waits

    @contextlib.contextmanager
    def waiting(self, name: str) -> Iterator[None]:
        """Notes how long the decision waits for something."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.waits.append((name, begin, time.monotonic()))


def allowed_seconds(query: bytes) -> float:
    """Seconds that a review may take, by the API server's timeout and our own limit."""
    found = _TIMEOUT.search(query) if query else None
    asked = float(found[1]) * _SECONDS[found[2]] if found else LONGEST_SECONDS
    return max(0.0, min(asked, LONGEST_SECONDS) - MARGIN_SECONDS)


MOST_BYTES: Final = 24 * 2**20
"""Bytes of all bodies in flight. Deciding takes about ten times the size of a body. Only one large body is decided
about at a time, so that the server stays below its memory limit of 512 MiB.
"""

RESERVED_BYTES: Final = 4 * 2**20
"""Bytes reserved for small bodies."""

SMALL_BODY: Final = 256 * 1024
"""Bytes of the largest body that may use the reserve; a review of a Pod has about 16 KiB."""


class BytesInFlight:
    """Counts the bytes of bodies that have arrived and are not answered yet."""

    def __init__(self, *, most: int = MOST_BYTES, reserve: int = RESERVED_BYTES) -> None:
        self.held = 0
        self._most = most
        self._reserve = reserve

    def has_room(self, number: int, *, total: int) -> bool:
        """Whether there is room for that many more bytes of a body with `total` bytes, as far as known."""
        return self.held + number <= (self._most if total <= SMALL_BODY else self._most - self._reserve)


MAX_BODY: Final = 8 * 2**20
"""Bytes. Two objects of at most 3 MiB and their envelope fit; anything larger is not from an API server."""

_TOO_LARGE: Final = f"the body is larger than {MAX_BODY} bytes\n"
_FULL: Final = "the reviews in flight have too many bytes together; try again\n"


class RefusedError(Exception):
    """A request that is refused without a review; it has the HTTP status."""

    def __init__(self, status: int, reason: str, *, close: bool = True) -> None:
        """Takes the answer.

        Args:
            close: whether the connection must end, because a part of the body may still be on its way.
        """
        super().__init__(reason)
        self.status = status
        self.close = close


class BusyError(RefusedError):
    """The review cannot be answered in time. The connection stays, because a new handshake would cost more than a
    review.
    """

    def __init__(self) -> None:
        super().__init__(503, "usher has more reviews than it can answer in time; try again\n", close=False)


class Body:
    """The body of one request, counted among the bytes in flight until `give_back`."""

    __slots__ = ("_budget", "_received", "_time")

    def __init__(self, budget: BytesInFlight, when: ReviewTime) -> None:
        self._budget = budget
        self._received = 0
        self._time = when

    def give_back(self) -> None:
        """Removes its bytes from the count."""
        self._budget.held -= self._received
        self._received = 0

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, never more than MAX_BODY of it.

        Raises:
            RefusedError: the request is not a POST of plain JSON, is too large, too slow or cut short, or there is no
                room or no time for it.
        """
        declared = _declared(scope)
        if self._time.waited_too_long:
            raise BusyError
        # Only bytes that have arrived count: a client that sends nothing takes no room.
        self._check_room(declared, total=declared)
        # A small body mostly arrives with its head, and a timer costs; the protocol ends a slow one after 10 seconds.
        message = await receive() if declared <= SMALL_BODY else await self._in_time(receive)
        if not message.get("more_body", False):
            part = self._read_part(message, declared)
            if time.monotonic() >= self._time.until:
                raise BusyError
            return part
        parts = [self._read_part(message, declared)]
        while message.get("more_body", False):
            message = await self._in_time(receive)
            parts.append(self._read_part(message, declared))
        return b"".join(parts)

    async def _in_time(self, receive: Receive) -> Message:
        left = self._time.until - time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, left)):
                return await receive()
        except TimeoutError:
            raise RefusedError(408, "the body did not arrive in time\n") from None

    def _read_part(self, message: Message, declared: int) -> bytes:
        if message["type"] != "http.request":
            raise RefusedError(400, "the body was cut short\n")
        part: bytes = message.get("body", b"")
        if self._received + len(part) > MAX_BODY:
            raise RefusedError(413, _TOO_LARGE)
        self._check_room(len(part), total=max(declared, self._received + len(part)))
        self._received += len(part)
        self._budget.held += len(part)
        return part

    def _check_room(self, number: int, *, total: int) -> None:
        if not self._budget.has_room(number, total=total):
            raise RefusedError(503, _FULL)


def _declared(scope: Scope) -> int:
    """The declared length of the body; 0 if it is not declared."""
    if scope["method"] != "POST":
        raise RefusedError(405, "only POST is answered here\n")
    content_type, length = b"", 0
    for name, value in scope["headers"]:
        if name == b"content-type":
            content_type = value.partition(b";")[0].strip().lower()
        elif name == b"content-encoding" and value.lower() != b"identity":
            raise RefusedError(415, "compressed bodies are not taken\n")
        elif name == b"content-length":
            length = _length(value)
    if content_type != b"application/json":
        raise RefusedError(415, "Content-Type must be application/json\n")
    return length


def is_plain(scope: Scope, body: bytes) -> bool:
    """Whether a request with its whole body is a POST of JSON that declares its length, without other wishes."""
    try:
        return _declared(scope) == len(body) > 0
    except RefusedError:
        return False


def _length(declared: bytes) -> int:
    if not declared.isdigit():
        raise RefusedError(400, "Content-Length is not a number\n")
    # int() refuses more than 4300 digits.
    if len(declared) > 20 or int(declared) > MAX_BODY:
        raise RefusedError(413, _TOO_LARGE)
    return int(declared)


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


AtOnce = Callable[[Scope, bytes, Callable[[bytes], None]], bool]
"""Writes the answer to a request with its whole body, and returns whether it did; if not, the application answers."""


class BoundedProtocol(HttpToolsProtocol):
    """Ends connections that would hold memory or a connection slot without limit.

    A connection without a request stays open for the keep-alive time, also before its first request, because clients in
    Go open connections ahead of need.

    A request that arrives with its whole body in one piece is offered to `at_once` first, without a task of its own.
    """

    arrival = ARRIVAL_SECONDS
    clients: frozenset[str] = frozenset()
    """Allowed common names in client certificates; empty if any client may call."""
    at_once: AtOnce | None = None

    _offers = False
    """Whether the next request may be offered to `at_once`: one of each piece, so that others wait no longer."""
    _offered: list[bytes] | None = None
    """The parts of the body of a request that will be offered; None without one."""
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
        self._offers = self.at_once is not None
        super().data_received(data)
        if self._offered is not None:
            self._pass_on()
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
        if self._offers and self._may_offer():
            self._offers = False
            self._offered = []
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._offered is None:
            super().on_body(body)
        else:
            self._offered.append(body)

    def on_message_complete(self) -> None:
        self._end_deadline()
        self._arriving = False
        if self._offered is not None:
            if self._answered_at_once(b"".join(self._offered)):
                return
            self._pass_on()
        super().on_message_complete()

    def _may_offer(self) -> bool:
        """Whether this request is like those of API servers, and no other is being answered on its connection."""
        parser = self.parser
        return (
            (self.cycle is None or self.cycle.response_complete)  # type: ignore[redundant-expr] # at first it is None
            and not self.flow.write_paused
            and not self.expect_100_continue
            and parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not parser.should_upgrade()
            and self.url.startswith(b"/")
        )

    def _answered_at_once(self, body: bytes) -> bool:
        path, _, query = self.url.partition(b"?")
        scope = cast(Scope, self.scope)
        scope["method"], scope["path"], scope["query_string"] = "POST", path.decode("latin-1"), query
        scope[HEADERS] = self.server_state.default_headers
        try:
            if self.at_once is None or not self.at_once(scope, body, self.transport.write):
                return False
        except Exception:
            # The parser would make an answer of 400 of it, perhaps behind an answer that was written.
            self.logger.exception("Exception in a request that was answered at once")
            self.transport.close()
        self._offered = None
        self.server_state.total_requests += 1
        return True

    def _pass_on(self) -> None:
        """Gives a request that was kept for `at_once` to the application."""
        parts, self._offered = self._offered or (), None
        if self.transport.is_closing():
            return
        super().on_headers_complete()
        for part in parts:
            super().on_body(part)

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


def protocol_for(clients: frozenset[str], at_once: AtOnce | None = None) -> type[asyncio.Protocol]:
    """The protocol for clients whose certificates have one of these common names; any client if there is no name."""
    own = {"clients": clients, "at_once": None if at_once is None else staticmethod(at_once)}
    return type("BoundedProtocol", (BoundedProtocol,), own)


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
    app: ASGIApp,
    *,
    context: ssl.SSLContext | None = None,
    clients: frozenset[str] = frozenset(),
    at_once: AtOnce | None = None,
) -> Server:
    """An HTTP server; over TLS with a context.

    Args:
        app: answers what `at_once` does not answer.
        context: for the listener; it may change the certificate at any time.
        clients: allowed common names in client certificates; empty if any client may call.
        at_once: may answer a request whose body arrived with its head.
    """
    config = uvicorn.Config(
        app,
        loop="none",  # the caller chooses the event loop
        http=protocol_for(clients, at_once),
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
