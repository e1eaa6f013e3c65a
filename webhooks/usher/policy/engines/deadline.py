"""The time by which the current review must be answered; engines stop then."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

UNTIL: Final[ContextVar[float]] = ContextVar("usher-until", default=float("inf"))
"""A time of `time.monotonic`, in seconds. A thread that works for a review gets the context of that review."""


@contextmanager
def share(part: float) -> Iterator[None]:
    """Lets evaluations inside take at most this part of the time that the review has left."""
    until, now = UNTIL.get(), time.monotonic()
    token = UNTIL.set(now + max(0.0, until - now) * part)
    try:
        yield
    finally:
        UNTIL.reset(token)
