"""The evaluator of an editor, made from usher.yaml and the facts on the disk, and again when one of these files
changes.
"""

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from usher.policy.evaluator import Evaluator

Make = Callable[[], Evaluator]
_Stamp = tuple[tuple[int, int] | None, ...]


class Site:
    """Makes the evaluator on first use. For one thread."""

    def __init__(self, make: Make, *, rests_on: Callable[[], Iterable[Path]]) -> None:
        """Keeps how to make the evaluator.

        Args:
            make: makes an evaluator.
            rests_on: lists the files that it reads.
        """
        self._make = make
        self._rests_on = rests_on
        self._stamp: _Stamp = ()
        self._made: Evaluator | None = None

    def evaluator(self) -> Evaluator:
        """The evaluator.

        Raises:
            UsherError: usher.yaml or the facts cannot be used. usher never falls back to other rules, so no manifest
                is judged until they can be used again.
        """
        stamp = tuple(_stamp(path) for path in self._rests_on())
        if self._made is None or stamp != self._stamp:
            self.close()
            made = self._make()
            made.engine.ready()
            self._made, self._stamp = made, stamp
        return self._made

    def close(self) -> None:
        """Ends the engine."""
        if self._made is not None:
            self._made.engine.close()
            self._made = None


def _stamp(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError, ValueError):
        status = path.stat()
        return status.st_mtime_ns, status.st_size
    return None
