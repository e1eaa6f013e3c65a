"""Judges whether Volcano would ever start a workload, by its queue, the queues above it, and its PodGroup.

Volcano accepts a Job only in an Open leaf queue (pkg/webhooks/admission/jobs/validate/admit_job.go of
volcano-sh/volcano). The `capability` of its queue limits the Job. The capability of each queue above limits it too, if
the scheduler's plugin capacity uses parents (pkg/scheduler/plugins/capacity, pkg/scheduler/plugins/proportion).
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from usher import model, quantities
from usher.authorities import gang_demand
from usher.authorities.outlook import LimitedResource
from usher.authorities.verdict import Amounts, Answer, Reach, Shortage, Unreadable, Verdict, worst
from usher.authorities.volcano.read import Queue, Queues
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


def judge(
    workload: model.Workload,
    name: str,
    queues: Queues,
    *,
    minimum: int | None = None,
    resources: Amounts = _NOTHING,
) -> QueueVerdict:
    """The verdict of a queue on a workload.

    Args:
        minimum: how many pods start together, where a PodGroup sets it.
        resources: the minResources of that PodGroup.
    """
    queue = queues.by_name.get(name)
    if queue is None:
        standing = Standing.ROOT if name == ROOT else Standing.MISSING
        return QueueVerdict(queue=name, answer=_answer_for_standing(standing), standing=standing)
    chain, problems = _with_ancestors(queue, queues)
    takes = _amounts_of_pod_sets(workload)
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


def _limited(
    workload: model.Workload, queue: Queue, takes: Sequence[Amounts], minimum: int | None, resources: Amounts
) -> Iterator[LimitedResource]:
    for resource, capability in sorted(queue.capability.items()):
        if resource == _NOT_COUNTED or (resource in _UNLIMITED_AT_ZERO and capability <= quantities.ZERO):
            continue
        each = [amounts.get(resource, quantities.ZERO) for amounts in takes]
        demand = gang_demand.demand_of_workload(workload, each, minimum=minimum)
        least = resources.get(resource, quantities.ZERO)
        if least > demand.starts:
            demand = replace(demand, starts=least, is_gang=True)
        yield LimitedResource(of=queue.name, resource=resource, demand=demand, most=capability)
