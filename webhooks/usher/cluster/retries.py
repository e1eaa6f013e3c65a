"""Waits between retries."""

import random
from collections.abc import Callable


class Backoff:
    """Waits that double with each failure, up to a ceiling, and vary at random.

    Without that variation, all clients would come back at the same time after an outage and overload the API server.
    """

    def __init__(self, *, first: float, ceiling: float, chance: Callable[[], float] = random.random) -> None:
        """Takes the first and the longest wait in seconds, and a source of numbers from 0 to 1."""
        self._first = first
        self._ceiling = ceiling
        self._chance = chance
        self._failures = 0

    def next(self) -> float:
        """Seconds to wait after one more failure: between half of the doubled wait and all of it."""
        # Without a bound the number would grow for as long as there is no API server.
        due = min(self._first * float(1 << min(self._failures, 32)), self._ceiling)
        self._failures += 1
        return due * (1 + self._chance()) / 2

    def reset(self) -> None:
        self._failures = 0
