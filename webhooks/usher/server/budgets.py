"""The budgets of reviews: the time of each from its arrival to its answer, and the bytes of all in flight."""

import re
import time
from typing import Final

from starlette.types import Scope

ARRIVED: Final = "usher.arrived"
"""Where the protocol notes in a scope when the first byte of the request was read, by `time.monotonic`."""

LONGEST: Final = 3.0
"""Seconds of the longest webhook timeout that `usher manifests` writes. An API server sends its own as `?timeout=`."""

MARGIN: Final = 0.3
"""Seconds for the way to the API server and back."""

QUEUE: Final = 0.4
"""Seconds that a review may wait for others. It may have waited as long in its socket before, which the server cannot
see.
"""

SHORTENED: Final = 0.1
"""Seconds of waiting after which a timeout counts as too many reviews, and not as our fault."""

_TIMEOUT: Final = re.compile(rb"(?:^|&)timeout=(\d{1,6}(?:\.\d{1,9})?)(ms|s|m)(?:&|$)")
_SECONDS: Final = {b"ms": 0.001, b"s": 1.0, b"m": 60.0}


class Time:
    """The time of one review, in seconds of `time.monotonic`."""

    __slots__ = ("arrived", "began", "deciding", "read", "until")

    def __init__(self, scope: Scope) -> None:
        self.began: float = time.monotonic()
        self.read = self.deciding = self.began
        """When the server began to read the request, had read it, and began to decide."""
        self.arrived: float = scope.get(ARRIVED, self.began)
        self.until: float = self.arrived + allowed(scope.get("query_string", b""))
        """The time at which the server must send the answer."""

    @property
    def waited_too_long(self) -> bool:
        """Whether the review could not begin in time, so that its answer would probably be late."""
        waited: float = self.began - self.arrived
        return waited > min(QUEUE, (self.until - self.arrived) / 2)

    @property
    def was_shortened(self) -> bool:
        """Whether the review waited so long for others that a missed deadline is not its own fault."""
        waited: float = self.began - self.arrived + self.deciding - self.read
        return waited > SHORTENED

    def phases(self, now: float) -> dict[str, float]:
        """Seconds by phase: waiting for other reviews, reading the body, deciding and answering."""
        queued = self.began - self.arrived + self.deciding - self.read
        return {"queued": queued, "read": self.read - self.began, "decided": now - self.deciding}


def allowed(query: bytes) -> float:
    """Seconds that a review may take, by the API server's timeout and our own limit."""
    found = _TIMEOUT.search(query) if query else None
    asked = float(found[1]) * _SECONDS[found[2]] if found else LONGEST
    return max(0.0, min(asked, LONGEST) - MARGIN)


MOST: Final = 24 * 2**20
"""Bytes of all bodies in flight. Deciding takes about ten times the size of a body. Only one large body is decided
about at a time, so that the server stays below its memory limit of 512 MiB.
"""

RESERVE: Final = 4 * 2**20
"""Bytes reserved for small bodies."""

SMALL: Final = 256 * 1024
"""Bytes of the largest body that may use the reserve; a review of a Pod has about 16 KiB."""


class Bytes:
    """Counts the bytes of bodies that have arrived and are not answered yet."""

    def __init__(self, *, most: int = MOST, reserve: int = RESERVE) -> None:
        self.held = 0
        self._most = most
        self._reserve = reserve

    def has_room(self, number: int, *, total: int) -> bool:
        """Whether there is room for that many more bytes of a body with `total` bytes, as far as known."""
        return self.held + number <= (self._most if total <= SMALL else self._most - self._reserve)
