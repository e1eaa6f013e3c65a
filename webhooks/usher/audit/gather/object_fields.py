"""Typed reading of objects that may have any shape, and objects kept small as compressed JSON until they are read."""

import bisect
import contextlib
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from sys import intern
from typing import Final, TypeVar, overload

import orjson
from msgspec import Struct

from usher import errors, paths, quantities
from usher.audit.gather.estate import Estate
from usher.kinds.reading.values import Absence


def mappings(value: paths.Json) -> Iterator[paths.Object]:
    """The JSON objects of a list."""
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def text_entries(value: paths.Json) -> Mapping[str, str]:
    """The entries of a mapping whose values are texts: labels, annotations. Equal mappings of many objects share
    memory.
    """
    if not isinstance(value, dict):
        return {}
    return {intern(key): intern(each) for key, each in value.items() if isinstance(each, str)}


def time_of(value: paths.Json) -> datetime | None:
    """A time as Kubernetes writes it, in UTC; None for any other value."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        found = datetime.fromisoformat(value)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


MOST_ENTRIES: Final = 1000
"""The most entries that usher reads of a list."""

_LONGEST: Final = 300


def listed(estate: Estate, group: str, kind: str) -> Sequence[paths.Object] | None:
    """All objects of a kind, by namespace and name; empty if the kind is not served, None if the objects
    are unknown.
    """
    found = estate.objects.get((group, kind), Absence.NOT_KNOWN)
    if isinstance(found, Absence):
        return () if found is Absence.MISSING else None
    return sorted(found, key=lambda value: (namespace(value), name(value)))


def name(value: paths.Object) -> str:
    return text(value, "/metadata/name")


def namespace(value: paths.Object) -> str:
    return text(value, "/metadata/namespace")


def labels(value: paths.Object) -> Mapping[str, str]:
    return strings(value, "/metadata/labels")


def at(value: paths.Json, pointer: str) -> paths.Json:
    """The value at a pointer; None if it is missing."""
    try:
        return paths.resolve(value, pointer)
    except LookupError:
        return None


def text(value: paths.Json, pointer: str) -> str:
    """The text at a pointer; empty if it is missing."""
    return paths.text(at(value, pointer))


def integer(value: paths.Json, pointer: str) -> int | None:
    """The whole number at a pointer; None if it is missing."""
    found = at(value, pointer)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def strings(value: paths.Json, pointer: str) -> Mapping[str, str]:
    """The texts of the object at a pointer, by key."""
    found = at(value, pointer)
    entries = found.items() if isinstance(found, dict) else ()
    return {key: each for key, each in entries if isinstance(each, str)}


def objects(value: paths.Json, pointer: str) -> list[paths.Object]:
    found = at(value, pointer)
    return [each for each in found[:MOST_ENTRIES] if isinstance(each, dict)] if isinstance(found, list) else []


def texts(value: paths.Json, pointer: str) -> list[str]:
    found = at(value, pointer)
    return [each for each in found[:MOST_ENTRIES] if isinstance(each, str)] if isinstance(found, list) else []


def when(value: paths.Json, pointer: str) -> datetime | None:
    """The time at a pointer, in UTC; None if it is missing."""
    return time_of(text(value, pointer))


def owners(value: paths.Object) -> Iterator[str]:
    """The uids of the owners of an object."""
    for reference in objects(value, "/metadata/ownerReferences"):
        uid = text(reference, "/uid")
        if uid:
            yield uid


class Condition(Struct, frozen=True, kw_only=True):
    """A condition of a status."""

    holds: bool | None
    """None if its status is Unknown or of a wrong type."""
    reason: str
    message: str
    since: datetime | None


def conditions(value: paths.Object) -> Mapping[str, Condition]:
    """The conditions in the status of an object, by type."""
    words = {"True": True, "False": False}
    return {
        text(each, "/type"): Condition(
            holds=words.get(text(each, "/status")),
            reason=excerpt(text(each, "/reason")),
            message=excerpt(text(each, "/message")),
            since=when(each, "/lastTransitionTime"),
        )
        for each in objects(value, "/status/conditions")
    }


def excerpt(words: str) -> str:
    """A text in one line, cut if it is long."""
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def listing(names: Sequence[str], *, most: int = 5) -> str:
    """Some names for a message: `a, b and 3 more`."""
    shown = ", ".join(map(excerpt, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


_Value = TypeVar("_Value")

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


def _packed(values: list[_Value]) -> bytes | list[_Value]:
    """The values as bytes, or unchanged if they are not plain JSON: Python's parser accepts half surrogates."""
    try:
        return zlib.compress(orjson.dumps(values), _FAST)
    except orjson.JSONEncodeError:
        return values


def _unpacked(pack: bytes | list[_Value]) -> list[_Value]:
    if isinstance(pack, list):
        return pack
    found: list[_Value] = orjson.loads(zlib.decompress(pack))
    return found


_BUCKETS: Final = 1024
_PACK_BITS: Final = 24


class PackedRows:
    """Rows of texts, each found by its first text. Many rows take little memory, and to find one takes a while."""

    def __init__(self) -> None:
        self._packs: list[bytes | list[list[str]]] = []
        self._open: dict[str, list[str]] = {}
        self._places = [array("q") for _ in range(_BUCKETS)]
        """By the lower bits of the hash of a first text, sorted: its upper bits, then the number of the pack."""

    def add(self, row: list[str]) -> None:
        """Takes a row whose first text no other row has."""
        self._open[row[0]] = row
        bucket, bits = self._place(row[0])
        bisect.insort(bucket, bits | len(self._packs))
        if len(self._open) == _TOGETHER:
            self._packs.append(_packed(list(self._open.values())))
            self._open = {}

    def get(self, first: str) -> list[str] | None:
        """The row with this first text."""
        if first in self._open:
            return self._open[first]
        bucket, bits = self._place(first)
        start, end = bisect.bisect_left(bucket, bits), bisect.bisect_left(bucket, bits + 2**_PACK_BITS)
        packs = (place - bits for place in bucket[start:end])
        rows = (row for pack in packs if pack < len(self._packs) for row in _unpacked(self._packs[pack]))
        return next((row for row in rows if row[0] == first), None)

    def _place(self, first: str) -> "tuple[array[int], int]":  # Python 3.11 has no `array[int]`
        number = hash(first)
        return self._places[number % _BUCKETS], number >> _PACK_BITS << _PACK_BITS


MOST_MANIFESTS: Final = 5000
"""The most objects that `of` returns."""


_MOST_KINDS: Final = 255


class Manifests:
    """Keeps objects compressed, by uid: after the first of its kind, a manifest of 6 kB takes some hundred bytes."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[bytes, bytes]] = {}
        """Each with the first text of its kind, to which its compression refers."""
        self._first: dict[str, bytes] = {}

    def add(self, uid: str, value: paths.Object) -> None:
        """Takes an object; skips one that is not plain JSON."""
        if not uid:
            return
        metadata = {key: each for key, each in paths.metadata(value).items() if key != "managedFields"}
        try:
            text = orjson.dumps({**value, "metadata": metadata})
        except orjson.JSONEncodeError:
            return
        kind = paths.text(value.get("kind"))
        if len(self._first) < _MOST_KINDS:
            self._first.setdefault(kind, text)
        first = self._first.get(kind, b"{}")
        packer = zlib.compressobj(_FAST, zdict=first)
        self._kept[uid] = first, packer.compress(text) + packer.flush()

    def of(self, uids: Iterable[str]) -> Mapping[str, paths.Object]:
        """The kept objects with these uids, at most `MOST`."""
        wanted = [uid for uid in uids if uid in self._kept]
        kept = ((uid, *self._kept[uid]) for uid in wanted[:MOST_MANIFESTS])
        return {uid: orjson.loads(zlib.decompressobj(zdict=first).decompress(pack)) for uid, first, pack in kept}


def whole_quantity(amount: paths.Json) -> int | None:
    """An amount as a whole number; None for one that cannot be read."""
    with contextlib.suppress(errors.QuantityError):
        return max(0, quantities.parse(amount).value)
    return None
