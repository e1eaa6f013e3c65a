"""The progress of a long run: one line on a terminal, overwritten and erased at the end. Logs never get it."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final, TextIO

Watch = Callable[[str, int, int], None]
"""Takes the noun, the number done, and the total; the total is 0 if it is unknown."""

_AFTER: Final = 1.0
"""Seconds until a run counts as long."""
_EVERY: Final = 0.1
"""Seconds between two lines."""
_ERASE: Final = "\r\x1b[K"


class Line:
    """Writes the numbers over each other, on one line."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._next = clock() + _AFTER
        self._written = False

    def __call__(self, things: str, done: int, total: int) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._next, self._written = now + _EVERY, True
        of_all = f" of {total:,}" if total else ""
        self._stream.write(f"{_ERASE}usher: {done:,}{of_all} {things}")
        self._stream.flush()

    def erase(self) -> None:
        if self._written:
            self._stream.write(_ERASE)
            self._stream.flush()


@contextlib.contextmanager
def shown(*, quiet: bool) -> Iterator[Watch]:
    """Shows the numbers on standard error if that is a terminal, and not that of a CI system."""
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
    if quiet or not terminal:
        yield lambda _things, _done, _total: None
        return
    line = Line(sys.stderr)
    try:
        yield line
    finally:
        line.erase()
