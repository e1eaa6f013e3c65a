"""What priority classes are worth: real values, of the classes that there are (docs/domain/priority.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from usher import paths
from usher.facts.store import Store
from usher.reading.lookup import Absence

CLASSES: Final = ("scheduling.k8s.io", "PriorityClass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A PriorityClass, or a WorkloadPriorityClass of Kueue."""

    name: str
    value: int
    preempts: bool = True
    """Whether its pods evict others of less; of no meaning for Kueue's."""


_INT32: Final = range(-(2**31), 2**31)

NO_CLASS: Final = Class(name="", value=0)
"""What pods without a class have where no class is the default."""


def read(objects: Mapping[str, paths.Object]) -> dict[str, Class]:
    """The classes whose value can be read, by name."""
    return {name: found for name, value in objects.items() if (found := _class(name, value)) is not None}


def number_of(value: paths.Object) -> int | None:
    """The value of a class; None where it is none that the API server takes."""
    number = value.get("value")
    return number if type(number) is int and number in _INT32 else None


def preempts(value: paths.Object) -> bool:
    """Whether pods of a class evict others of less; nothing is held against one that does not say it readably."""
    return value.get("preemptionPolicy") in (None, "PreemptLowerPriority")


def default(facts: Store) -> Class | None:
    """The class that pods get which name none; None where nobody can say."""
    objects = facts.objects(*CLASSES)
    if isinstance(objects, Absence):
        return NO_CLASS if objects is Absence.MISSING else None
    return facts.derived("default of PriorityClass", [CLASSES], lambda: default_of(objects))


def default_name(facts: Store, declared: str | None) -> str | None:
    """The name of that class, empty where there is none: as the cluster says or, if nothing is known of it, declared.

    None where nobody can say.
    """
    if not facts.knows(*CLASSES):
        return declared
    found = default(facts)
    return None if found is None else found.name


def default_of(objects: Mapping[str, paths.Object]) -> Class | None:
    """The class that pods get which name none: of several the one of the smallest value.

    None where a class does not say, so that it can be read, whether it is the default, and of which value.
    """
    defaults: list[Class] = []
    for name, value in objects.items():
        flag = value.get("globalDefault")
        found = _class(name, value)
        if flag is True and found is not None:
            defaults.append(found)
        elif flag is not None and flag is not False:
            return None
    return min(defaults, key=lambda each: (each.value, each.name), default=NO_CLASS)


def _class(name: str, value: paths.Object) -> Class | None:
    number = number_of(value)
    if number is None:
        return None
    return Class(
        name=name,
        value=number,
        preempts=preempts(value),
    )
