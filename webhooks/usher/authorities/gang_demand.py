"""The amount of a resource that the pods of a workload need together: to start, and when all of them run.

Source: calcPGMinResources, CalcFirstCountResources and CalcPGMinResources in pkg/controllers/job of volcano-sh/volcano,
and the defaults of pkg/webhooks/admission/jobs/mutate/mutate_job.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from usher import model, quantities
from usher.authorities.verdict import Part
from usher.kinds import registry
from usher.kinds.kind import Starts

_MOST_IN_ORDER: Final = 11
"""Volcano sorts tasks by priority. Go keeps the order of equal elements only in lists up to this length."""


def volcano_tasks(workload: model.Workload) -> Sequence[Mapping[str, Any]]:
    """The tasks of a Volcano Job or JobTemplate; empty for other kinds."""
    job = workload.view.get("volcanoJob") or workload.view.get("volcanoJobTemplate") or {}
    tasks: Sequence[Mapping[str, Any]] = job.get("spec", {}).get("tasks", [])
    return tasks


def volcano_minimum(workload: model.Workload) -> int | None:
    """The sum over the tasks, for a Job that sets no minimum itself; None where all pods start together."""
    tasks = volcano_tasks(workload)
    if all(_task_minimum(task) == _task_replicas(task) for task in tasks):
        return None
    return sum(map(_task_minimum, tasks))


def first_volcano_pods(workload: model.Workload) -> Sequence[int] | None:
    """How many pods of each pod set must fit into the queue before any pod starts.

    None for other kinds, and where the order of the tasks depends on the values of priority classes.
    """
    tasks = volcano_tasks(workload)
    in_order = len({pod_set.priority_class_name for pod_set in workload.pod_sets}) <= 1
    if not tasks or len(tasks) != len(workload.pod_sets) or len(tasks) > _MOST_IN_ORDER or not in_order:
        return None
    minima, replicas = [_task_minimum(task) for task in tasks], [_task_replicas(task) for task in tasks]
    total = sum(minima)
    wanted = workload.gang.minimum or total
    if wanted < total:
        return _take_in_turn(replicas, wanted)
    needed = _take_in_turn(minima, wanted)
    others = [all_pods - least for all_pods, least in zip(replicas, minima, strict=True)]
    more = _take_in_turn(others, wanted - sum(needed))
    return [first + second for first, second in zip(needed, more, strict=True)]


def _take_in_turn(available: Sequence[int], wanted: int) -> list[int]:
    """Takes from each in turn until enough are taken."""
    taken = []
    for number in available:
        taken.append(max(min(number, wanted), 0))
        wanted -= taken[-1]
    return taken


def _task_replicas(task: Mapping[str, Any]) -> int:
    replicas: int = task.get("replicas", 0)
    return replicas


def _task_minimum(task: Mapping[str, Any]) -> int:
    policy = task.get("partitionPolicy", {})
    partitions: int = policy.get("minPartitions", 0)
    by_partitions = partitions * policy.get("partitionSize", 0) if partitions > 0 else _task_replicas(task)
    least: int = task.get("minAvailable", by_partitions)
    return least


_DIGITS: Final = 10
"""No number of pods has this many digits."""


class GangDemand(Struct, frozen=True, kw_only=True):
    """The amounts that pods need together. A pod set with unknown requests counts as 0."""

    starts: quantities.Quantity
    """The amount that must be free for a start: for the first pods of a gang, else for the largest pod."""
    all: quantities.Quantity
    """The amount that all pods need, at the smallest pod counts."""
    largest: quantities.Quantity | None
    """The amount that all pods need, at the largest pod counts; None where the counts have no bound."""
    is_gang: bool
    """Whether `starts` is the sum of several pods that wait for each other."""
    parts: tuple[Part, ...] = ()
    """The parts that `all` consists of; empty for graphs of steps."""
    assumption: str = ""
    """The condition under which `starts` and `all` are right."""


def demand_of_workload(
    workload: model.Workload, each: Sequence[quantities.Quantity], *, minimum: int | None = None
) -> GangDemand:
    """The amounts of one resource that the pods of a workload need together.

    Args:
        each: the amount that one pod of each pod set needs, in the order of the pod sets.
        minimum: how many pods start together, where a PodGroup sets it.
    """
    pairs = list(zip(workload.pod_sets, each, strict=True))
    taking = [(pod_set, amount) for pod_set, amount in pairs if amount and pod_set.count.maximum != 0]
    alone = max((amount for _, amount in taking), default=quantities.ZERO)
    unbounded = any(pod_set.count.maximum is None for pod_set, _ in taking)
    kind = registry.PODS.get((workload.group, workload.kind))
    starts_of_kind = Starts.TOGETHER if kind is None else kind.starts
    if starts_of_kind is Starts.IN_STEPS:
        return GangDemand(starts=alone, all=alone, largest=None if unbounded else alone, is_gang=False)
    parts = tuple(
        Part(pod_set=pod_set.name, pods=pod_set.count.minimum, each=amount)
        for pod_set, amount in taking
        if pod_set.count.minimum
    )
    whole = quantities.Quantity(sum(part.each.nanos * part.pods for part in parts))
    most = quantities.Quantity(sum(amount.nanos * (pod_set.count.maximum or 0) for pod_set, amount in taking))
    starts, is_gang = alone, False
    if workload.gang.wanted and whole:
        starts = _amount_at_start(workload, pairs, minimum)
        is_gang = starts != alone
    waits = len(parts) > 1 and (
        starts_of_kind is Starts.MAY_WAIT or any("dependsOn" in task for task in volcano_tasks(workload))
    )
    return GangDemand(
        starts=starts,
        all=whole,
        largest=None if unbounded else max(alone, most),
        is_gang=is_gang,
        parts=parts,
        assumption="its parts run at the same time" if waits and whole > alone else "",
    )


def gang_minimum(workload: model.Workload) -> int | None:
    """How many pods start together; None where the object does not set it, so that all pods start together."""
    if workload.gang.minimum:
        return workload.gang.minimum
    kind = registry.PODS.get((workload.group, workload.kind))
    if kind is not None and kind.minimum_from:
        written = workload.annotations.get(kind.minimum_from, "")
        return int(written) if written.isdecimal() and written.isascii() and len(written) < _DIGITS else None
    return volcano_minimum(workload) if workload.gang_native else None


def _amount_at_start(
    workload: model.Workload, pairs: Sequence[tuple[model.PodSet, quantities.Quantity]], minimum: int | None
) -> quantities.Quantity:
    """The amount of the pods that start together. Other pods of the gang, even larger ones, may come later."""
    first = first_volcano_pods(workload) if minimum is None else None
    if first is not None:
        return quantities.Quantity(sum(pods * amount.nanos for pods, (_, amount) in zip(first, pairs, strict=True)))
    needed = gang_minimum(workload) if minimum is None else minimum
    at_once = [pair for pair in pairs if not pair[0].later] or pairs
    every_pod = sum(pod_set.count.minimum for pod_set, _ in at_once)
    return _least_amount(at_once, every_pod if needed is None else max(needed, 1))


def _least_amount(pairs: Sequence[tuple[model.PodSet, quantities.Quantity]], needed: int) -> quantities.Quantity:
    """The least amount that `needed` pods take."""
    nanos, left = 0, needed
    for pod_set, amount in sorted(pairs, key=lambda pair: pair[1]):
        taken = min(left, pod_set.count.minimum)
        nanos += taken * amount.nanos
        left -= taken
    return quantities.Quantity(nanos)
