"""How much of a resource the pods of a workload take together: to start at all, and when all of them run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from usher import model, quantities
from usher.authorities.verdict import Part
from usher.workloads.identity import MINIMUM_OF_OWNER

_ONE_AFTER_THE_OTHER: Final = frozenset({"argoproj.io", "tekton.dev"})
"""Groups whose kinds are graphs of steps: which of their pods run at once is up to the controller."""

_MAY_WAIT: Final = frozenset({"JobFlow", "JobSet", "TrainJob"})
"""Kinds of which one part may have to complete before another begins, which nothing here tells."""

_READ_FROM_OWNER: Final = frozenset(
    {("batch", "Job"), ("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "ReplicaSet")}
)

_DIGITS: Final = 10
"""More than any number of pods has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What pods take together; a pod set of which it is not known what it takes counts as nothing."""

    starts: quantities.Quantity
    """Without which nothing runs: what a gang takes that starts together, else the smallest pod that takes any."""
    all: quantities.Quantity
    """Of all pods that there are at the least."""
    most: quantities.Quantity | None
    """Of as many as there may ever be; None where nothing bounds them."""
    is_gang: bool
    """Whether `starts` is for several pods that wait for each other."""
    parts: tuple[Part, ...] = ()
    """What `all` is made of; empty where it is that of one pod."""
    assumption: str = ""
    """What `starts` and `all` rest on."""


def together(workload: model.Workload, each: Sequence[quantities.Quantity], *, minimum: int | None = None) -> Together:
    """What the pods of a workload take together of one resource.

    Args:
        workload: the object.
        each: what one pod takes, in the order of the pod sets.
        minimum: how many pods start together, where something else than the object says it.
    """
    pairs = list(zip(workload.pod_sets, each, strict=True))
    taking = [(pod_set, amount) for pod_set, amount in pairs if amount and pod_set.count.maximum != 0]
    alone = max((amount for _, amount in taking), default=quantities.ZERO)
    unbounded = any(pod_set.count.maximum is None for pod_set, _ in taking)
    if workload.group in _ONE_AFTER_THE_OTHER:
        return Together(starts=alone, all=alone, most=None if unbounded else alone, is_gang=False)
    parts = tuple(
        Part(pod_set=pod_set.name, pods=pod_set.count.minimum, each=amount)
        for pod_set, amount in taking
        if pod_set.count.minimum
    )
    whole = quantities.Quantity(sum(part.each.nanos * part.pods for part in parts))
    most = quantities.Quantity(sum(amount.nanos * (pod_set.count.maximum or 0) for pod_set, amount in taking))
    starts, is_gang = alone, False
    if workload.gang.wanted and whole:
        needed = minimum_of(workload) if minimum is None else minimum
        starts = max(alone, whole if needed is None else _cheapest(pairs, needed))
        is_gang = starts > alone
    waits = len(parts) > 1 and (
        workload.kind in _MAY_WAIT or any("dependsOn" in task for task in _tasks(workload.view))
    )
    return Together(
        starts=starts,
        all=whole,
        most=None if unbounded else max(alone, most),
        is_gang=is_gang,
        parts=parts,
        assumption="its parts run at the same time" if waits and whole > alone else "",
    )


def minimum_of(workload: model.Workload) -> int | None:
    """How many pods start together, as the object says it; None where it says nothing, and all of them do."""
    if workload.gang.minimum:
        return workload.gang.minimum
    if (workload.group, workload.kind) in _READ_FROM_OWNER:
        written = workload.annotations.get(MINIMUM_OF_OWNER, "")
        return int(written) if written.isdecimal() and written.isascii() and len(written) < _DIGITS else None
    if workload.gang_native:
        return _of_tasks(workload.view)
    return None


def _of_tasks(view: Mapping[str, Any]) -> int | None:
    """Of a Volcano Job without a minimum of its own those of its tasks count."""
    tasks = _tasks(view)
    if not any("minAvailable" in task for task in tasks):
        return None
    total: int = sum(task.get("minAvailable", task.get("replicas", 0)) for task in tasks)
    return total


def _tasks(view: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    tasks: Sequence[Mapping[str, Any]] = view.get("volcanoJob", {}).get("spec", {}).get("tasks", [])
    return tasks


def _cheapest(pairs: Sequence[tuple[model.PodSet, quantities.Quantity]], needed: int) -> quantities.Quantity:
    """The least that so many of the pods take: any of them will do."""
    nanos, left = 0, needed
    for pod_set, amount in sorted(pairs, key=lambda pair: pair[1]):
        taken = min(left, pod_set.count.minimum)
        nanos += taken * amount.nanos
        left -= taken
    return quantities.Quantity(nanos)
