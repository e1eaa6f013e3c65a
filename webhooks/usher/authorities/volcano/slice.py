"""The Volcano part of the Rego input: queues and PodGroups of a workload that keep it from starting."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths, quantities
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.slice_parts import REACHES, PartInput, UnreadableInput, parts_input, unreadable_input
from usher.authorities.verdict import Shortage
from usher.authorities.volcano import judge, read
from usher.authorities.volcano.judge import QueueVerdict, Standing
from usher.authorities.volcano.named_queues import DEFAULT_QUEUE, Named
from usher.authorities.volcano.read import FoundGroup
from usher.dataclass import dataclass
from usher.kinds.reading.shapes import Amount, amount_of
from usher.kinds.reading.values import Absence, Reference

_NOT_KNOWN = "not known"

ONLY_THESE_PODS: Final = "usher assumes that no other pods name this PodGroup"


class QueueShortageInput(TypedDict):
    """An amount that a queue can never give; `isAbove` marks a queue above the workload's own."""

    queue: str
    isAbove: bool
    resource: str
    verdict: str
    needs: Amount
    capability: Amount
    parts: NotRequired[list[PartInput]]
    assumption: NotRequired[str]
    ofPods: NotRequired[int]
    """The number of pods of a PodGroup, if the pods need this amount and not its minResources."""


class QueueInput(TypedDict):
    """A queue that the workload names, or its default; `standing` is `not known` where the queues are unknown."""

    name: str
    path: str
    standing: str
    state: NotRequired[str]
    shortages: NotRequired[list[QueueShortageInput]]
    assumption: NotRequired[str]


class GroupInput(TypedDict):
    """A PodGroup that templates name; `exists` is absent where the PodGroups are unknown."""

    name: str
    path: str
    exists: NotRequired[bool]
    minimum: NotRequired[int]
    """Its minMember; absent where it is not a number."""
    least: int
    """The fewest and the most pods of the workload that name it."""
    most: NotRequired[int]


class PodGroupObjectInput(TypedDict):
    """A PodGroup object whose queue is not usable or too small for its minResources.

    `standing` is `not known` where the queues are unknown.
    """

    queue: str
    path: str
    standing: str
    state: NotRequired[str]
    shortages: NotRequired[list[QueueShortageInput]]


class VolcanoInput(TypedDict):
    """The queues and PodGroups of a workload; queues without problems are left out."""

    queues: NotRequired[list[QueueInput]]
    groups: NotRequired[list[GroupInput]]
    unreadable: NotRequired[list[UnreadableInput]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupAsFound:
    """A PodGroup that a slice depends on. It changes with the pods of its workload."""

    reference: Reference
    value: paths.Object | Absence

    def still_holds(self, known: Knowledge) -> bool:
        return known.facts.find(self.reference) is self.value


def of(case: Case, known: Knowledge) -> VolcanoInput | None:
    """The queues and groups of a workload; None without any, and for objects that a controller made."""
    workload = case.workload
    if workload.owner is not None:
        return None
    placement, queues = read.placement(workload, known), read.queues(known.facts)
    case.grounds.extend(_GroupAsFound(reference=each.reference, value=each.value) for each in placement.groups)
    found: list[QueueInput] = []
    unreadable = [
        each for found_group in placement.groups if found_group.group for each in found_group.group.unreadable
    ]
    for named in placement.queues:
        if queues is None:
            if named.name != DEFAULT_QUEUE:
                found.append({"name": named.name, "path": named.path, "standing": _NOT_KNOWN})
            continue
        verdict = judge.judge(workload, named.name, queues, minimum=placement.minimum, resources=placement.resources)
        unreadable += verdict.unreadable
        if verdict.shortages or verdict.standing is not Standing.USABLE:
            found.append(_queue(named, verdict))
    result: VolcanoInput = {}
    if found:
        result["queues"] = found
    if placement.groups:
        result["groups"] = _groups(placement.groups)
    if unreadable:
        result["unreadable"] = unreadable_input(unreadable)
    return result or None


def of_group(case: Case, known: Knowledge) -> PodGroupObjectInput | None:
    """The problem of a PodGroup's queue; None where the queue is usable, and for other objects."""
    workload = case.workload
    if (workload.group, workload.kind) != read.POD_GROUP:
        return None
    named = workload.view.get("volcanoPodGroup", {}).get("spec", {}).get("queue", "")
    name, path = (named, "/spec/queue") if named else (DEFAULT_QUEUE, "/spec")
    queues = read.queues(known.facts)
    if queues is None:
        return {"queue": name, "path": path, "standing": _NOT_KNOWN} if named else None
    amounts = workload.view.get("volcanoPodGroup", {}).get("spec", {}).get("minResources", {})
    resources = {resource: quantities.parse(amount["text"]) for resource, amount in amounts.items()}
    verdict = judge.judge(workload, name, queues, resources=resources)
    shortages = [_shortage(each, name) for each in verdict.shortages]
    if case.beside.gang is not None:
        shortages += _of_pods(case.beside.gang, name, queues, besides=verdict.shortages)
    if verdict.standing is Standing.USABLE and not shortages:
        return None
    result: PodGroupObjectInput = {"queue": name, "path": path, "standing": verdict.standing.value}
    if verdict.state:
        result["state"] = verdict.state
    if shortages:
        result["shortages"] = shortages
    return result


def _of_pods(
    gang: model.Workload, name: str, queues: read.Queues, *, besides: Sequence[Shortage]
) -> Iterator[QueueShortageInput]:
    """The amounts that the pods of a PodGroup lack in its queue, beside those that its minResources lack."""
    lacking = {(each.of, each.resource) for each in besides}
    for each in judge.judge(gang, name, queues, minimum=gang.gang.minimum).shortages:
        if (each.of, each.resource) not in lacking:
            yield {"assumption": ONLY_THESE_PODS, **_shortage(each, name), "ofPods": len(gang.pod_sets)}


def _groups(groups: Iterable[FoundGroup]) -> list[GroupInput]:
    return [_group(each) for each in groups]


def _group(found: FoundGroup) -> GroupInput:
    named = found.named
    result: GroupInput = {"name": named.name, "path": named.path, "least": named.least}
    if named.most is not None:
        result["most"] = named.most
    if found.value is not Absence.NOT_KNOWN:
        result["exists"] = found.value is not Absence.MISSING
    if found.group is not None and found.group.minimum is not None:
        result["minimum"] = found.group.minimum
    return result


def _queue(named: Named, verdict: QueueVerdict) -> QueueInput:
    result: QueueInput = {"name": named.name, "path": named.path, "standing": verdict.standing.value}
    if verdict.state:
        result["state"] = verdict.state
    if verdict.shortages:
        result["shortages"] = [_shortage(each, verdict.queue) for each in verdict.shortages]
    if named.assumption:
        result["assumption"] = named.assumption
    return result


def _shortage(shortage: Shortage, queue: str) -> QueueShortageInput:
    result: QueueShortageInput = {
        "queue": shortage.of,
        "isAbove": shortage.of != queue,
        "resource": shortage.resource,
        "verdict": REACHES[shortage.reach],
        "needs": amount_of(shortage.needs),
        "capability": amount_of(shortage.most),
    }
    if shortage.parts:
        result["parts"] = parts_input(shortage.parts)
    if shortage.assumption:
        result["assumption"] = shortage.assumption
    return result
