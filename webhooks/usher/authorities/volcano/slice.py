"""The queues and PodGroups of Volcano that a workload names, as far as they stand in its way."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.authorities import resource_lists
from usher.authorities.resource_quota.slice import Part, Unreadable, part_document
from usher.authorities.volcano import judge, named_queues
from usher.config import models
from usher.facts.store import Store
from usher.reading.lookup import Absence, Reference
from usher.reading.shapes import Amount, amount_of

QUEUE: Final = ("scheduling.volcano.sh", "Queue")
_GROUP: Final = ("scheduling.volcano.sh", "PodGroup")


class Shortage(TypedDict):
    """What a queue can never give; `isAbove` where it is one above the workload's."""

    queue: str
    isAbove: bool
    resource: str
    verdict: str
    needs: Amount
    capability: Amount
    parts: NotRequired[list[Part]]
    assumption: NotRequired[str]


class Queue(TypedDict):
    """A queue that the workload names, or gets; `standing` is `not known` without queues among the facts."""

    name: str
    path: str
    standing: str
    state: NotRequired[str]
    shortages: NotRequired[list[Shortage]]
    assumption: NotRequired[str]


class Group(TypedDict):
    """A PodGroup that templates name; `exists` is absent where nothing is known of any."""

    name: str
    path: str
    exists: NotRequired[bool]
    minimum: NotRequired[int]
    """Its minMember; absent where it is no number."""
    least: int
    """Pods of the workload that name it, at its smallest and at its largest."""
    most: NotRequired[int]


class PodGroupObject(TypedDict):
    """The queue of a PodGroup itself, where something is wrong with it; `not known` without queues among the facts."""

    queue: str
    path: str
    standing: str
    state: NotRequired[str]


class Volcano(TypedDict):
    """Queues in which nothing stands in the way are left out."""

    queues: NotRequired[list[Queue]]
    groups: NotRequired[list[Group]]
    unreadable: NotRequired[list[Unreadable]]


def of(workload: model.Workload, facts: Store, config: models.Config) -> Volcano | None:
    """What is known of a workload's queues and groups; None where there are none, and for what a controller made."""
    if workload.owner is not None:
        return None
    seen = _seen(workload, facts, config)
    known = queues_of(facts)
    result: Volcano = {}
    queues: list[Queue] = []
    unreadable = [_unreadable(each) for group in seen.there.values() for each in group.unreadable]
    for each in seen.queues:
        if known is None:
            if each.name != named_queues.DEFAULT_QUEUE:
                queues.append({"name": each.name, "path": each.path, "standing": "not known"})
            continue
        found = judge.assess(workload, each.name, known, minimum=seen.minimum)
        unreadable += map(_unreadable, found.unreadable)
        if found.shortages or found.standing is not judge.Standing.USABLE:
            queues.append(_queue(each, found))
    if queues:
        result["queues"] = queues
    if seen.groups:
        result["groups"] = seen.groups
    if unreadable:
        result["unreadable"] = unreadable
    return result or None


def of_group(workload: model.Workload, facts: Store) -> PodGroupObject | None:
    """What is wrong with the queue of a PodGroup; None where nothing is, and for other objects."""
    if (workload.group, workload.kind) != _GROUP:
        return None
    named = workload.view.get("volcanoPodGroup", {}).get("spec", {}).get("queue", "")
    name, path = (named, "/spec/queue") if named else (named_queues.DEFAULT_QUEUE, "/spec")
    known = queues_of(facts)
    if known is None:
        return {"queue": name, "path": path, "standing": "not known"} if named else None
    found = judge.assess(workload, name, known)
    if found.standing is judge.Standing.USABLE:
        return None
    result: PodGroupObject = {"queue": name, "path": path, "standing": found.standing.value}
    if found.state:
        result["state"] = found.state
    return result


def assessed(
    workload: model.Workload, facts: Store, config: models.Config
) -> Iterator[tuple[named_queues.Named, judge.Assessment | None]]:
    """The queues of a workload, each with what stands in its way there; None where nothing is known of any queue."""
    seen, known = _seen(workload, facts, config), queues_of(facts)
    for each in seen.queues:
        yield each, None if known is None else judge.assess(workload, each.name, known, minimum=seen.minimum)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What a workload names."""

    groups: list[Group]
    there: Mapping[str, judge.PodGroup]
    """Of these the ones that are in the cluster, by name."""
    queues: Sequence[named_queues.Named]
    minimum: int | None
    """How many pods start together where its PodGroup says it."""


def _seen(workload: model.Workload, facts: Store, config: models.Config) -> _Seen:
    schedulers = {"volcano", *(route.name for route in config.routing if route.scheduler == "volcano")}
    named = list(named_queues.groups(workload))
    found = {each.name: _found(each.name, workload, facts) for each in named}
    there = {name: judge.pod_group(name, value) for name, value in found.items() if not isinstance(value, Absence)}
    groups = [_group(each, found[each.name], there.get(each.name)) for each in named]
    return _Seen(
        groups=groups,
        there=there,
        queues=[*_of_groups(groups, there)] if there else named_queues.queues(workload, schedulers),
        # Of a minimum that cannot be read the least is taken, so that what never fits never fits.
        minimum=groups[0].get("minimum", 0) if len(groups) == 1 and there else None,
    )


def queues_of(facts: Store) -> judge.Queues | None:
    """All queues of Volcano; None where nothing is known of them."""
    objects = facts.objects(*QUEUE)
    if objects is Absence.NOT_KNOWN:
        return None
    known = {} if isinstance(objects, Absence) else objects
    return facts.derived("queues of Volcano", [QUEUE], lambda: judge.read_queues(known))


def _group(named: named_queues.NamedGroup, found: paths.Object | Absence, group: judge.PodGroup | None) -> Group:
    result: Group = {"name": named.name, "path": named.path, "least": named.least}
    if named.most is not None:
        result["most"] = named.most
    if found is not Absence.NOT_KNOWN:
        result["exists"] = found is not Absence.MISSING
    if group is not None and group.minimum is not None:
        result["minimum"] = group.minimum
    return result


def _of_groups(groups: list[Group], there: Mapping[str, judge.PodGroup]) -> Iterator[named_queues.Named]:
    """The queues of the PodGroups that are there: these count, whatever the workload names beside them."""
    for group in groups:
        found = there.get(group["name"])
        if found is not None and found.queue is not None:
            yield named_queues.Named(name=found.queue or named_queues.DEFAULT_QUEUE, path=group["path"])


def _unreadable(each: resource_lists.Unreadable) -> Unreadable:
    return {"of": each.of, "field": each.field, "reason": each.reason}


def _found(name: str, workload: model.Workload, facts: Store) -> paths.Object | Absence:
    group, kind = _GROUP
    return facts.find(Reference(group=group, kind=kind, name=name, namespace=workload.namespace))


def _queue(named: named_queues.Named, found: judge.Assessment) -> Queue:
    result: Queue = {"name": named.name, "path": named.path, "standing": found.standing.value}
    if found.state:
        result["state"] = found.state
    if found.shortages:
        result["shortages"] = [_shortage(each) for each in found.shortages]
    if named.assumption:
        result["assumption"] = named.assumption
    return result


def _shortage(shortage: judge.Shortage) -> Shortage:
    result: Shortage = {
        "queue": shortage.queue,
        "isAbove": shortage.is_above,
        "resource": shortage.resource,
        "verdict": shortage.verdict.value,
        "needs": amount_of(shortage.needs),
        "capability": amount_of(shortage.capability),
    }
    if shortage.parts:
        result["parts"] = [part_document(part) for part in shortage.parts]
    if shortage.assumption:
        result["assumption"] = shortage.assumption
    return result
