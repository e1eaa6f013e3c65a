"""Keeps objects as compressed JSON until they are read. It takes about a tenth of the memory of Python's values."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, overload

import orjson

from usher import paths

_TOGETHER: Final = 100
"""Number of objects compressed together. Similar objects lie side by side, and reading unpacks few at a time."""

_FAST: Final = 1


class Packed(Sequence[paths.Object]):
    """Objects in the order in which they were added. Each reading makes new values."""

    def __init__(self, values: Iterable[paths.Object] = ()) -> None:
        self._packs: list[bytes | list[paths.Object]] = []
        self._open: list[paths.Object] = []
        for value in values:
            self.append(value)

    def append(self, value: paths.Object) -> None:
        """Takes an object, which the caller must not change afterwards."""
        self._open.append(value)
        if len(self._open) == _TOGETHER:
            self._packs.append(_packed(self._open))
            self._open = []

    def __len__(self) -> int:
        return _TOGETHER * len(self._packs) + len(self._open)

    def __iter__(self) -> Iterator[paths.Object]:
        for pack in self._packs:
            yield from _unpacked(pack)
        yield from self._open

    @overload
    def __getitem__(self, place: int) -> paths.Object: ...
    @overload
    def __getitem__(self, place: slice) -> list[paths.Object]: ...
    def __getitem__(self, place: int | slice) -> paths.Object | list[paths.Object]:
        return list(self)[place]


def _packed(values: list[paths.Object]) -> bytes | list[paths.Object]:
    """The objects as bytes, or unchanged if they are not plain JSON: Python's parser accepts half surrogates."""
    try:
        return zlib.compress(orjson.dumps(values), _FAST)
    except orjson.JSONEncodeError:
        return values


def _unpacked(pack: bytes | list[paths.Object]) -> Sequence[paths.Object]:
    if isinstance(pack, list):
        return pack
    found: list[paths.Object] = orjson.loads(zlib.decompress(pack))
    return found
