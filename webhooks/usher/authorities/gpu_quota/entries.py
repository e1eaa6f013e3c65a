"""An entry of a ledger, its JSON in `status.charges` of a GPUQuota, and the parts of a large account.

    {"object": "PyTorchJob.kubeflow.org/research/llm", "amounts": {"gpus": 16}, "until": 1798000000}

`amounts` counts pods whose priority class no limit names. `classes` has the amounts of other pods by class; a key of
several classes, joined by commas, has the amounts that their pods share. A settled charge has no `until`. An object
that had a name when it was charged has no `uid`.

A ledger of 10,000 entries changes hundreds of times in a second. Each change copies only the changes before it.

Parts are in order: an entry of a later part replaces the entry with its key in earlier parts. The changes in the head
of the account are later than all parts. This module does no I/O.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import orjson
from msgspec import Struct

from usher import errors, paths, quantities
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota.charge import ByClasses, Classes
from usher.authorities.gpu_quota.definitions import Amounts

_NO_CLASS: Final[Classes] = ("",)
_FIELDS: Final = frozenset({"object", "uid", "amounts", "classes", "until", "forced", "createdAgain"})
_LATEST: Final = 2**53
"""Seconds; JSON numbers are exact up to here."""


class Entry(Struct, frozen=True, kw_only=True):
    """The charge of one object."""

    group: str
    kind: str
    namespace: str
    name: str
    """Empty where the object was charged before it had a name (generateName)."""
    uid: str = ""
    """The key of an object without a name."""
    amounts: ByClasses
    reserved_until: int | None
    """Seconds since the epoch; None once the charge is settled."""
    forced: bool = False
    """Whether the object was charged without regard to limits."""
    created_again: bool = False
    """Whether a further creation of the same name was allowed while this charge was held. Its object may be stored
    after the present one is deleted, so the charge is not settled before `reserved_until`.
    """

    @property
    def key(self) -> str:
        """The name, or else the uid. By its name, a retried creation is charged once, although its uid changes."""
        return self.name_key if self.name else self.uid

    @property
    def name_key(self) -> str:
        return name_key(self.group, self.kind, self.namespace, self.name)


def name_key(group: str, kind: str, namespace: str, name: str) -> str:
    """The key of an entry with a name."""
    return f"{kind}.{group}/{namespace}/{name}" if group else f"{kind}/{namespace}/{name}"


class MalformedError(ValueError):
    """An entry cannot be read; the message says why."""


def tidy(by_classes: ByClasses) -> ByClasses:
    """The amounts sorted and without zeros, so that equal amounts are equal values."""
    return {
        classes: dict(sorted(of_units.items()))
        for classes in sorted(by_classes)
        if (of_units := {unit: nanos for unit, nanos in by_classes[classes].items() if nanos})
    }


def encode_entry(entry: Entry) -> paths.Object:
    result: paths.Object = {"object": entry.name_key, **paths.given(uid=entry.uid), **encode_sums(entry.amounts)}
    if entry.reserved_until is not None:
        result["until"] = entry.reserved_until
    return {**result, **paths.given(forced=entry.forced, createdAgain=entry.created_again)}


def encode_sums(by_classes: ByClasses) -> paths.Object:
    """`amounts` and `classes`, each only if it has amounts."""
    result: paths.Object = {}
    if _NO_CLASS in by_classes:
        result["amounts"] = encode_amounts(by_classes[_NO_CLASS])
    others = {",".join(names): encode_amounts(units) for names, units in by_classes.items() if names != _NO_CLASS}
    return {**result, **paths.given(classes=others)}


def encode_amounts(of_units: Amounts) -> paths.Object:
    """The JSON of amounts: whole numbers as numbers, fractions in Kubernetes' notation (`3500m`)."""
    return {
        unit: nanos // quantities.NANO if nanos % quantities.NANO == 0 else gpu_quota_definitions.number(nanos)
        for unit, nanos in of_units.items()
    }


def decode_entry(value: paths.Json) -> Entry:
    """The entry of a value in the status.

    Raises:
        MalformedError: the value has an unknown, missing or unreadable field.
    """
    if not isinstance(value, dict):
        raise MalformedError("it is not an object")
    stray = value.keys() - _FIELDS
    if stray:
        raise MalformedError(f"it has an unknown field {min(stray)!r:.60}")
    group, kind, namespace, name = _identity(value.get("object"))
    uid, until, forced = value.get("uid", ""), value.get("until"), value.get("forced", False)
    created_again = value.get("createdAgain", False)
    if not isinstance(uid, str):
        raise MalformedError("uid is not a text")
    if until is not None and (isinstance(until, bool) or not isinstance(until, int) or not 0 <= until <= _LATEST):
        raise MalformedError("until is not a number of seconds")
    if not isinstance(forced, bool):
        raise MalformedError("forced is neither true nor false")
    if not isinstance(created_again, bool):
        raise MalformedError("createdAgain is neither true nor false")
    if not (name or uid):
        raise MalformedError("it has neither a name nor a uid")
    return Entry(
        group=group,
        kind=kind,
        namespace=namespace,
        name=name,
        uid=uid,
        amounts=decode_sums(value),
        reserved_until=until,
        forced=forced,
        created_again=created_again,
    )


def decode_sums(value: paths.Json, *, most: int = gpu_quota_definitions.MOST_AMOUNT) -> ByClasses:
    """The amounts of an object with `amounts` and `classes`, sorted and without zeros.

    Raises:
        MalformedError: the value has another form.
    """
    if not isinstance(value, dict):
        raise MalformedError("it is not an object")
    found: dict[Classes, Amounts] = {}
    if "amounts" in value:
        found[_NO_CLASS] = decode_amounts(value["amounts"], most=most)
    classes = value.get("classes", {})
    if not isinstance(classes, dict):
        raise MalformedError("classes is not an object")
    for key, of_units in classes.items():
        found[tuple(sorted(set(key.split(","))))] = decode_amounts(of_units, most=most)
    return tidy(found)


def decode_amounts(value: paths.Json, *, most: int = gpu_quota_definitions.MOST_AMOUNT) -> Amounts:
    """Amounts by unit.

    Raises:
        MalformedError: the value is not an object, or has an unknown unit, an invalid number or a number below 0.
    """
    if not isinstance(value, Mapping):
        raise MalformedError("amounts is not an object")
    found = {}
    for unit, amount in value.items():
        if not gpu_quota_definitions.is_unit(unit):
            raise MalformedError(f"{unit!r:.60} is not a unit of a quota")
        try:
            nanos = quantities.parse(amount).nanos
        except errors.QuantityError as error:
            raise MalformedError(f"{unit}: {error}") from None
        if not 0 <= nanos <= most:
            raise MalformedError(f"{unit}: {gpu_quota_definitions.number(nanos)} is not an amount that can be charged")
        found[unit] = nanos
    return found


def _identity(value: paths.Json) -> tuple[str, str, str, str]:
    parts = value.split("/") if isinstance(value, str) else []
    if len(parts) != 3 or not parts[0]:
        raise MalformedError("object is not written as Kind.group/namespace/name")
    kind, _, group = parts[0].partition(".")
    return group, kind, parts[1], parts[2]


EntryChanges = Mapping[str, Entry | None]
"""Entries by key; None where an entry of the base was removed."""

_NO_CHANGES: Final[EntryChanges] = {}


class EntryLayers(Mapping[str, Entry]):
    """Immutable; `changed` makes a new value."""

    __slots__ = ("_length", "base", "changes")

    def __init__(
        self, base: Mapping[str, Entry], changes: EntryChanges = _NO_CHANGES, *, length: int | None = None
    ) -> None:
        """Takes the base, which must not change any more, the changes to it, and the number of entries if known."""
        self.base: Final = base
        self.changes: Final = changes
        self._length: Final = _length(base, changes) if length is None else length

    def changed(self, key: str, entry: Entry | None) -> "EntryLayers":
        """These entries with another entry of a key, or without an entry of the key."""
        changes = {**self.changes, key: entry}
        if entry is None and key not in self.base:
            del changes[key]
        return EntryLayers(self.base, changes, length=self._length - (key in self) + (entry is not None))

    def __getitem__(self, key: str) -> Entry:
        found = self.changes[key] if key in self.changes else self.base[key]
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        yield from (key for key in self.base if key not in self.changes)
        yield from (key for key, entry in self.changes.items() if entry is not None)

    def __len__(self) -> int:
        return self._length

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EntryLayers) and other.base is self.base:
            return all(self.get(key) == other.get(key) for key in {*self.changes, *other.changes})
        return isinstance(other, Mapping) and len(self) == len(other) and dict(self.items()) == dict(other.items())

    __hash__ = None  # type: ignore[assignment]  # a mapping of values that cannot be hashed

    def __repr__(self) -> str:
        return f"Layers({dict(self.items())!r})"


def _length(base: Mapping[str, Entry], changes: EntryChanges) -> int:
    added = sum(key not in base for key, entry in changes.items() if entry is not None)
    return len(base) + added - sum(key in base for key, entry in changes.items() if entry is None)


MOST_CHANGES: Final = 256
"""The most changes in the head. Beyond that they move to a part: the head is written with every charge."""

MOST_BYTES: Final = 400_000
"""The most bytes of entries in one part; a ConfigMap holds 1 MiB."""

MOST_PARTS: Final = 256
"""The bound in the definition of GPUQuota. 50,000 entries with the longest names need some sixty."""

_VERSION: Final = 1
_LONGEST_NAME: Final = 253
_SLACK: Final = 4 * MOST_CHANGES


class PartReference(Struct, frozen=True, kw_only=True):
    """A reference to a part in the head."""

    name: str
    """The name of its ConfigMap."""
    changes: int
    """How many entries it changes."""


class PartContent(Struct, frozen=True, kw_only=True):
    """The changes of a part."""

    changes: EntryChanges
    unread: tuple[paths.Json, ...] = ()
    """Unreadable entries, unchanged."""


def encode_reference(part: PartReference) -> paths.Object:
    return {"name": part.name, "changes": part.changes}


def decode_references(value: paths.Json) -> tuple[PartReference, ...]:
    """The parts in a head. Raises MalformedError: without all of its parts, nothing is known of an account."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PARTS:
        raise MalformedError(f"parts is not a list of 1 to {MOST_PARTS} parts")
    return tuple(map(_reference, value))


def _reference(value: paths.Json) -> PartReference:
    name, changes = (value.get("name"), value.get("changes")) if isinstance(value, dict) else (None, None)
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or "/" in name:
        raise MalformedError("a part has no name")
    if not isinstance(changes, int) or isinstance(changes, bool) or changes < 0:
        raise MalformedError(f"part {name} does not say how many entries it changes")
    return PartReference(name=name, changes=changes)


def decode_removed(value: paths.Json) -> tuple[str, ...]:
    """The keys of removed entries. Raises MalformedError."""
    if not isinstance(value, list):
        raise MalformedError("removed is not a list of keys")
    keys = tuple(each for each in value if isinstance(each, str))
    if len(keys) != len(value):
        raise MalformedError("removed has an entry that is not a text")
    return keys


def encode_content(content: PartContent) -> str:
    """The text of a part."""
    changes = sorted(content.changes.items())
    charges = [encode_entry(entry) for _, entry in changes if entry is not None]
    removed = [key for key, entry in changes if entry is None]
    value = {"version": _VERSION, "charges": [*charges, *content.unread], "removed": removed}
    return orjson.dumps(value).decode()


def decode_content(text: paths.Json) -> PartContent:
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
            entry = decode_entry(each)
            changes[entry.key] = entry
        except MalformedError:
            unread.append(each)
    return PartContent(changes=changes, unread=tuple(unread))


def first_part_to_merge(parts: Sequence[PartReference], *, changes: int, live: int) -> int:
    """The index of the first part that is written again with the changes of the head; `len(parts)` if no part is.

    Parts of like size are merged, so that an entry is written again only as often as the account doubles. Everything is
    merged once most of what parts hold does not count any more.

    Args:
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


def merge_contents(contents: Sequence[PartContent], changes: EntryChanges, *, all_of_them: bool) -> PartContent:
    """Several parts and the changes of the head as one; removals end where no earlier part is left."""
    found: dict[str, Entry | None] = {}
    for content in contents:
        found.update(content.changes)
    found.update(changes)
    if all_of_them:
        found = {key: entry for key, entry in found.items() if entry is not None}
    return PartContent(changes=found, unread=tuple(each for content in contents for each in content.unread))


def split_content(content: PartContent) -> Iterator[PartContent]:
    """A content as one or more parts that each fit into an object; nothing without a change."""
    piece: dict[str, Entry | None] = {}
    size, unread = len(orjson.dumps(content.unread)), content.unread
    for key, entry in sorted(content.changes.items()):
        length = len(key) + 4 if entry is None else len(orjson.dumps(encode_entry(entry))) + 1
        if piece and size + length > MOST_BYTES:
            yield PartContent(changes=piece, unread=unread)
            piece, size, unread = {}, 0, ()
        piece[key] = entry
        size += length
    if piece or unread:
        yield PartContent(changes=piece, unread=unread)


def apply_content(entries: dict[str, Entry], content: PartContent) -> None:
    """Changes the entries of earlier parts as a part says."""
    for key, entry in content.changes.items():
        if entry is None:
            entries.pop(key, None)
        else:
            entries[key] = entry
