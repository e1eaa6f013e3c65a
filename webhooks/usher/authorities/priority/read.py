"""Priority classes with their values, as they are in the cluster (docs/domain/priority.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from usher import paths
from usher.facts.store import Store
from usher.kinds.kept_fields import Key
from usher.reading.lookup import Absence, Reference

CLASSES: Final = ("scheduling.k8s.io", "PriorityClass")

IN_QUEUE: Final = ("kueue.x-k8s.io", "WorkloadPriorityClass")

QUEUE_CLASS_LABEL: Final = "kueue.x-k8s.io/priority-class"
"""Names the WorkloadPriorityClass of a workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A PriorityClass, or a WorkloadPriorityClass of Kueue."""

    name: str
    value: int
    preempts: bool = True
    """Whether its pods evict others with a lower value; without meaning for Kueue's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedClass:
    """What is known of a class that a workload names."""

    kind: str
    name: str
    exists: bool | None
    """None where nothing is known of classes."""
    found: Class | None
    """None where it is not there, or its value cannot be read."""


_INT32: Final = range(-(2**31), 2**31)

NO_CLASS: Final = Class(name="", value=0)
"""The priority of pods that name no class where no class is the default."""


def classes(facts: Store, kind: Key) -> Mapping[str, Class] | None:
    """The classes of a kind whose value can be read, by name; None where nothing is known of any."""
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
    """The classes whose value can be read, by name."""
    return {name: found for name, value in objects.items() if (found := _class(name, value)) is not None}


def default(facts: Store) -> Class | None:
    """The class of pods that name none, NO_CLASS where there is none; None where it is not known."""
    objects = facts.objects(*CLASSES)
    if isinstance(objects, Absence):
        return NO_CLASS if objects is Absence.MISSING else None
    return facts.derived("default of PriorityClass", [CLASSES], lambda: default_of(objects))


def default_name(facts: Store, declared: str | None) -> str | None:
    """The name of that class, empty where there is none; None where it is not known.

    Args:
        facts: what is known of the cluster.
        declared: the name by usher.yaml, for where nothing is known of classes.
    """
    if not facts.knows(*CLASSES):
        return declared
    found = default(facts)
    return None if found is None else found.name


def default_of(objects: Mapping[str, paths.Object]) -> Class | None:
    """The class of pods that name none: of several defaults the one with the smallest value.

    None where `globalDefault` of any class cannot be read, or the value of a default.
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
    # A policy that cannot be read counts as one that does not preempt.
    return Class(name=name, value=number, preempts=value.get("preemptionPolicy") in (None, "PreemptLowerPriority"))
