"""The queues and PodGroups of Volcano for a workload: whether it would ever start, for Rego and `usher queue`.

Volcano accepts a Job only in an Open leaf queue (pkg/webhooks/admission/jobs/validate/admit_job.go of
volcano-sh/volcano). The `capability` of its queue limits the Job. The capability of each queue above limits it too, if
the scheduler's plugin capacity uses parents (pkg/scheduler/plugins/capacity, pkg/scheduler/plugins/proportion).
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import islice, pairwise
from types import MappingProxyType
from typing import Final, NamedTuple, NotRequired

from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths, quantities
from usher.authorities import limit_range
from usher.authorities import verdict as authorities_verdict
from usher.authorities.authority import Balance, Case, Elsewhere, LimitedResource, Section
from usher.authorities.knowledge import Knowledge
from usher.authorities.pod_groups import GroupAsFound
from usher.authorities.verdict import (
    REACHES,
    Amounts,
    Answer,
    PartInput,
    Reach,
    Shortage,
    Unreadable,
    UnreadableInput,
    Verdict,
    parts_input,
    unreadable_input,
    worst,
)
from usher.authorities.volcano import read
from usher.authorities.volcano.read import DEFAULT_QUEUE, FoundGroup, Named, Placement, Queue, Queues
from usher.cluster.facts import nodes
from usher.cluster.facts.store import Store
from usher.kinds.reading.shapes import Amount, amount_of
from usher.kinds.reading.values import Absence
from usher.workloads import pod_sets

ROOT: Final = "root"
"""The queue above all others; it takes no jobs."""

OPEN: Final = "Open"

_MOST_ANCESTORS: Final = 16

_NOTHING: Final[Amounts] = MappingProxyType({})

_NOT_COUNTED: Final = "pods"
"""Volcano compares no number of pods with a capability (pkg/scheduler/api/resource_info.go ignoredScalarResources)."""

_UNLIMITED_AT_ZERO: Final = frozenset({"cpu", "memory"})
"""A capability of 0 does not limit these resources (pkg/scheduler/plugins/capacity buildQueueAttrs)."""


class Standing(StrEnum):
    """Why a queue takes no jobs; USABLE if it takes jobs."""

    USABLE = "usable"
    MISSING = "missing"
    ROOT = "root"
    NOT_LEAF = "not a leaf"
    NOT_OPEN = "not open"


class QueueVerdict(Verdict, frozen=True, kw_only=True):
    """The verdict of a queue. Shortages of the queues above it count only if the scheduler uses parents."""

    queue: str
    standing: Standing
    state: str = ""
    limited: tuple[LimitedResource, ...] = ()
    """The limited resources of the queue and of the queues above it, with or without enough room."""
    unreadable: tuple[Unreadable, ...] = ()


def judge(  # noqa: PLR0913 - all that decides about one queue
    workload: model.Workload,
    name: str,
    queues: Queues,
    *,
    minimum: int | None = None,
    resources: Amounts = _NOTHING,
    admitted: model.Workload | None = None,
) -> QueueVerdict:
    """The verdict of a queue on a workload.

    Args:
        admitted: the workload as the API server admits its pods; None for the workload itself.
        minimum: how many pods start together, where a PodGroup sets it.
        resources: the minResources of that PodGroup.
    """
    queue = queues.by_name.get(name)
    if queue is None:
        standing = Standing.ROOT if name == ROOT else Standing.MISSING
        return QueueVerdict(queue=name, answer=_answer_for_standing(standing), standing=standing)
    chain, problems = _with_ancestors(queue, queues)
    takes = _Takes(_amounts_of_pod_sets(workload), _amounts_of_pod_sets(admitted or workload))
    limited = [each for one in chain for each in _limited(workload, one, takes, minimum, resources)]
    shortages = [each for one in limited for each in one.shortages() if each.reach in (Reach.START, Reach.ALL)]
    unreadable = (*(each for one in chain for each in one.unreadable), *problems)
    standing = _standing(queue, queues)
    answers = [_answer_for_standing(standing), *(_answer_for_shortage(each, name) for each in shortages)]
    return QueueVerdict(
        queue=name,
        answer=worst([*answers, *(Answer.UNKNOWN for _ in unreadable)]),
        shortages=tuple(shortages),
        unknowns=tuple(map(str, unreadable)),
        standing=standing,
        state=queue.state,
        limited=tuple(limited),
        unreadable=unreadable,
    )


def _answer_for_standing(standing: Standing) -> Answer:
    if standing is Standing.USABLE:
        return Answer.COULD
    return Answer.NEVER if standing is Standing.ROOT else Answer.NOT_NOW


def _answer_for_shortage(shortage: Shortage, queue: str) -> Answer:
    if shortage.reach is Reach.ALL:
        return Answer.COULD
    # The facts do not show whether the scheduler uses parents.
    return Answer.UNKNOWN if shortage.of != queue or shortage.assumption else Answer.NEVER


def _standing(queue: Queue, queues: Queues) -> Standing:
    if queue.name == ROOT:
        return Standing.ROOT
    if queue.name in queues.parents:
        return Standing.NOT_LEAF
    return Standing.USABLE if queue.state in {"", OPEN} else Standing.NOT_OPEN


def _with_ancestors(queue: Queue, queues: Queues) -> tuple[list[Queue], list[Unreadable]]:
    """The queue and all queues above it, and problems on the way up. The root does not need an object."""
    chain = [queue]
    while (parent := chain[-1].parent) and parent != ROOT:
        above = queues.by_name.get(parent)
        if above is None or above in chain or len(chain) > _MOST_ANCESTORS:
            reason = f"names {parent}, which does not exist" if above is None else "leads in a circle, or too far"
            return chain, [Unreadable(of=f"Queue {chain[-1].name}", field="spec.parent", reason=reason)]
        chain.append(above)
    root = queues.by_name.get(ROOT)
    return ([*chain, root] if root is not None and root not in chain else chain), []


def _amounts_of_pod_sets(workload: model.Workload) -> Sequence[Amounts]:
    """The amounts that one pod of each pod set takes."""
    return [
        pod_sets.requests_of_pod(
            pod_set.containers,
            overhead=pod_set.overhead,
            pod_requests=pod_set.pod_requests,
            pod_limits=pod_set.pod_limits,
        )
        for pod_set in workload.pod_sets
    ]


class _Takes(NamedTuple):
    """The amounts that one pod of each pod set takes."""

    written: Sequence[Amounts]
    """By the template, from which Volcano's controller computes what must be free before it makes any pods."""
    admitted: Sequence[Amounts]
    """By the pods, with overhead and defaults (VC:pkg/scheduler/api/pod_info.go GetPodResourceRequest)."""


def _limited(
    workload: model.Workload, queue: Queue, takes: _Takes, minimum: int | None, resources: Amounts
) -> Iterator[LimitedResource]:
    for resource, capability in sorted(queue.capability.items()):
        if resource == _NOT_COUNTED or (resource in _UNLIMITED_AT_ZERO and capability <= quantities.ZERO):
            continue
        written, admitted = ([amounts.get(resource, quantities.ZERO) for amounts in each] for each in takes)
        demand = authorities_verdict.demand_of_workload(workload, written, minimum=minimum)
        if admitted != written:
            # The scheduler takes the pods in any order, so the smallest ones count.
            least_pods = authorities_verdict.gang_minimum(workload) if minimum is None else minimum
            of_pods = authorities_verdict.demand_of_workload(workload, admitted, minimum=least_pods)
            demand = of_pods if of_pods.starts > demand.starts else replace(of_pods, starts=demand.starts)
        least = resources.get(resource, quantities.ZERO)
        if least > demand.starts:
            demand = replace(demand, starts=least, is_gang=True)
        yield LimitedResource(of=queue.name, resource=resource, demand=demand, most=capability)


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
    """The fewest and the most pods of the workload that name it; no most where other objects name it as well."""
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


def input_slice(case: Case, known: Knowledge) -> VolcanoInput | None:
    """The queues and groups of a workload; None without any, and for objects that a controller made."""
    workload = case.workload
    if workload.owner is not None:
        return None
    placement = read.find_placement(workload, known, shared=case.beside.shared_groups)
    queues = read.queues_of_cluster(known.facts)
    case.grounds.extend(GroupAsFound(reference=each.reference, value=each.value) for each in placement.groups)
    found: list[QueueInput] = []
    unreadable = [
        each for found_group in placement.groups if found_group.group for each in found_group.group.unreadable
    ]
    for named in placement.queues:
        if queues is None:
            if named.name != DEFAULT_QUEUE:
                found.append({"name": named.name, "path": named.path, "standing": _NOT_KNOWN})
            continue
        verdict = _judge_named(case, known, named, queues, placement)
        unreadable += verdict.unreadable
        if verdict.shortages or verdict.standing is not Standing.USABLE:
            found.append(_queue_input(named, verdict))
    result: VolcanoInput = paths.given(
        queues=found,
        groups=[
            _group_input(each, is_shared=each.named.name in case.beside.shared_groups) for each in placement.groups
        ],
        unreadable=unreadable_input(unreadable),
    )
    return result or None


def _judge_named(case: Case, known: Knowledge, named: Named, queues: Queues, placement: Placement) -> QueueVerdict:
    return judge(
        case.workload,
        named.name,
        queues,
        minimum=placement.minimum,
        resources=placement.resources,
        admitted=limit_range.as_admitted(case.workload, known.facts),
    )


def pod_group_slice(case: Case, known: Knowledge) -> PodGroupObjectInput | None:
    """The problem of a PodGroup's queue; None where the queue is usable, and for other objects."""
    workload = case.workload
    if (workload.group, workload.kind) != read.POD_GROUP:
        return None
    named = workload.view.get("volcanoPodGroup", {}).get("spec", {}).get("queue", "")
    name, path = (named, "/spec/queue") if named else (DEFAULT_QUEUE, "/spec")
    queues = read.queues_of_cluster(known.facts)
    if queues is None:
        return {"queue": name, "path": path, "standing": _NOT_KNOWN} if named else None
    amounts = workload.view.get("volcanoPodGroup", {}).get("spec", {}).get("minResources", {})
    resources = {resource: quantities.parse(amount["text"]) for resource, amount in amounts.items()}
    verdict = judge(workload, name, queues, resources=resources)
    shortages = [_shortage_input(each, name) for each in verdict.shortages]
    if case.beside.gang is not None:
        shortages += _shortage_of_pods(case.beside.gang, name, queues, besides=verdict.shortages)
    if verdict.standing is Standing.USABLE and not shortages:
        return None
    result: PodGroupObjectInput = {"queue": name, "path": path, "standing": verdict.standing.value}
    result.update(paths.given(state=verdict.state, shortages=shortages))
    return result


def _shortage_of_pods(
    gang: model.Workload, name: str, queues: read.Queues, *, besides: Sequence[Shortage]
) -> Iterator[QueueShortageInput]:
    """The amounts that the pods of a PodGroup lack in its queue, beside those that its minResources lack."""
    lacking = {(each.of, each.resource) for each in besides}
    for each in judge(gang, name, queues, minimum=gang.gang.minimum).shortages:
        if (each.of, each.resource) not in lacking:
            yield {"assumption": ONLY_THESE_PODS, **_shortage_input(each, name), "ofPods": len(gang.pod_sets)}


def _group_input(found: FoundGroup, *, is_shared: bool) -> GroupInput:
    named = found.named
    result: GroupInput = {"name": named.name, "path": named.path, "least": named.least}
    if named.most is not None and not is_shared:
        result["most"] = named.most
    if found.value is not Absence.NOT_KNOWN:
        result["exists"] = found.value is not Absence.MISSING
    if found.group is not None and found.group.minimum is not None:
        result["minimum"] = found.group.minimum
    return result


def _queue_input(named: Named, verdict: QueueVerdict) -> QueueInput:
    result: QueueInput = {"name": named.name, "path": named.path, "standing": verdict.standing.value}
    shortages = [_shortage_input(each, verdict.queue) for each in verdict.shortages]
    result.update(paths.given(state=verdict.state, shortages=shortages, assumption=named.assumption))
    return result


def _shortage_input(shortage: Shortage, queue: str) -> QueueShortageInput:
    result: QueueShortageInput = {
        "queue": shortage.of,
        "isAbove": shortage.of != queue,
        "resource": shortage.resource,
        "verdict": REACHES[shortage.reach],
        "needs": amount_of(shortage.needs),
        "capability": amount_of(shortage.most),
    }
    result.update(paths.given(parts=parts_input(shortage.parts), assumption=shortage.assumption))
    return result


_AUTHORITY: Final = "Volcano"

_MOST: Final = 16
"""How many other queues are tried."""


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section for each queue of a workload; no section where Volcano does not place it."""
    workload = case.workload
    if workload.owner is not None:
        return
    placement = read.find_placement(workload, known, shared=case.beside.shared_groups)
    queues = read.queues_of_cluster(known.facts)
    never = _minimum_above_all_pods(workload, placement)
    for named in placement.queues:
        if queues is not None:
            verdict = _judge_named(case, known, named, queues, placement)
            section = _held_back(_section(named, verdict, known.facts), verdict, placement, queues, known.facts)
            unsure = [_depends_on_order(workload, verdict, placement), *_kept_by_siblings(verdict, queues)]
            if section.answer is not Answer.NEVER and any(unsure):
                answer = worst([section.answer, Answer.UNKNOWN])
                section = replace(section, answer=answer, reasons=(*section.reasons, *filter(None, unsure)))
            if section.answer is not Answer.COULD:
                section = replace(section, elsewhere=tuple(_other_queues(workload, queues, besides=named.name)))
            yield replace(section, answer=Answer.NEVER, reasons=(never, *section.reasons)) if never else section
        elif never:
            yield Section(authority=_AUTHORITY, way=(f"Queue {named.name}",), answer=Answer.NEVER, reasons=(never,))
        elif named.name != DEFAULT_QUEUE:
            reason = "the queues of Volcano are not known"
            yield Section(authority=_AUTHORITY, way=(f"Queue {named.name}",), answer=Answer.UNKNOWN, reasons=(reason,))


_OVERCOMMIT: Final = Fraction(12, 10)
"""Volcano's default for how much of the cluster may be reserved (VC:pkg/scheduler/plugins/overcommit/overcommit.go)."""


def _held_back(section: Section, verdict: QueueVerdict, placement: Placement, queues: Queues, facts: Store) -> Section:
    """The section, with what the nodes that exist do not let in: reserved resources, and guarantees of other queues.

    Sources: VC:pkg/scheduler/plugins/overcommit/overcommit.go AddJobEnqueueableFn, and realCapability of
    VC:pkg/scheduler/plugins/proportion/proportion.go.
    """
    if not facts.nodes.known or facts.nodes.now.unreadable:
        return section
    reasons = [
        f"the PodGroup reserves {quantities.named(resource, least)}, and all nodes together do not have them"
        for resource, least in sorted(placement.resources.items())
        if resource != _NOT_COUNTED
        and nodes.scheduler_amount(resource, least) > nodes.total(resource, facts.nodes.now) * _OVERCOMMIT
    ]
    for each in verdict.limited:
        others = [queue.guarantee for name, queue in queues.by_name.items() if name != verdict.queue]
        kept = sum(
            nodes.scheduler_amount(name, kept) for one in others for name, kept in one.items() if name == each.resource
        )
        left = nodes.total(each.resource, facts.nodes.now) - kept
        if each.of == verdict.queue and kept and nodes.scheduler_amount(each.resource, each.demand.starts) > left:
            needs = quantities.named(each.resource, each.demand.starts)
            reasons.append(f"{needs} needed to start, and the guarantees of other queues leave less of the nodes")
    if not reasons:
        return section
    return replace(section, answer=worst([section.answer, Answer.NOT_NOW]), reasons=(*section.reasons, *reasons))


def _kept_by_siblings(verdict: QueueVerdict, queues: Queues) -> Iterator[str]:
    """Shortages in queues above where their other children have guarantees.

    Source: realCapability in VC:pkg/scheduler/plugins/capacity/capacity.go checkHierarchicalQueue.
    """
    queue = queues.by_name.get(verdict.queue)
    chain = _with_ancestors(queue, queues)[0] if queue is not None else []
    for child, parent in pairwise(chain):
        siblings = [one for one in queues.by_name.values() if one.parent == parent.name and one is not child]
        for each in verdict.limited if siblings else ():
            kept = sum(one.guarantee.get(each.resource, quantities.ZERO).nanos for one in siblings)
            if each.of == parent.name and kept and each.demand.starts.nanos > each.most.nanos - kept:
                needs = quantities.named(each.resource, each.demand.starts)
                yield (
                    f"{needs} needed to start, and guarantees of queues beside Queue {child.name} leave less of Queue "
                    f"{parent.name}, if the scheduler's plugin capacity uses parents"
                )


def _depends_on_order(workload: model.Workload, verdict: QueueVerdict, placement: Placement) -> str:
    """Why a gang of unequal pods may not start although its small pods fit; empty where any order does.

    Volcano takes pods of equal priority in the order of their making, and skips those that no longer fit into the queue
    (VC:pkg/scheduler/actions/allocate/allocate.go allocateResourcesForTasks).
    """
    minimum = placement.minimum or authorities_verdict.gang_minimum(workload) or 0
    takes = _amounts_of_pod_sets(workload)
    for each in verdict.limited:
        left, taken = each.most, 0
        sizes = (
            (amounts.get(each.resource, quantities.ZERO), one)
            for amounts, one in zip(takes, workload.pod_sets, strict=True)
        )
        for size, one in sorted(sizes, key=lambda pair: pair[0], reverse=True):
            fitting = one.count.minimum if not size else min(one.count.minimum, left.nanos // size.nanos)
            left, taken = quantities.Quantity(left.nanos - fitting * size.nanos), taken + fitting
        if taken < min(minimum, workload.pods.minimum) and each.of == verdict.queue:
            return (
                f"Volcano may take its large pods first, and then Queue {each.of} does not hold the {minimum} pods "
                "that it waits for"
            )
    return ""


def _minimum_above_all_pods(workload: model.Workload, placement: Placement) -> str:
    """Why a gang that waits for more pods than it has never starts; empty for other gangs.

    Other objects may name the PodGroup that templates name, so it proves nothing (VC:pkg/scheduler/plugins/gang).
    """
    most = workload.pods.maximum
    minimum = authorities_verdict.gang_minimum(workload)
    if placement.groups or minimum is None or most is None or minimum <= most:
        return ""
    return f"it waits for {minimum} pods, but there are never more than {most}"


def _section(named: Named, verdict: QueueVerdict, facts: Store) -> Section:
    allocated = read.allocated_amounts(named.name, facts)
    balances = [_balance(each, named.name, allocated) for each in verdict.limited if each.demand.all]
    waits = tuple(_waits(balances))
    above = dict.fromkeys(each.of for each in verdict.limited if each.of != named.name)
    return Section(
        authority=_AUTHORITY,
        way=(f"Queue {named.name}", *(f"Queue {name}" for name in above)),
        answer=worst([verdict.answer, Answer.NOT_NOW]) if waits else verdict.answer,
        reasons=tuple(_reasons(named, verdict)),
        balances=tuple(balances),
        waits=waits,
    )


def _reasons(named: Named, verdict: QueueVerdict) -> Iterator[str]:
    if verdict.standing is not Standing.USABLE:
        yield _standing_text(verdict)
    yield from (_shortage_text(each, verdict.queue) for each in verdict.shortages)
    yield from verdict.unknowns
    if named.assumption and (verdict.standing is not Standing.USABLE or verdict.shortages or verdict.unknowns):
        yield f"this holds if {named.assumption}"


def _standing_text(verdict: QueueVerdict) -> str:
    name = verdict.queue
    match verdict.standing:
        case Standing.MISSING:
            return f"there is no Queue {name}"
        case Standing.ROOT:
            return f"Queue {name} is the root queue, and takes no jobs"
        case Standing.NOT_LEAF:
            return f"Queue {name} has queues below it, and takes no jobs itself"
        case _:
            return f"Queue {name} is {verdict.state}, and takes jobs only while it is Open"


def _shortage_text(shortage: Shortage, queue: str) -> str:
    needs = quantities.named(shortage.resource, shortage.needs)
    most = quantities.text(shortage.resource, shortage.most, up=False)
    verb = "needed to start" if shortage.reach is Reach.START else "needed for all pods"
    condition = ", if the scheduler's plugin capacity uses parents" if shortage.of != queue else ""
    condition += f", if {shortage.assumption}" if shortage.assumption else ""
    return f"{needs} {verb}, {most} is the capability of Queue {shortage.of}{condition}"


def _balance(limited: LimitedResource, queue: str, allocated: Amounts | None) -> Balance:
    if allocated is not None and limited.of == queue:
        limited = replace(limited, used=allocated.get(limited.resource, quantities.ZERO))
    return limited.balance("Queue")


def _waits(balances: Iterable[Balance]) -> Iterator[str]:
    """The texts about amounts that must become free, for each resource that the queue could ever give."""
    for each in balances:
        if (
            each.used is not None
            and each.most is not None
            and each.free is not None
            and each.free < each.asks <= each.most
        ):
            yield quantities.waiting(each.resource, of=each.of, used=each.used, most=each.most, needs=each.asks)


def _other_queues(workload: model.Workload, queues: Queues, *, besides: str) -> Iterator[Elsewhere]:
    for name in islice(sorted(queues.by_name), _MOST):
        found = judge(workload, name, queues)
        if name != besides and found.standing is Standing.USABLE and not found.shortages and not found.unreadable:
            yield Elsewhere(queue=name, answer=Answer.COULD)
