"""The objects of workloads, small: authorities look at those of workloads that wait."""

import zlib
from collections.abc import Iterable, Mapping
from typing import Final

import orjson

from usher import paths

MOST: Final = 5000
"""Objects that are handed out."""

_FAST: Final = 1


class Manifests:
    """Keeps objects compressed, by uid: a manifest of 6 kB takes about one."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def add(self, uid: str, value: paths.Object) -> None:
        """Takes an object; one that is no plain JSON is left out."""
        if not uid:
            return
        metadata = {key: each for key, each in paths.metadata(value).items() if key != "managedFields"}
        try:
            text = orjson.dumps({**value, "metadata": metadata})
        except orjson.JSONEncodeError:
            return
        self._kept[uid] = zlib.compress(text, _FAST)

    def of(self, uids: Iterable[str]) -> Mapping[str, paths.Object]:
        """The objects with these uids, as far as they were kept, and at most `MOST`."""
        wanted = [uid for uid in uids if uid in self._kept]
        return {uid: orjson.loads(zlib.decompress(self._kept[uid])) for uid in wanted[:MOST]}
