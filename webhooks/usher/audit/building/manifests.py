"""Keeps the objects of workloads compressed, because authorities judge those of waiting workloads."""

import zlib
from collections.abc import Iterable, Mapping
from typing import Final

import orjson

from usher import paths

MOST: Final = 5000
"""The most objects that `of` returns."""

_FAST: Final = 1


class Manifests:
    """Keeps objects compressed, by uid: a manifest of 6 kB takes about one."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def add(self, uid: str, value: paths.Object) -> None:
        """Takes an object; skips one that is not plain JSON."""
        if not uid:
            return
        metadata = {key: each for key, each in paths.metadata(value).items() if key != "managedFields"}
        try:
            text = orjson.dumps({**value, "metadata": metadata})
        except orjson.JSONEncodeError:
            return
        self._kept[uid] = zlib.compress(text, _FAST)

    def of(self, uids: Iterable[str]) -> Mapping[str, paths.Object]:
        """The kept objects with these uids, at most `MOST`."""
        wanted = [uid for uid in uids if uid in self._kept]
        return {uid: orjson.loads(zlib.decompress(self._kept[uid])) for uid in wanted[:MOST]}
