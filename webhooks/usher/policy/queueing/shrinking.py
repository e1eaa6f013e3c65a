"""How many pods fewer would do: tried, not guessed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from usher import model

_FIXED: Final = frozenset({"CronJob", "DaemonSet", "LeaderWorkerSet", "Pod", "Workflow"})
"""Kinds that do not say how many pods there are, or not in a way that could be made smaller pod by pod."""

_MOST_TRIED: Final = 4
"""Pod sets that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smaller:
    """A workload with fewer pods in one of its pod sets."""

    pod_set: model.PodSet
    """As it is."""
    pods: int
    workload: model.Workload


def largest(workload: model.Workload, fits: Callable[[model.Workload], bool]) -> Smaller | None:
    """The workload with as few pods less as possible, in one pod set, so that it fits; None where none does.

    Args:
        workload: one that does not fit.
        fits: whether another one does; what fits, fits with fewer pods as well.
    """
    if workload.kind in _FIXED:
        return None
    for index in list(_by_size(workload))[:_MOST_TRIED]:
        pod_set = workload.pod_sets[index]
        low, high = 1, _pods(pod_set) - 1
        if high < 1 or not fits(_with(workload, index, low)):
            continue
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(_with(workload, index, middle)) else (low, middle - 1)
        return Smaller(pod_set=pod_set, pods=low, workload=_with(workload, index, low))
    return None


def asked(workload: model.Workload) -> dict[str, int]:
    """Accelerators of all pods at their least, in whole ones, by name; claims that pods share are left out."""
    found: dict[str, int] = {}
    for pod_set in workload.pod_sets:
        for request in pod_set.requests:
            if not request.claim and request.minimum.is_whole:
                found[request.name] = found.get(request.name, 0) + request.minimum.value * _pods(pod_set)
    return found


def _by_size(workload: model.Workload) -> Iterator[int]:
    """Indexes of pod sets, the one with most accelerators first."""
    indexes = range(len(workload.pod_sets))
    weights = [sum(each.minimum.nanos for each in pod_set.requests) * _pods(pod_set) for pod_set in workload.pod_sets]
    yield from sorted(indexes, key=lambda index: (-weights[index], -_pods(workload.pod_sets[index])))


def _pods(pod_set: model.PodSet) -> int:
    return pod_set.count.minimum if pod_set.count.maximum is None else pod_set.count.maximum


def _with(workload: model.Workload, index: int, pods: int) -> model.Workload:
    pod_set = workload.pod_sets[index]
    count = model.Count(minimum=min(pod_set.count.minimum, pods), maximum=pods, reason=pod_set.count.reason)
    pod_sets = (
        *workload.pod_sets[:index],
        replace(pod_set, count=count),
        *workload.pod_sets[index + 1 :],
    )
    smaller = replace(workload, pod_sets=pod_sets)
    minimum = workload.gang.minimum
    if minimum is None or minimum <= smaller.pods.minimum:
        return smaller
    return replace(smaller, gang=replace(workload.gang, minimum=smaller.pods.minimum))
