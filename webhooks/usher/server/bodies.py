"""Reads the body of a request: bounded in size, in time, and together with all other bodies in flight."""

import asyncio
import time
from typing import Final

from starlette.types import Message, Receive, Scope

from usher.server.budgets import SMALL, Bytes, Time

MAX_BODY: Final = 8 * 2**20
"""Bytes. Two objects of at most 3 MiB and their envelope fit; anything larger is not from an API server."""

_TOO_LARGE: Final = f"the body is larger than {MAX_BODY} bytes\n"
_FULL: Final = "the reviews in flight have too many bytes together; try again\n"


class RefusedError(Exception):
    """A request that is refused without a review; it has the HTTP status."""

    def __init__(self, status: int, reason: str, *, close: bool = True) -> None:
        """Takes the answer.

        Args:
            status: the HTTP status.
            reason: the text of the answer.
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

    def __init__(self, budget: Bytes, when: Time) -> None:
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
        message = await receive() if declared <= SMALL else await self._in_time(receive)
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
