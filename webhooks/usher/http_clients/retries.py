"""Waits between retries."""

import email.utils
import random
import time
from collections.abc import Callable
from typing import Final

ATTEMPTS: Final = 6
"""How often a request is sent to a server that stays busy."""

_LONGEST_WAIT: Final = 30.0
"""The longest wait in seconds that a server may ask for; some ask for hours."""


def wait_for_busy_server(retry_after: str | None, *, attempt: int, now: Callable[[], float] = time.time) -> float:
    """Seconds until a request may be sent again: as the server asks, within a limit.

    Args:
        retry_after: the header Retry-After, in seconds or as a date (RFC 9110, 10.2.3). Without a usable header the
        wait
            doubles each time, from half a second on.
        attempt: the number of the refused request, from 1 on.
        now: the time, in seconds since 1970.
    """
    asked = _seconds(retry_after.strip(), now) if retry_after else None
    return min(0.5 * 2 ** (attempt - 1) if asked is None else max(asked, 0.0), _LONGEST_WAIT)


def _seconds(text: str, now: Callable[[], float]) -> float | None:
    if text.isdecimal():
        return float(text)
    try:
        return email.utils.parsedate_to_datetime(text).timestamp() - now()
    except (ValueError, OverflowError):
        return None


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
