"""Opens standard streams that the shell has closed (`>&-`), before a command needs them."""

import contextlib
import io
import os
import sys
from typing import Final, TextIO

_READS_NOTHING: Final = os.O_RDONLY
_REFUSES_WRITES: Final = os.O_RDONLY
_DROPS_WRITES: Final = os.O_WRONLY


def open_again() -> None:
    """Opens the standard streams that were closed when this process started.

    Then standard input is empty, and messages to standard error are dropped. A write to standard output fails with
    EBADF, because a report without a reader is not written. Without this, a file that a command opens would get the
    number of the stream, and other code would write into it.
    """
    if sys.stdin is None:
        sys.stdin = _opened(0, _READS_NOTHING, "r")
    if sys.stdout is None:
        sys.stdout = _opened(1, _REFUSES_WRITES, "w")
    if sys.stderr is None:
        sys.stderr = _opened(2, _DROPS_WRITES, "w")


def flush() -> None:
    """Writes the rest of the output. If that fails, the exit code of the command already shows the failure."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            # Otherwise Python flushes again at exit, prints an error, and exits with another code.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _opened(number: int, flags: int, mode: str) -> TextIO:
    found = os.open(os.devnull, flags)
    if found != number and not _is_open(number):
        os.dup2(found, number)
        os.close(found)
        found = number
    raw = io.FileIO(found, mode, closefd=False)
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace")


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
