"""Whether Volcano would ever start a workload: its queue, the queues above it, and its PodGroup.

A Job is let into Open leaf queues alone (pkg/webhooks/admission/jobs/validate/admit_job.go of volcano-sh/volcano), and
never gets more than the `capability` of its queue, nor, where the scheduler's plugin capacity knows of parents, than
that of any queue above it (pkg/scheduler/plugins/capacity, pkg/scheduler/plugins/proportion).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from usher import model, quantities
from usher.authorities import gang_demand
from usher.authorities.limited_resource import LimitedResource
from usher.authorities.resource_lists import Amounts, Unreadable
from usher.authorities.verdict import Answer, Reach, Shortage, Verdict, worst
from usher.authorities.volcano.read import Queue, Queues
from usher.workloads import requests

ROOT: Final = "root"
"""The queue above all others, which takes no jobs."""

OPEN: Final = "Open"

_MOST_ANCESTORS: Final = 16

_UNLIMITED_AT_ZERO: Final = frozenset({"cpu", "memory"})
"""Resources that a capability of 0 does not limit (pkg/scheduler/plugins/capacity buildQueueAttrs)."""


class Standing(StrEnum):
    """Why a queue takes no jobs; USABLE where it does."""

    USABLE = "usable"
    MISSING = "missing"
    ROOT = "root"
    NOT_LEAF = "not a leaf"
    NOT_OPEN = "not open"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueVerdict(Verdict):
    """What a queue says of a workload; shortages of queues above it count if the scheduler knows of parents."""

    queue: str
    standing: Standing
    state: str = ""
    limited: tuple[LimitedResource, ...] = ()
    """Of the queue and of those above it, enough or not."""
    unreadable: tuple[Unreadable, ...] = ()


def judge(workload: model.Workload, name: str, queues: Queues, *, minimum: int | None = None) -> QueueVerdict:
    """What stands in the way of a workload in a queue.

    Args:
        workload: the object.
        name: of the queue.
        queues: of the cluster.
        minimum: pods that start together, where a PodGroup says it.
    """
    queue = queues.by_name.get(name)
    if queue is None:
        standing = Standing.ROOT if name == ROOT else Standing.MISSING
        return QueueVerdict(queue=name, answer=_of_standing(standing), standing=standing)
    chain, problems = _with_ancestors(queue, queues)
    takes = _takes(workload)
    limited = [each for one in chain for each in _limited(workload, one, takes, minimum)]
    shortages = [each for one in limited for each in one.shortages() if each.reach in (Reach.START, Reach.ALL)]
    unreadable = (*(each for one in chain for each in one.unreadable), *problems)
    standing = _standing(queue, queues)
    answers = [_of_standing(standing), *(_of_shortage(each, name) for each in shortages)]
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


def _of_standing(standing: Standing) -> Answer:
    if standing is Standing.USABLE:
        return Answer.COULD
    return Answer.NEVER if standing is Standing.ROOT else Answer.NOT_NOW


def _of_shortage(shortage: Shortage, queue: str) -> Answer:
    if shortage.reach is Reach.ALL:
        return Answer.COULD
    # The facts do not tell whether the scheduler knows of parents.
    return Answer.UNKNOWN if shortage.of != queue or shortage.assumption else Answer.NEVER


def _standing(queue: Queue, queues: Queues) -> Standing:
    if queue.name == ROOT:
        return Standing.ROOT
    if queue.name in queues.parents:
        return Standing.NOT_LEAF
    return Standing.USABLE if queue.state in {"", OPEN} else Standing.NOT_OPEN


def _with_ancestors(queue: Queue, queues: Queues) -> tuple[list[Queue], list[Unreadable]]:
    """The queue and all above it, and what is wrong on the way up; the root needs no object of its own."""
    chain = [queue]
    while (parent := chain[-1].parent) and parent != ROOT:
        above = queues.by_name.get(parent)
        if above is None or above in chain or len(chain) > _MOST_ANCESTORS:
            reason = f"names {parent}, which is not there" if above is None else "leads in a circle, or too far"
            return chain, [Unreadable(of=f"Queue {chain[-1].name}", field="spec.parent", reason=reason)]
        chain.append(above)
    root = queues.by_name.get(ROOT)
    return ([*chain, root] if root is not None and root not in chain else chain), []


def _takes(workload: model.Workload) -> Sequence[Amounts]:
    """What one pod of each pod set takes."""
    return [
        {
            **requests.of_pod(
                pod_set.containers,
                overhead=pod_set.overhead,
                pod_requests=pod_set.pod_requests,
                pod_limits=pod_set.pod_limits,
            ),
            "pods": quantities.Quantity(quantities.NANO),
        }
        for pod_set in workload.pod_sets
    ]


def _limited(
    workload: model.Workload, queue: Queue, takes: Sequence[Amounts], minimum: int | None
) -> Iterator[LimitedResource]:
    for resource, capability in sorted(queue.capability.items()):
        if resource in _UNLIMITED_AT_ZERO and capability <= quantities.ZERO:
            continue
        each = [amounts.get(resource, quantities.ZERO) for amounts in takes]
        demand = gang_demand.of_workload(workload, each, minimum=minimum)
        yield LimitedResource(of=queue.name, resource=resource, demand=demand, most=capability)
