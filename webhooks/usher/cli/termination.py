"""SIGTERM and SIGHUP end a command as Ctrl-C does: half-written files are removed first."""

import contextlib
import signal
from types import FrameType
from typing import Final

_FIRST: Final = 128
"""The start of the exit codes for processes that a signal ends, as in shells."""


def ended_cleanly() -> None:
    """Lets SIGTERM and SIGHUP raise SystemExit (143 and 129) in the main thread; an ignored signal stays ignored.

    The first process of a container would otherwise ignore SIGTERM, and be killed after the grace period.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Only the main thread may set handlers.
        with contextlib.suppress(ValueError):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> None:
    # A second signal ends a command that hangs while it removes its files.
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(_FIRST + number)
