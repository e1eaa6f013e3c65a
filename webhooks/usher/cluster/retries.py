"""How long to wait after one failure after another."""

import random
from collections.abc import Callable


class Backoff:
    """Twice as long each time, up to a ceiling, and each time a little different.

    After an outage all clients come back; with one rhythm they would take the API server down again.
    """

    def __init__(self, *, first: float, ceiling: float, chance: Callable[[], float] = random.random) -> None:
        """Takes the first wait and the longest one in seconds, and a source of numbers from 0 up to 1."""
        self._first = first
        self._ceiling = ceiling
        self._chance = chance
        self._failures = 0

    def next(self) -> float:
        """Seconds to wait after one more failure: from half of what is due to all of it."""
        # Without a bound the number would grow for as long as there is no API server.
        due = min(self._first * float(1 << min(self._failures, 32)), self._ceiling)
        self._failures += 1
        return due * (1 + self._chance()) / 2

    def reset(self) -> None:
        self._failures = 0
