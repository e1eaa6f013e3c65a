"""The amount of a resource that the pods of a workload need together: to start, and when all of them run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from usher import model, quantities
from usher.authorities.verdict import Part
from usher.kinds import registry
from usher.kinds.kind import Starts

_DIGITS: Final = 10
"""No number of pods has this many digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangDemand:
    """What pods need together. A pod set with unknown requests counts as 0."""

    starts: quantities.Quantity
    """What must be free for a start: the sum of all pods of a gang, else the largest pod."""
    all: quantities.Quantity
    """What all pods need, at the smallest pod counts."""
    largest: quantities.Quantity | None
    """What all pods need, at the largest pod counts; None where the counts have no bound."""
    is_gang: bool
    """Whether `starts` is the sum of several pods that wait for each other."""
    parts: tuple[Part, ...] = ()
    """The parts that `all` consists of; empty for graphs of steps."""
    assumption: str = ""
    """What must be true for `starts` and `all` to be right."""


def of_workload(
    workload: model.Workload, each: Sequence[quantities.Quantity], *, minimum: int | None = None
) -> GangDemand:
    """What the pods of a workload need of one resource together.

    Args:
        workload: the object.
        each: what one pod of each pod set needs, in the order of the pod sets.
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
        needed = minimum_of(workload) if minimum is None else minimum
        starts = max(alone, whole if needed is None else _cheapest(pairs, needed))
        is_gang = starts > alone
    waits = len(parts) > 1 and (
        starts_of_kind is Starts.MAY_WAIT or any("dependsOn" in task for task in _tasks(workload.view))
    )
    return GangDemand(
        starts=starts,
        all=whole,
        largest=None if unbounded else max(alone, most),
        is_gang=is_gang,
        parts=parts,
        assumption="its parts run at the same time" if waits and whole > alone else "",
    )


def minimum_of(workload: model.Workload) -> int | None:
    """How many pods start together; None where the object does not set it, so that all pods start together."""
    if workload.gang.minimum:
        return workload.gang.minimum
    kind = registry.PODS.get((workload.group, workload.kind))
    if kind is not None and kind.minimum_from:
        written = workload.annotations.get(kind.minimum_from, "")
        return int(written) if written.isdecimal() and written.isascii() and len(written) < _DIGITS else None
    if workload.gang_native:
        return _of_tasks(workload.view)
    return None


def _of_tasks(view: Mapping[str, Any]) -> int | None:
    """The sum over the tasks of a Volcano Job that sets no minimum itself."""
    tasks = _tasks(view)
    if not any("minAvailable" in task for task in tasks):
        return None
    total: int = sum(task.get("minAvailable", task.get("replicas", 0)) for task in tasks)
    return total


def _tasks(view: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    tasks: Sequence[Mapping[str, Any]] = view.get("volcanoJob", {}).get("spec", {}).get("tasks", [])
    return tasks


def _cheapest(pairs: Sequence[tuple[model.PodSet, quantities.Quantity]], needed: int) -> quantities.Quantity:
    """The least amount that `needed` pods take."""
    nanos, left = 0, needed
    for pod_set, amount in sorted(pairs, key=lambda pair: pair[1]):
        taken = min(left, pod_set.count.minimum)
        nanos += taken * amount.nanos
        left -= taken
    return quantities.Quantity(nanos)
