"""Whether Volcano would ever start a workload: its queue, the queues above it, and its PodGroup.

A Job is let into Open leaf queues alone (pkg/webhooks/admission/jobs/validate/admit_job.go of volcano-sh/volcano), and
never gets more than the `capability` of its queue, nor, where the scheduler's plugin capacity knows of parents, than
that of any queue above it (pkg/scheduler/plugins/capacity, pkg/scheduler/plugins/proportion).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from usher import model, paths, quantities
from usher.authorities import gang_demand, resource_lists
from usher.authorities.resource_lists import Amounts, Unreadable
from usher.authorities.verdict import Part
from usher.workloads import requests

ROOT: Final = "root"
"""The queue above all others, which takes no jobs."""

OPEN: Final = "Open"

_MOST_ANCESTORS: Final = 16

_INT32: Final = range(-(2**31), 2**31)

_DEFAULT_MINIMUM: Final = 0
"""Of a PodGroup that says nothing (VC:staging/src/volcano.sh/apis/pkg/apis/scheduling/v1beta1/types.go)."""

_UNLIMITED_AT_ZERO: Final = frozenset({"cpu", "memory"})
"""Resources of which a capability of 0 bounds nothing (pkg/scheduler/plugins/capacity buildQueueAttrs)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    name: str
    parent: str
    state: str
    """Empty where nobody has written it yet."""
    capability: Amounts
    unreadable: tuple[Unreadable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queues:
    by_name: Mapping[str, Queue]
    parents: frozenset[str]
    """Names of the queues that others name as their parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGroup:
    """What a PodGroup says; None for what of it cannot be read."""

    queue: str | None
    """Empty where it names none."""
    minimum: int | None
    unreadable: tuple[Unreadable, ...]


class Standing(StrEnum):
    """Why a queue takes no jobs; USABLE where it does."""

    USABLE = "usable"
    MISSING = "missing"
    ROOT = "root"
    NOT_LEAF = "not a leaf"
    NOT_OPEN = "not open"


class Verdict(StrEnum):
    NEVER = "never"
    NOT_ALL = "not all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A resource of which a queue can never give what a workload takes."""

    queue: str
    is_above: bool
    """Whether it stands above the workload's queue, and counts only where the scheduler knows of parents."""
    resource: str
    verdict: Verdict
    needs: quantities.Quantity
    capability: quantities.Quantity
    parts: tuple[Part, ...]
    assumption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """A resource that a queue bounds and that a workload takes."""

    queue: str
    is_above: bool
    resource: str
    together: gang_demand.Together
    capability: quantities.Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What a queue is to a workload."""

    standing: Standing
    state: str
    balances: tuple[Balance, ...] = ()
    """Of the queue and of those above it, enough or not."""
    shortages: tuple[Shortage, ...]
    unreadable: tuple[Unreadable, ...]


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


def pod_group(name: str, value: paths.Object) -> PodGroup:
    """What a PodGroup says."""
    source = resource_lists.Source(f"PodGroup {name}", value)
    queue: str | None = source.text("/spec/queue")
    if source.unreadable:
        queue = None
    minimum = source.at("/spec/minMember")
    is_number = type(minimum) is int and minimum in _INT32
    if minimum is not None and not is_number:
        source.unknown("/spec/minMember", "is no whole number of 32 bits")
    elif minimum is None and not source.unreadable:
        minimum, is_number = _DEFAULT_MINIMUM, True
    return PodGroup(
        queue=queue,
        minimum=minimum if isinstance(minimum, int) and is_number else None,
        unreadable=tuple(source.unreadable),
    )


def assess(workload: model.Workload, name: str, queues: Queues, *, minimum: int | None = None) -> Assessment:
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
        return Assessment(standing=standing, state="", shortages=(), unreadable=())
    chain, unreadable = _with_those_above(queue, queues)
    takes = _takes(workload)
    balances = tuple(
        balance
        for index, each in enumerate(chain)
        for balance in _balances(workload, each, takes, is_above=index > 0, minimum=minimum)
    )
    return Assessment(
        standing=_standing(queue, queues),
        state=queue.state,
        balances=balances,
        shortages=tuple(shortage for balance in balances for shortage in _shortages(balance)),
        unreadable=(*(each for one in chain for each in one.unreadable), *unreadable),
    )


def _standing(queue: Queue, queues: Queues) -> Standing:
    if queue.name == ROOT:
        return Standing.ROOT
    if queue.name in queues.parents:
        return Standing.NOT_LEAF
    return Standing.USABLE if queue.state in {"", OPEN} else Standing.NOT_OPEN


def _with_those_above(queue: Queue, queues: Queues) -> tuple[list[Queue], list[Unreadable]]:
    """The queue and all above it, and what is wrong with the way up: the root may well have no object of its own."""
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


def _balances(
    workload: model.Workload, queue: Queue, takes: Sequence[Amounts], *, is_above: bool, minimum: int | None
) -> Iterator[Balance]:
    for resource, capability in sorted(queue.capability.items()):
        if resource in _UNLIMITED_AT_ZERO and capability <= quantities.ZERO:
            continue
        each = [amounts.get(resource, quantities.ZERO) for amounts in takes]
        found = gang_demand.together(workload, each, minimum=minimum)
        yield Balance(queue=queue.name, is_above=is_above, resource=resource, together=found, capability=capability)


def _shortages(balance: Balance) -> Iterator[Shortage]:
    found = balance.together
    never = found.starts > balance.capability
    if not never and found.all <= balance.capability:
        return
    needs = found.starts if never else found.all
    yield Shortage(
        queue=balance.queue,
        is_above=balance.is_above,
        resource=balance.resource,
        verdict=Verdict.NEVER if never else Verdict.NOT_ALL,
        needs=needs,
        capability=balance.capability,
        parts=found.parts if needs == found.all else (),
        assumption=found.assumption if found.is_gang or not never else "",
    )
