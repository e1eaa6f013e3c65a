"""Reads Volcano's queues and PodGroups in the cluster, and those that a workload names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from usher import model, paths
from usher.authorities import resource_lists
from usher.authorities.knowledge import Knowledge
from usher.authorities.resource_lists import Amounts, Unreadable
from usher.authorities.volcano import named_queues
from usher.authorities.volcano.named_queues import DEFAULT_QUEUE, Named, NamedGroup
from usher.cluster.facts.store import Store
from usher.dataclass import dataclass
from usher.kinds.reading.values import Absence, Reference

QUEUE: Final = ("scheduling.volcano.sh", "Queue")
POD_GROUP: Final = ("scheduling.volcano.sh", "PodGroup")

_INT32: Final = range(-(2**31), 2**31)

_DEFAULT_MINIMUM: Final = 0
"""The default of `minMember` (VC:staging/src/volcano.sh/apis/pkg/apis/scheduling/v1beta1/types.go)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    name: str
    parent: str
    state: str
    """Empty where Volcano has not written it yet."""
    capability: Amounts
    unreadable: tuple[Unreadable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queues:
    by_name: Mapping[str, Queue]
    parents: frozenset[str]
    """The names of queues that are parents of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGroup:
    """A PodGroup; unreadable fields are None."""

    queue: str | None
    """Empty where the PodGroup does not name a queue."""
    minimum: int | None
    resources: Amounts
    """Its minResources. Volcano starts the gang only once the queue has room for them."""
    unreadable: tuple[Unreadable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroup:
    """A PodGroup that templates name."""

    named: NamedGroup
    reference: Reference
    value: paths.Object | Absence
    group: PodGroup | None
    """None where it does not exist, or is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The PodGroups and queues of a workload."""

    groups: Sequence[FoundGroup]
    queues: Sequence[Named]
    minimum: int | None
    """How many pods start together, where a PodGroup sets it."""
    resources: Amounts
    """The minResources of that PodGroup."""


def queues(facts: Store) -> Queues | None:
    """All queues of Volcano; None where they are unknown."""
    objects = facts.objects(*QUEUE)
    if objects is Absence.NOT_KNOWN:
        return None
    known = {} if isinstance(objects, Absence) else objects
    return facts.derived("queues of Volcano", [QUEUE], lambda: read_queues(known))


def read_queues(objects: Mapping[str, paths.Object]) -> Queues:
    """All queues of a cluster, by name."""
    found = {}
    for name, value in objects.items():
        source = resource_lists.Source(f"Queue {name}", value)
        found[name] = Queue(
            name=name,
            parent=source.text("/spec/parent"),
            state=source.text("/status/state"),
            capability=source.amounts("/spec/capability"),
            unreadable=tuple(source.unreadable),
        )
    return Queues(by_name=found, parents=frozenset(queue.parent for queue in found.values() if queue.parent))


def allocated(name: str, facts: Store) -> Amounts | None:
    """The resources of the pods in a queue; None where its status does not state them.

    It is read from the object each time, because it changes without a new revision.
    """
    group, kind = QUEUE
    found = facts.find(Reference(group=group, kind=kind, name=name))
    if isinstance(found, Absence):
        return None
    source = resource_lists.Source(of=f"Queue {name}", value=found)
    amounts = source.amounts("/status/allocated")
    return None if source.unreadable or source.at("/status/allocated") is None else amounts


def placement(workload: model.Workload, known: Knowledge) -> Placement:
    """The PodGroups and queues that a workload names."""
    schedulers = {"volcano", *(route.name for route in known.config.routing if route.scheduler == "volcano")}
    groups = [_found(each, workload, known.facts) for each in named_queues.groups(workload)]
    there = [each.group for each in groups if each.group is not None]
    minimum: int | None = None
    resources: Amounts = {}
    if len(groups) == 1 and there:
        # An unreadable minimum counts as 0: the verdict "never" is then right for every minimum.
        minimum = there[0].minimum or 0
        resources = there[0].resources
    return Placement(
        groups=groups,
        queues=[*_of_groups(groups)] if there else named_queues.queues(workload, schedulers),
        minimum=minimum,
        resources=resources,
    )


def _found(named: NamedGroup, workload: model.Workload, facts: Store) -> FoundGroup:
    group, kind = POD_GROUP
    reference = Reference(group=group, kind=kind, name=named.name, namespace=workload.namespace)
    value = facts.find(reference)
    found = None if isinstance(value, Absence) else pod_group(named.name, value)
    return FoundGroup(named=named, reference=reference, value=value, group=found)


def _of_groups(groups: Sequence[FoundGroup]) -> Iterator[Named]:
    """The queues of the existing PodGroups. They count before any other queue that the workload names."""
    for each in groups:
        if each.group is not None and each.group.queue is not None:
            yield Named(name=each.group.queue or DEFAULT_QUEUE, path=each.named.path)


def pod_group(name: str, value: paths.Object) -> PodGroup:
    """The fields of a PodGroup."""
    source = resource_lists.Source(f"PodGroup {name}", value)
    queue: str | None = source.text("/spec/queue")
    if source.unreadable:
        queue = None
    minimum = source.at("/spec/minMember")
    is_number = type(minimum) is int and minimum in _INT32
    if minimum is not None and not is_number:
        source.unknown("/spec/minMember", "is not a whole number of 32 bits")
    elif minimum is None and not source.unreadable:
        minimum, is_number = _DEFAULT_MINIMUM, True
    return PodGroup(
        queue=queue,
        minimum=minimum if isinstance(minimum, int) and is_number else None,
        resources=source.amounts("/spec/minResources"),
        unreadable=tuple(source.unreadable),
    )
