"""The priority classes that a workload names."""

from collections.abc import Iterator
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.facts.store import Store
from usher.workloads.lookup import Absence, Reference

GROUP: Final = "scheduling.k8s.io"


class PriorityClass(TypedDict):
    """`exists` is absent where nothing is known of classes, and `value` where it cannot be read."""

    exists: NotRequired[bool]
    value: NotRequired[int]


class Priorities(TypedDict):
    classes: dict[str, PriorityClass]
    """By name: those that pod sets name, and the gang."""


def of(workload: model.Workload, facts: Store) -> Priorities | None:
    """What is known of the classes that a workload names; None where it names none."""
    names = sorted({*_named(workload)})
    return {"classes": {name: _class(name, facts) for name in names}} if names else None


def _named(workload: model.Workload) -> Iterator[str]:
    yield from (pod_set.priority_class_name for pod_set in workload.pod_sets if pod_set.priority_class_name)
    if workload.gang.priority_class:
        yield workload.gang.priority_class


def _class(name: str, facts: Store) -> PriorityClass:
    found = facts.find(Reference(group=GROUP, kind="PriorityClass", name=name))
    if isinstance(found, Absence):
        return {} if found is Absence.NOT_KNOWN else {"exists": False}
    value: paths.Json = found.get("value")
    return {"exists": True, "value": value} if type(value) is int else {"exists": True}
