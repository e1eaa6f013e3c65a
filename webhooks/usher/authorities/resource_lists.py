"""Reads resource lists and texts of objects. It records each unreadable field, and never guesses a value."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final, TypeVar

from usher import errors, paths, quantities
from usher.dataclass import dataclass

_Entry = TypeVar("_Entry")

MOST: Final = 256
"""How many entries of a list are read; a longer list is recorded as unreadable."""

Amounts = Mapping[str, quantities.Quantity]
"""Quantities by the name of the resource."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,317}", re.ASCII)
"""The name of a resource, with an optional domain and an optional `requests.` before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A field of an object of the cluster that cannot be read."""

    of: str
    """The kind and name of the object."""
    field: str
    """The path of the field, as in `spec.hard`."""
    reason: str

    def __str__(self) -> str:
        return f"{self.of}: {self.field}: {self.reason}"


def first(objects: Mapping[str, paths.Object], kind: str) -> tuple[Mapping[str, paths.Object], list[Unreadable]]:
    """The first objects of one kind in a namespace, by name; and a note where the namespace has more than are read."""
    names = sorted(objects)
    reason = f"is not read: the namespace has {len(names)} {kind}s, and only the first {MOST} are read"
    beyond = [Unreadable(of=f"{kind} {name}", field="spec", reason=reason) for name in names[MOST : MOST + 1]]
    return {name: objects[name] for name in names[:MOST]}, beyond


@dataclass(frozen=True, slots=True)
class Source:
    """An object of the cluster during reading."""

    of: str
    value: paths.Object
    unreadable: list[Unreadable] = field(default_factory=list)

    def unknown(self, pointer: str, reason: str) -> None:
        found = Unreadable(of=self.of, field=paths.readable(pointer), reason=reason)
        if len(self.unreadable) < MOST and found not in self.unreadable:
            self.unreadable.append(found)

    def at(self, pointer: str) -> paths.Json:
        """The value at a place; None where the value is missing, or a field on the way to it is unreadable."""
        value: paths.Json = self.value
        place = paths.ROOT
        for key in paths.split(pointer):
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and key.isdecimal():
                value = value[int(key)]
            else:
                if value is not None:
                    self.unknown(place, "is not an object")
                return None
            place = paths.join(place, key)
        return value

    def mapping(self, pointer: str) -> Mapping[str, paths.Json]:
        """The object at a place; empty where it is missing."""
        value = self.at(pointer)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.unknown(pointer, "is not an object")
        return {}

    def items(self, pointer: str) -> Iterator[str]:
        """The places of the objects in a list."""
        value = self.at(pointer)
        if value is not None and not isinstance(value, list):
            self.unknown(pointer, "is not a list")
            return
        for index, item in enumerate(self._first(value or [], pointer)):
            if isinstance(item, dict):
                yield paths.join(pointer, index)
            else:
                self.unknown(paths.join(pointer, index), "is not an object")

    def text(self, pointer: str) -> str:
        """The text at a place; empty where it is missing."""
        value = self.at(pointer)
        if value is not None and not isinstance(value, str):
            self.unknown(pointer, "is not a string")
        return value if isinstance(value, str) else ""

    def texts(self, pointer: str) -> tuple[str, ...]:
        """The texts in a list."""
        value = self.at(pointer)
        listed = value if isinstance(value, list) else []
        if (value is not None and not isinstance(value, list)) or any(not isinstance(each, str) for each in listed):
            self.unknown(pointer, "is not a list of strings")
        return tuple(each for each in self._first(listed, pointer) if isinstance(each, str))

    def amounts(self, pointer: str) -> Amounts:
        """The readable quantities of a resource list."""
        found = {}
        for name, value in self._first(list(self.mapping(pointer).items()), pointer):
            if _NAME.fullmatch(name) is None:
                self.unknown(pointer, "has a key that is not a valid resource name")
                continue
            try:
                found[name] = quantities.parse(value)
            except errors.QuantityError as error:
                self.unknown(paths.join(pointer, name), str(error))
        return found

    def _first(self, entries: list[_Entry], pointer: str) -> list[_Entry]:
        """The first entries, up to MOST; records a longer list as unreadable."""
        if len(entries) > MOST:
            self.unknown(pointer, f"has {len(entries)} entries, and only the first {MOST} are read")
        return entries[:MOST]
