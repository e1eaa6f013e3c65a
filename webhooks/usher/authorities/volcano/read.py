"""Reads Volcano's queues and PodGroups, and finds those that a workload names (docs/domain/volcano.md#routing)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from usher import model, paths, quantities
from usher.authorities import verdict
from usher.authorities.beside import GROUP_ANNOTATION
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Amounts, Unreadable
from usher.cluster.facts.store import Store
from usher.kinds import registry
from usher.kinds.kind import minimum_of_owner
from usher.kinds.reading.values import Absence, Reference
from usher.workloads.pod_sets import requests_of_pod

QUEUE_ANNOTATION: Final = "scheduling.volcano.sh/queue-name"

DEFAULT_QUEUE: Final = "default"


class Named(Struct, frozen=True, kw_only=True):
    """A queue or a PodGroup, and the place that names it."""

    name: str
    path: str
    assumption: str = ""
    """The condition under which Volcano reads this place."""


class NamedGroup(Named, frozen=True, kw_only=True):
    """A PodGroup, with the number of pods that name it."""

    least: int
    most: int | None
    """None where the number has no bound."""


def names_scheduler(workload: model.Workload, schedulers: Collection[str]) -> bool:
    """Whether the object or its runtime names Volcano as the scheduler of any pod."""
    return (
        workload.gang_native
        or workload.gang.scheduler == "volcano"
        or any(pod_set.scheduler.name in schedulers for pod_set in workload.pod_sets)
    )


def named_queues(workload: model.Workload, schedulers: Collection[str]) -> tuple[Named, ...]:
    """The queues that a workload names, each once; else its default queue.

    Args:
        schedulers: the scheduler names of Volcano.
    """
    placed = names_scheduler(workload, schedulers)
    named = {each.name: each for each in reversed([*_named_in_object(workload, placed=placed)])}
    if named or not placed:
        return tuple(named[name] for name in sorted(named))
    path = workload.gang_places.queue
    if path is not None and path.startswith("/spec/") and not workload.view:
        return ()  # The model does not have the fields of this kind, so it may name a queue.
    return (Named(name=DEFAULT_QUEUE, path=path or _scheduler_path(workload, schedulers)),)


def _named_in_object(workload: model.Workload, *, placed: bool) -> Iterator[Named]:
    place = workload.gang_places.queue
    if place is not None:
        name = _text_at(workload, place)
        others = {pod_set.scheduler.name for pod_set in workload.pod_sets}.difference(("", "default-scheduler"))
        elsewhere = not placed and bool(others)
        if name and not elsewhere:
            assumption = "" if placed else f"the operator of {workload.kind}s makes gangs on Volcano"
            yield Named(name=name, path=place, assumption=assumption)
            return
    holders = [("/metadata", workload.annotations)]
    holders += [(pod_set.metadata_path, pod_set.annotations) for pod_set in workload.pod_sets]
    for path, annotations in holders:
        name = annotations.get(QUEUE_ANNOTATION, "")
        if name and placed:
            yield Named(name=name, path=paths.join(path, "annotations", QUEUE_ANNOTATION))


def _text_at(workload: model.Workload, place: str) -> str:
    """The text at a place of the object; empty where the model does not have it."""
    holder, _, _ = place.rpartition("/")
    key = paths.split(place)[-1]
    for pod_set in workload.pod_sets:
        if holder == f"{pod_set.metadata_path}/annotations":
            return pod_set.annotations.get(key, "")
    if holder == "/metadata/labels":
        return workload.labels.get(key, "")
    if holder == "/metadata/annotations":
        return workload.annotations.get(key, "")
    for shape in workload.view.values():
        try:
            found = paths.resolve(shape, place)
        except LookupError:
            continue
        return found if isinstance(found, str) else ""
    return ""


def _scheduler_path(workload: model.Workload, schedulers: Collection[str]) -> str:
    for pod_set in workload.pod_sets:
        if pod_set.scheduler.name in schedulers:
            return pod_set.places.get("schedulerName", f"{pod_set.spec_path}/schedulerName")
    return paths.ROOT


def named_groups(workload: model.Workload) -> tuple[NamedGroup, ...]:
    """The PodGroups that templates name; empty for an object with an owner, because its controller sets the name."""
    if workload.owner is not None:
        return ()
    found: dict[str, list[model.PodSet]] = {}
    for pod_set in workload.pod_sets:
        name = pod_set.annotations.get(GROUP_ANNOTATION, "")
        if name:
            found.setdefault(name, []).append(pod_set)
    return tuple(_named_group(name, pod_sets) for name, pod_sets in sorted(found.items()))


def _named_group(name: str, pod_sets: list[model.PodSet]) -> NamedGroup:
    maxima = [pod_set.count.maximum for pod_set in pod_sets]
    bounded = [maximum for maximum in maxima if maximum is not None]
    return NamedGroup(
        name=name,
        path=paths.join(pod_sets[0].metadata_path, "annotations", GROUP_ANNOTATION),
        least=sum(pod_set.count.minimum for pod_set in pod_sets),
        most=sum(bounded) if len(bounded) == len(maxima) else None,
    )


QUEUE: Final = ("scheduling.volcano.sh", "Queue")
POD_GROUP: Final = ("scheduling.volcano.sh", "PodGroup")

_INT32: Final = range(-(2**31), 2**31)

_DEFAULT_MINIMUM: Final = 0
"""The default of `minMember` (VC:staging/src/volcano.sh/apis/pkg/apis/scheduling/v1beta1/types.go)."""


class Queue(Struct, frozen=True, kw_only=True):
    name: str
    parent: str
    state: str
    """Empty where Volcano has not written it yet."""
    capability: Amounts
    guarantee: Amounts
    unreadable: tuple[Unreadable, ...]


class Queues(Struct, frozen=True, kw_only=True):
    by_name: Mapping[str, Queue]
    parents: frozenset[str]
    """The names of queues that are parents of others."""


class PodGroup(Struct, frozen=True, kw_only=True):
    """A PodGroup; unreadable fields are None."""

    queue: str | None
    """Empty where the PodGroup does not name a queue."""
    minimum: int | None
    resources: Amounts
    """Its minResources. Volcano starts the gang only once the queue has room for them."""
    unreadable: tuple[Unreadable, ...]


class FoundGroup(Struct, frozen=True, kw_only=True):
    """A PodGroup that templates name."""

    named: NamedGroup
    reference: Reference
    value: paths.Object | Absence
    group: PodGroup | None
    """None where it does not exist, or is unknown."""


class Placement(Struct, frozen=True, kw_only=True):
    """The PodGroups and queues of a workload."""

    groups: Sequence[FoundGroup]
    queues: Sequence[Named]
    minimum: int | None
    """How many pods start together, where a PodGroup sets it."""
    resources: Amounts
    """The minResources of that PodGroup."""


def queues_of_cluster(facts: Store) -> Queues | None:
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
        source = verdict.SourceObject(f"Queue {name}", value)
        found[name] = Queue(
            name=name,
            parent=source.text("/spec/parent"),
            state=source.text("/status/state"),
            capability=source.amounts("/spec/capability"),
            guarantee=source.amounts("/spec/guarantee/resource"),
            unreadable=tuple(source.unreadable),
        )
    return Queues(by_name=found, parents=frozenset(queue.parent for queue in found.values() if queue.parent))


def allocated_amounts(name: str, facts: Store) -> Amounts | None:
    """The resources of the pods in a queue; None where its status does not state them.

    It is read from the object each time, because it changes without a new revision.
    """
    group, kind = QUEUE
    found = facts.find(Reference(group=group, kind=kind, name=name))
    if isinstance(found, Absence):
        return None
    source = verdict.SourceObject(of=f"Queue {name}", value=found)
    amounts = source.amounts("/status/allocated")
    return None if source.unreadable or source.at("/status/allocated") is None else amounts


def find_placement(workload: model.Workload, known: Knowledge, *, shared: Collection[str] = ()) -> Placement:
    """The PodGroups and queues that a workload names.

    Args:
        shared: the names of PodGroups that other objects name as well.
    """
    schedulers = {"volcano", *(route.name for route in known.config.routing if route.scheduler == "volcano")}
    groups = [_find_group(each, workload, known.facts) for each in named_groups(workload)]
    there = [each.group for each in groups if each.group is not None]
    minimum = _minimum_without_group(workload)
    resources = _reserved_by_operator(workload, schedulers)
    if groups:
        # A minimum that usher cannot read counts as 0: the verdict "never" is then right for every minimum. Pods of
        # other objects may fill a group that they share.
        minimum = 0
    if len(groups) == 1 and there:
        minimum = 0 if groups[0].named.name in shared else there[0].minimum or 0
        resources = there[0].resources
    return Placement(
        groups=groups,
        queues=[*_queues_of_groups(groups)] if there else named_queues(workload, schedulers),
        minimum=minimum,
        resources=resources,
    )


def _minimum_without_group(workload: model.Workload) -> int | None:
    """How many pods the PodGroup waits for that Volcano makes for the owner of pods; None for other kinds.

    Source: VC:pkg/controllers/podgroup/pg_controller_handler.go buildPodGroupFromPod.
    """
    kind = registry.PODS.get((workload.group, workload.kind))
    if workload.is_pod:
        return 1
    return (minimum_of_owner(workload.annotations) or 1) if kind is not None and kind.minimum_from else None


def _reserved_by_operator(workload: model.Workload, schedulers: Collection[str]) -> Amounts:
    """The minResources that an operator gives its PodGroup.

    The Spark operator gives an application cpu and memory of all its pods, and `batchSchedulerOptions.resources`
    replaces them (SP:internal/scheduler/volcano/scheduler.go, SP:pkg/util). KubeRay gives a cluster with a label for
    Volcano all that its head and its workers ask for (KR:ray-operator/controllers/ray/batchscheduler/volcano).
    """
    if workload.group == "ray.io":
        by_volcano = QUEUE_LABEL in workload.labels or workload.labels.get("ray.io/scheduler-name") == "volcano"
        return _of_all_pods(workload, None) if by_volcano and workload.kind == "RayCluster" else {}
    spec = workload.view.get("sparkApplication", {}).get("spec")
    if spec is None or not names_scheduler(workload, schedulers):
        return {}
    given = spec.get("batchSchedulerOptions", {}).get("resources", {})
    if given:
        return {name: quantities.parse(amount["text"]) for name, amount in given.items()}
    return _of_all_pods(workload, _RESERVED, executors=_first_executors(spec))


def _of_all_pods(workload: model.Workload, only: Collection[str] | None, *, executors: int | None = None) -> Amounts:
    totals: dict[str, quantities.Quantity] = {}
    for pod_set in workload.pod_sets:
        amounts = requests_of_pod(pod_set.containers, overhead={}, pod_requests={}, pod_limits={}, only=only)
        pods = pod_set.count.minimum if executors is None or pod_set.name != "executor" else executors
        for name, amount in amounts.items():
            totals[name] = totals.get(name, quantities.ZERO) + amount * pods
    return totals


_RESERVED: Final = ("cpu", "memory")
QUEUE_LABEL: Final = "volcano.sh/queue-name"


def _first_executors(spec: Mapping[str, Any]) -> int:
    dynamic = spec.get("dynamicAllocation", {})
    instances: int | None = spec.get("executor", {}).get("instances")
    if not dynamic.get("enabled"):
        return 2 if instances is None else instances
    first: int = max(instances or 0, dynamic.get("initialExecutors", 0), dynamic.get("minExecutors", 0))
    return first


def _find_group(named: NamedGroup, workload: model.Workload, facts: Store) -> FoundGroup:
    group, kind = POD_GROUP
    reference = Reference(group=group, kind=kind, name=named.name, namespace=workload.namespace)
    value = facts.find(reference)
    found = None if isinstance(value, Absence) else read_pod_group(named.name, value)
    return FoundGroup(named=named, reference=reference, value=value, group=found)


def _queues_of_groups(groups: Sequence[FoundGroup]) -> Iterator[Named]:
    """The queues of the existing PodGroups. They count before any other queue that the workload names."""
    for each in groups:
        if each.group is not None and each.group.queue is not None:
            yield Named(name=each.group.queue or DEFAULT_QUEUE, path=each.named.path)


def read_pod_group(name: str, value: paths.Object) -> PodGroup:
    """The fields of a PodGroup."""
    source = verdict.SourceObject(f"PodGroup {name}", value)
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
