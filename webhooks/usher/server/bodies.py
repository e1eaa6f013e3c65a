"""Reads the body of a request: bounded in size, in time, and together with all other bodies in flight."""

import asyncio
import contextlib
import re
import time
from collections.abc import Iterator
from typing import Final

from starlette.types import Message, Receive, Scope

ARRIVED: Final = "usher.arrived"
"""Where the protocol notes in a scope when the first byte of the request was read, by `time.monotonic`."""

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

    __slots__ = ("_budget", "_taken", "_time")

    def __init__(self, budget: BytesInFlight, when: ReviewTime) -> None:
        self._budget = budget
        self._taken = 0
        self._time = when

    def give_back(self) -> None:
        """Removes its bytes from the count."""
        self._budget.held -= self._taken
        self._taken = 0

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
            part = self._counted(message, declared)
            if time.monotonic() >= self._time.until:
                raise BusyError
            return part
        parts = [self._counted(message, declared)]
        while message.get("more_body", False):
            message = await self._in_time(receive)
            parts.append(self._counted(message, declared))
        return b"".join(parts)

    async def _in_time(self, receive: Receive) -> Message:
        left = self._time.until - time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, left)):
                return await receive()
        except TimeoutError:
            raise RefusedError(408, "the body did not arrive in time\n") from None

    def _counted(self, message: Message, declared: int) -> bytes:
        if message["type"] != "http.request":
            raise RefusedError(400, "the body was cut short\n")
        part: bytes = message.get("body", b"")
        if self._taken + len(part) > MAX_BODY:
            raise RefusedError(413, _TOO_LARGE)
        self._check_room(len(part), total=max(declared, self._taken + len(part)))
        self._taken += len(part)
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


def _length(declared: bytes) -> int:
    if not declared.isdigit():
        raise RefusedError(400, "Content-Length is not a number\n")
    # int() refuses more than 4300 digits.
    if len(declared) > 20 or int(declared) > MAX_BODY:
        raise RefusedError(413, _TOO_LARGE)
    return int(declared)
