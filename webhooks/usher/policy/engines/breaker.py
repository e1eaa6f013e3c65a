"""A circuit breaker: what keeps failing is left alone for a while, so that nobody waits for it in vain."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from usher import errors


class Breaker:
    """Opens after `failures` attempts in a row have failed; after `pause` seconds it lets one through, as a trial.

    A trial that succeeds closes it, one that fails opens it for another pause. May be shared between threads.
    """

    def __init__(
        self, subject: str, *, failures: int = 5, pause: float = 5.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._subject = subject
        self._limit = failures
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._retry_at = 0.0

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """An attempt at what may fail; it has failed if its body raises anything.

        Raises:
            EngineError: the breaker is open; nothing was attempted.
        """
        with self._lock:
            now = self._clock()
            if self._failures >= self._limit:
                if now < self._retry_at:
                    raise errors.EngineError(
                        f"{self._subject} has failed {self._failures} times in a row and is left alone for "
                        f"{self._retry_at - now:.1f} s"
                    )
                # This one is the trial; whoever comes while it runs is turned away.
                self._retry_at = now + self._pause
        try:
            yield
        except BaseException:
            with self._lock:
                self._failures += 1
                self._retry_at = self._clock() + self._pause
            raise
        with self._lock:
            self._failures = 0
