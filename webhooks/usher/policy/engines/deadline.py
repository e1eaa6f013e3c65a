"""When the review that is being decided must be answered: an engine stops then, however long it may take otherwise."""

from contextvars import ContextVar
from typing import Final

UNTIL: Final[ContextVar[float]] = ContextVar("usher-until", default=float("inf"))
"""Seconds of `time.monotonic`. A thread that works for a review gets the context of that review."""
