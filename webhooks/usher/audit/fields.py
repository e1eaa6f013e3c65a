"""Reads typed values from the objects of an estate, which may have any shape. A value of another type counts as
missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from usher import paths
from usher.audit.building import fields as building
from usher.audit.estate import Estate
from usher.dataclass import dataclass
from usher.kinds.reading.values import Absence

MOST: Final = 1000
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


def whole(value: paths.Json, pointer: str) -> int | None:
    """The whole number at a pointer; None if it is missing."""
    found = at(value, pointer)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def strings(value: paths.Json, pointer: str) -> Mapping[str, str]:
    """The texts of the object at a pointer, by key."""
    found = at(value, pointer)
    entries = found.items() if isinstance(found, dict) else ()
    return {key: each for key, each in entries if isinstance(each, str)}


def objects(value: paths.Json, pointer: str) -> list[paths.Object]:
    """The objects of the list at a pointer."""
    found = at(value, pointer)
    return [each for each in found[:MOST] if isinstance(each, dict)] if isinstance(found, list) else []


def texts(value: paths.Json, pointer: str) -> list[str]:
    """The texts of the list at a pointer."""
    found = at(value, pointer)
    return [each for each in found[:MOST] if isinstance(each, str)] if isinstance(found, list) else []


def when(value: paths.Json, pointer: str) -> datetime | None:
    """The time at a pointer, in UTC; None if it is missing."""
    return building.time(text(value, pointer))


def owners(value: paths.Object) -> Iterator[str]:
    """The uids of the owners of an object."""
    for reference in objects(value, "/metadata/ownerReferences"):
        uid = text(reference, "/uid")
        if uid:
            yield uid


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
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
