"""Reads resource lists and texts of objects; records what cannot be read, and never guesses."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from usher import errors, paths, quantities

_Entry = TypeVar("_Entry")

MOST: Final = 256
"""Entries of a list that are read; a longer list is recorded as unreadable."""

Amounts = Mapping[str, quantities.Quantity]
"""By the name of the resource."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,317}", re.ASCII)
"""Of a resource, with a domain before it and `requests.` before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A field of an object of the cluster that cannot be read."""

    of: str
    """Kind and name of the object."""
    field: str
    """As people write field paths."""
    reason: str

    def __str__(self) -> str:
        return f"{self.of}: {self.field}: {self.reason}"


def first(objects: Mapping[str, paths.Object], kind: str) -> tuple[Mapping[str, paths.Object], list[Unreadable]]:
    """The first objects of one kind in a namespace, by name, and a note where there are more than are read."""
    names = sorted(objects)
    reason = f"is not read: {len(names)} {kind}s are in the namespace, of which the first {MOST} are read"
    beyond = [Unreadable(of=f"{kind} {name}", field="spec", reason=reason) for name in names[MOST : MOST + 1]]
    return {name: objects[name] for name in names[:MOST]}, beyond


@dataclass(frozen=True, slots=True)
class Source:
    """One object of the cluster while it is read."""

    of: str
    value: paths.Object
    unreadable: list[Unreadable] = field(default_factory=list)

    def unknown(self, pointer: str, reason: str) -> None:
        found = Unreadable(of=self.of, field=paths.readable(pointer), reason=reason)
        if len(self.unreadable) < MOST and found not in self.unreadable:
            self.unreadable.append(found)

    def at(self, pointer: str) -> paths.Json:
        """The value at a place; None where there is none, or where the way there is not readable."""
        value: paths.Json = self.value
        place = paths.ROOT
        for key in paths.split(pointer):
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and key.isdecimal():
                value = value[int(key)]
            else:
                if value is not None:
                    self.unknown(place, "is no object")
                return None
            place = paths.join(place, key)
        return value

    def mapping(self, pointer: str) -> Mapping[str, paths.Json]:
        """An object at a place, empty without one."""
        value = self.at(pointer)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.unknown(pointer, "is no object")
        return {}

    def items(self, pointer: str) -> Iterator[str]:
        """The places of the objects of a list."""
        value = self.at(pointer)
        if value is not None and not isinstance(value, list):
            self.unknown(pointer, "is no list")
            return
        for index, item in enumerate(self._first(value or [], pointer)):
            if isinstance(item, dict):
                yield paths.join(pointer, index)
            else:
                self.unknown(paths.join(pointer, index), "is no object")

    def text(self, pointer: str) -> str:
        """A text at a place, empty without one."""
        value = self.at(pointer)
        if value is not None and not isinstance(value, str):
            self.unknown(pointer, "is no string")
        return value if isinstance(value, str) else ""

    def texts(self, pointer: str) -> tuple[str, ...]:
        """The texts of a list."""
        value = self.at(pointer)
        listed = value if isinstance(value, list) else []
        if (value is not None and not isinstance(value, list)) or any(not isinstance(each, str) for each in listed):
            self.unknown(pointer, "is no list of strings")
        return tuple(each for each in self._first(listed, pointer) if isinstance(each, str))

    def amounts(self, pointer: str) -> Amounts:
        """The quantities of a resource list that can be read."""
        found = {}
        for name, value in self._first(list(self.mapping(pointer).items()), pointer):
            if _NAME.fullmatch(name) is None:
                self.unknown(pointer, "names a resource that can be none")
                continue
            try:
                found[name] = quantities.parse(value)
            except errors.QuantityError as error:
                self.unknown(paths.join(pointer, name), str(error))
        return found

    def _first(self, entries: list[_Entry], pointer: str) -> list[_Entry]:
        """The entries that are read; records that there are more."""
        if len(entries) > MOST:
            self.unknown(pointer, f"has {len(entries)} entries, of which the first {MOST} are read")
        return entries[:MOST]
