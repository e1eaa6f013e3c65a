"""The pods of a Volcano Job that start together, in the order in which Volcano counts them.

Source: calcPGMinResources, CalcFirstCountResources and CalcPGMinResources in pkg/controllers/job of volcano-sh/volcano,
and the defaults of pkg/webhooks/admission/jobs/mutate/mutate_job.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from usher import model

_MOST_IN_ORDER: Final = 11
"""Volcano sorts tasks by priority. Go keeps the order of equal elements only in lists up to this length."""


def of(workload: model.Workload) -> Sequence[Mapping[str, Any]]:
    """The tasks of a Volcano Job or JobTemplate; empty for other kinds."""
    job = workload.view.get("volcanoJob") or workload.view.get("volcanoJobTemplate") or {}
    tasks: Sequence[Mapping[str, Any]] = job.get("spec", {}).get("tasks", [])
    return tasks


def minimum(workload: model.Workload) -> int | None:
    """The sum over the tasks, for a Job that sets no minimum itself; None where all pods start together."""
    tasks = of(workload)
    if all(_minimum_of(task) == _replicas(task) for task in tasks):
        return None
    return sum(map(_minimum_of, tasks))


def first_pods(workload: model.Workload) -> Sequence[int] | None:
    """How many pods of each pod set must fit into the queue before any pod starts.

    None for other kinds, and where the order of the tasks depends on the values of priority classes.
    """
    tasks = of(workload)
    in_order = len({pod_set.priority_class_name for pod_set in workload.pod_sets}) <= 1
    if not tasks or len(tasks) != len(workload.pod_sets) or len(tasks) > _MOST_IN_ORDER or not in_order:
        return None
    minima, replicas = [_minimum_of(task) for task in tasks], [_replicas(task) for task in tasks]
    total = sum(minima)
    wanted = workload.gang.minimum or total
    if wanted < total:
        return _taken(replicas, wanted)
    needed = _taken(minima, wanted)
    others = [all_pods - least for all_pods, least in zip(replicas, minima, strict=True)]
    more = _taken(others, wanted - sum(needed))
    return [first + second for first, second in zip(needed, more, strict=True)]


def _taken(available: Sequence[int], wanted: int) -> list[int]:
    """Takes from each in turn until enough are taken."""
    taken = []
    for number in available:
        taken.append(max(min(number, wanted), 0))
        wanted -= taken[-1]
    return taken


def _replicas(task: Mapping[str, Any]) -> int:
    replicas: int = task.get("replicas", 0)
    return replicas


def _minimum_of(task: Mapping[str, Any]) -> int:
    policy = task.get("partitionPolicy", {})
    partitions: int = policy.get("minPartitions", 0)
    by_partitions = partitions * policy.get("partitionSize", 0) if partitions > 0 else _replicas(task)
    least: int = task.get("minAvailable", by_partitions)
    return least
