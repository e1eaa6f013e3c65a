"""A clock that counts epochs: what bounds the time of an evaluation in the embedded engine."""

import math
import threading
import time
import weakref
from collections.abc import Callable
from typing import Final

TICK: Final = 0.01
"""Seconds between two epochs: the precision of deadlines, and a hundred short wake-ups a second."""


class Clock:
    """Calls `advance` once for every tick of real time, until it is stopped or its owner is forgotten."""

    def __init__(self, advance: Callable[[], None], *, deadline: float, owner: object) -> None:
        self.deadline = deadline
        self.stopped = threading.Event()
        """When set, the clock jumps past every deadline that runs, and ends."""
        self._advance = advance
        self._owner = weakref.ref(owner)
        self._started = time.monotonic()
        self._epoch = 0
        threading.Thread(target=self._run, name="usher-wasm-clock", daemon=True).start()

    def ticks(self) -> int:
        """Ticks until the deadline of a call that begins now; right also while the clock is behind."""
        return math.ceil((time.monotonic() - self._started + self.deadline) / TICK) + 1 - self._epoch

    def _run(self) -> None:
        while not self.stopped.wait(TICK) and self._owner() is not None:
            # A busy machine wakes this thread late; unless that is made up for, deadlines stretch.
            self._move(to=int((time.monotonic() - self._started) / TICK))
        self._move(to=self._epoch + self.ticks())

    def _move(self, *, to: int) -> None:
        while self._epoch < to:
            self._advance()
            self._epoch += 1
