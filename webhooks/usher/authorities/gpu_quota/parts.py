"""The parts of a large account: objects that are written once, and what each of them changes.

Parts are in order: an entry of a later part replaces the entry with its key in earlier parts. The changes in the head
of the account are later than all parts. This module does no I/O.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from usher import paths
from usher.authorities.gpu_quota import entries as gpu_quota_entries
from usher.authorities.gpu_quota.entries import Entry, MalformedError
from usher.authorities.gpu_quota.layers import Changes
from usher.dataclass import dataclass

MOST_CHANGES: Final = 256
"""The most changes in the head. Beyond that they move to a part: the head is written with every charge."""

MOST_BYTES: Final = 400_000
"""The most bytes of entries in one part; a ConfigMap holds 1 MiB."""

MOST_PARTS: Final = 256
"""The bound in the definition of GPUQuota. 50,000 entries with the longest names need some sixty."""

_VERSION: Final = 1
_LONGEST_NAME: Final = 253
_SLACK: Final = 4 * MOST_CHANGES


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A reference to a part in the head."""

    name: str
    """The name of its ConfigMap."""
    changes: int
    """How many entries it changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The changes of a part."""

    changes: Changes
    unread: tuple[paths.Json, ...] = ()
    """Unreadable entries, unchanged."""


def encode_reference(part: Part) -> paths.Object:
    return {"name": part.name, "changes": part.changes}


def decode_references(value: paths.Json) -> tuple[Part, ...]:
    """The parts in a head. Raises MalformedError: without all of its parts, nothing is known of an account."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PARTS:
        raise MalformedError(f"parts is not a list of 1 to {MOST_PARTS} parts")
    return tuple(map(_reference, value))


def _reference(value: paths.Json) -> Part:
    name, changes = (value.get("name"), value.get("changes")) if isinstance(value, dict) else (None, None)
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or "/" in name:
        raise MalformedError("a part has no name")
    if not isinstance(changes, int) or isinstance(changes, bool) or changes < 0:
        raise MalformedError(f"part {name} does not say how many entries it changes")
    return Part(name=name, changes=changes)


def decode_removed(value: paths.Json) -> tuple[str, ...]:
    """The keys of removed entries. Raises MalformedError."""
    if not isinstance(value, list):
        raise MalformedError("removed is not a list of keys")
    keys = tuple(each for each in value if isinstance(each, str))
    if len(keys) != len(value):
        raise MalformedError("removed has an entry that is not a text")
    return keys


def encode(content: Content) -> str:
    """The text of a part."""
    changes = sorted(content.changes.items())
    charges = [gpu_quota_entries.encode(entry) for _, entry in changes if entry is not None]
    removed = [key for key, entry in changes if entry is None]
    value = {"version": _VERSION, "charges": [*charges, *content.unread], "removed": removed}
    return orjson.dumps(value).decode()


def decode(text: paths.Json) -> Content:
    """The changes of a part.

    Raises:
        MalformedError: it is not a part, or of a later version. Single unreadable entries are kept as they are.
    """
    try:
        value: paths.Json = orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        raise MalformedError("it is not JSON") from None
    charges = value.get("charges") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(charges, list) or value.get("version") != _VERSION:
        raise MalformedError(f"it is not a part of version {_VERSION}")
    changes: dict[str, Entry | None] = dict.fromkeys(decode_removed(value.get("removed")))
    unread = []
    for each in charges:
        try:
            entry = gpu_quota_entries.decode(each)
            changes[entry.key] = entry
        except MalformedError:
            unread.append(each)
    return Content(changes=changes, unread=tuple(unread))


def first_to_merge(parts: Sequence[Part], *, changes: int, live: int) -> int:
    """The index of the first part that is written again with the changes of the head; `len(parts)` if no part is.

    Parts of like size are merged, so that an entry is written again only as often as the account doubles. Everything is
    merged once most of what parts hold does not count any more.

    Args:
        parts: the parts of the account.
        changes: the number of changes in the head.
        live: the number of entries of the whole account.
    """
    first, together = len(parts), changes
    if changes + sum(part.changes for part in parts) > 2 * live + _SLACK:
        return 0
    while first and (parts[first - 1].changes <= together or len(parts) >= MOST_PARTS // 2):
        first -= 1
        together += parts[first].changes
    return first


def merged(contents: Sequence[Content], changes: Changes, *, all_of_them: bool) -> Content:
    """Several parts and the changes of the head as one; removals end where no earlier part is left."""
    found: dict[str, Entry | None] = {}
    for content in contents:
        found.update(content.changes)
    found.update(changes)
    if all_of_them:
        found = {key: entry for key, entry in found.items() if entry is not None}
    return Content(changes=found, unread=tuple(each for content in contents for each in content.unread))


def pieces(content: Content) -> Iterator[Content]:
    """A content as one or more parts that each fit into an object; nothing without a change."""
    piece: dict[str, Entry | None] = {}
    size, unread = _size_of_unread(content.unread), content.unread
    for key, entry in sorted(content.changes.items()):
        more = len(key) + 4 if entry is None else len(orjson.dumps(gpu_quota_entries.encode(entry))) + 1
        if piece and size + more > MOST_BYTES:
            yield Content(changes=piece, unread=unread)
            piece, size, unread = {}, 0, ()
        piece[key] = entry
        size += more
    if piece or unread:
        yield Content(changes=piece, unread=unread)


def _size_of_unread(unread: Sequence[paths.Json]) -> int:
    return len(orjson.dumps(unread))


def apply(entries: dict[str, Entry], content: Content) -> None:
    """Changes the entries of earlier parts as a part says."""
    for key, entry in content.changes.items():
        if entry is None:
            entries.pop(key, None)
        else:
            entries[key] = entry
