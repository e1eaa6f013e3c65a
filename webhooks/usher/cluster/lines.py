"""A stream of bytes -> its lines, each within a bound."""

from collections.abc import Iterable, Iterator
from typing import Final

LONGEST: Final = 16 * 2**20
"""Bytes of a line. An object of etcd has 1.5 MiB at most, and its JSON a few times as much."""


class CutShortError(ValueError):
    """The stream ended within a line."""


class TooLongError(ValueError):
    """A line is longer than any object can be."""


def lines(chunks: Iterable[bytes], *, longest: int = LONGEST) -> Iterator[bytes]:
    """The lines of a stream, each as soon as it is whole; empty ones are left out.

    Raises:
        CutShortError: after the last whole line there was more.
        TooLongError: a line has more than `longest` bytes; no more than one chunk above that was kept.
    """
    rest = bytearray()
    for chunk in chunks:
        *whole, last = chunk.split(b"\n")
        for part in whole:
            rest += part
            if len(rest) > longest:
                raise TooLongError
            if rest:
                yield bytes(rest)
            rest.clear()
        rest += last
        if len(rest) > longest:
            raise TooLongError
    if rest:
        raise CutShortError
