"""What glibc's allocator keeps back, bounded: a server that lists a cluster reads much at once and keeps little."""

import contextlib
import ctypes
from typing import Final

_M_ARENA_MAX: Final = -8
"""As in malloc.h."""

_ARENAS: Final = 2
"""Of their own for threads: by default each of some forty threads gets one, and keeps what its largest page took."""


def bound_arenas() -> None:
    """Lets all threads share few arenas; to be called before they start. Where there is no glibc nothing happens."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Gives free memory back to the system; takes some milliseconds, in which other threads run."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
