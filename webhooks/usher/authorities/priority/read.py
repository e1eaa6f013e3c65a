"""Reads the priority classes of the cluster and their values (docs/domain/priority.md)."""

from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.cluster.facts.store import Store
from usher.dataclass import dataclass
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence, Reference

CLASSES: Final = ("scheduling.k8s.io", "PriorityClass")

IN_QUEUE: Final = ("kueue.x-k8s.io", "WorkloadPriorityClass")

QUEUE_CLASS_LABEL: Final = "kueue.x-k8s.io/priority-class"
"""The label that names the WorkloadPriorityClass of a workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A PriorityClass, or a WorkloadPriorityClass of Kueue."""

    name: str
    value: int
    preempts: bool = True
    """Whether its pods evict pods with a lower value. Has no meaning for a WorkloadPriorityClass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedClass:
    """A class that a workload names, as far as it is known."""

    kind: str
    name: str
    exists: bool | None
    """None where the classes are unknown."""
    found: Class | None
    """None where the class does not exist, or its value cannot be read."""


_INT32: Final = range(-(2**31), 2**31)

NO_CLASS: Final = Class(name="", value=0)
"""The priority of pods without a class name where no class is the default."""


def classes(facts: Store, kind: Key) -> Mapping[str, Class] | None:
    """The classes of a kind with a readable value, by name; None where the classes are unknown."""
    objects = facts.objects(*kind)
    if isinstance(objects, Absence):
        return None
    return facts.derived(f"values of {kind[1]}", [kind], lambda: read(objects))


def named(facts: Store, kind: Key, name: str) -> NamedClass:
    """The class that a workload names."""
    group, of_kind = kind
    value = facts.find(Reference(group=group, kind=of_kind, name=name))
    if isinstance(value, Absence):
        exists = None if value is Absence.NOT_KNOWN else False
        return NamedClass(kind=of_kind, name=name, exists=exists, found=None)
    return NamedClass(kind=of_kind, name=name, exists=True, found=_class(name, value))


def read(objects: Mapping[str, paths.Object]) -> dict[str, Class]:
    """The classes with a readable value, by name."""
    return {name: found for name, value in objects.items() if (found := _class(name, value)) is not None}


def default(facts: Store) -> Class | None:
    """The class of pods without a class name; NO_CLASS where no class is the default, None where it is unknown."""
    objects = facts.objects(*CLASSES)
    if isinstance(objects, Absence):
        return NO_CLASS if objects is Absence.MISSING else None
    return facts.derived("default of PriorityClass", [CLASSES], lambda: default_of(objects))


def default_name(facts: Store, declared: str | None) -> str | None:
    """The name of the default class; empty where no class is the default, None where it is unknown.

    Args:
        facts: the facts of the cluster.
        declared: the name in usher.yaml, used where the classes are unknown.
    """
    if not facts.knows(*CLASSES):
        return declared
    found = default(facts)
    return None if found is None else found.name


def default_of(objects: Mapping[str, paths.Object]) -> Class | None:
    """The class of pods without a class name. Of several default classes, the one with the smallest value.

    None where `globalDefault` of any class, or the value of a default class, cannot be read.
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
    number = value.get("value")
    if type(number) is not int or number not in _INT32:
        return None
    # An unreadable preemptionPolicy counts as one that does not preempt.
    return Class(name=name, value=number, preempts=value.get("preemptionPolicy") in (None, "PreemptLowerPriority"))
