"""The verdict of an authority, and what authorities share: amounts read from objects, and parts of the Rego input."""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, TypeVar

from msgspec import Struct, field
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, paths, quantities
from usher.kinds.reading.shapes import Amount, amount_of
from usher.quantities import Quantity


class Answer(StrEnum):
    """Whether a workload starts; the worst answer comes first."""

    NEVER = "never"
    """The configuration does not let it start, even if nothing else runs."""
    UNKNOWN = "unknown"
    NOT_NOW = "not now"
    """A resource is used up, or a queue is stopped, or an object does not exist yet."""
    COULD = "could"
    """The configuration lets it start; whether there is room now is unknown."""
    FITS = "fits now"


def worst(answers: Iterable[Answer]) -> Answer:
    """The worst of several answers; FITS where there are no answers."""
    order = list(Answer)
    return min(answers, key=order.index, default=Answer.FITS)


class Reach(StrEnum):
    """How far a workload gets before a resource is short."""

    START = "start"
    """It cannot start, even if nothing else runs."""
    ALL = "all"
    """It starts, but never has all of its pods."""
    LARGEST = "largest"
    """It has the pods that it needs, but cannot grow to its largest pod counts."""
    NOW = "now"
    """It must wait until other workloads free resources."""


class Part(Struct, frozen=True, kw_only=True):
    """The pods of one pod set, with what each pod takes."""

    pod_set: str
    pods: int
    each: Quantity


class Shortage(Struct, frozen=True, kw_only=True):
    """A resource that is too scarce for a workload."""

    of: str
    """The name of the quota or queue."""
    resource: str
    """The name of the resource in the quota or queue."""
    needs: Quantity
    most: Quantity
    """The most that the quota or queue can give."""
    used: Quantity | None = None
    """Current usage; only where `reach` is NOW."""
    reach: Reach
    parts: tuple[Part, ...] = ()
    """The parts that `needs` consists of, where several pod sets or pods share it."""
    assumption: str = ""
    """The condition under which the shortage exists."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer of an authority about a workload."""

    answer: Answer
    shortages: tuple[Shortage, ...] = ()
    unknowns: tuple[str, ...] = ()
    """Missing facts that make the answer UNKNOWN."""


_Entry = TypeVar("_Entry")

MOST_OBJECTS: Final = 256
"""How many entries of a list are read; a longer list is recorded as unreadable."""

Amounts = Mapping[str, quantities.Quantity]
"""Quantities by the name of the resource."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,317}", re.ASCII)
"""The name of a resource, with an optional domain and an optional `requests.` before it."""


class Unreadable(Struct, frozen=True, kw_only=True):
    """A field of an object of the cluster that cannot be read."""

    of: str
    """The kind and name of the object."""
    field: str
    """The path of the field, as in `spec.hard`."""
    reason: str

    def __str__(self) -> str:
        return f"{self.of}: {self.field}: {self.reason}"


def first_objects(
    objects: Mapping[str, paths.Object], kind: str
) -> tuple[Mapping[str, paths.Object], list[Unreadable]]:
    """The first objects of one kind in a namespace, by name; and a note where the namespace has more than are read."""
    names = sorted(objects)
    reason = f"is not read: the namespace has {len(names)} {kind}s, and only the first {MOST_OBJECTS} are read"
    beyond = [
        Unreadable(of=f"{kind} {name}", field="spec", reason=reason) for name in names[MOST_OBJECTS : MOST_OBJECTS + 1]
    ]
    return {name: objects[name] for name in names[:MOST_OBJECTS]}, beyond


class SourceObject(Struct, frozen=True):
    """An object of the cluster during reading."""

    of: str
    value: paths.Object
    unreadable: list[Unreadable] = field(default_factory=list)

    def unknown(self, pointer: str, reason: str) -> None:
        found = Unreadable(of=self.of, field=paths.readable(pointer), reason=reason)
        if len(self.unreadable) < MOST_OBJECTS and found not in self.unreadable:
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
        if len(entries) > MOST_OBJECTS:
            self.unknown(pointer, f"has {len(entries)} entries, and only the first {MOST_OBJECTS} are read")
        return entries[:MOST_OBJECTS]


REACHES = {Reach.START: "never", Reach.ALL: "not all", Reach.LARGEST: "not largest", Reach.NOW: "not now"}
"""The names of the reaches in the Rego input."""


class PartInput(TypedDict):
    """The pods of one pod set, with what each pod takes."""

    podSet: str
    pods: int
    each: Amount


class UnreadableInput(TypedDict):
    of: str
    field: str
    reason: str


def parts_input(parts: Iterable[Part]) -> list[PartInput]:
    return [{"podSet": part.pod_set, "pods": part.pods, "each": amount_of(part.each)} for part in parts]


def unreadable_input(unreadable: Iterable[Unreadable]) -> list[UnreadableInput]:
    return [{"of": each.of, "field": each.field, "reason": each.reason} for each in unreadable]
