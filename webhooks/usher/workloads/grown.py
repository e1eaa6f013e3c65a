"""A workload over all that lets it grow: how many pods each template makes then, and what they ask for. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from usher import model, paths
from usher.workloads import growth, totals
from usher.workloads.growth import Growth

Normalise = Callable[[paths.Object], model.Workload | None]


_NONE = model.Count(minimum=0, maximum=0)

_Counts = Mapping[str, model.Count]
"""Pods by the path of their template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extent:
    """The target at the smallest and at the largest that one growth allows."""

    least: _Counts
    most: _Counts
    reason: str
    gang_wanted: bool
    unbounded: bool = False
    """Whether `most` is but one replica more than `least`: what differs then has no bound."""

    def count(self, path: str) -> model.Count:
        """Pods of the template at a path."""
        least, most = self.least.get(path, _NONE), self.most.get(path, _NONE)
        unbounded = self.unbounded and least.maximum != most.maximum
        return model.Count(minimum=least.minimum, maximum=None if unbounded else most.maximum, reason=most.reason)


def grown(
    value: paths.Object, growths: Iterable[Growth], *, normalise: Normalise, namespace: str = ""
) -> model.Workload | None:
    """The workload of an object with the pods, the totals and the wish for a gang that growths give it.

    All else is as the object says. The pods together are those of `growth.range_of`: of several growths the widest
    counts.

    Args:
        value: the object.
        growths: of this object or of any others, which are left out.
        normalise: the workload of an object.
        namespace: the namespace to assume where the object names none.
    """
    workload = normalise(value)
    if workload is None or not workload.pod_sets:
        return workload
    extents = [
        _extent(value, each, own=workload, normalise=normalise)
        for each in growths
        if growth.matches(each, value, namespace=namespace)
    ]
    if not extents:
        return workload
    pod_sets = tuple(_widened(pod_set, extents) for pod_set in workload.pod_sets)
    wanted = any(extent.gang_wanted for extent in extents)
    return replace(
        workload,
        pod_sets=pod_sets,
        totals=totals.of_pod_sets(pod_sets),
        gang=replace(workload.gang, wanted=wanted),
    )


def _extent(value: paths.Object, each: Growth, *, own: model.Workload, normalise: Normalise) -> _Extent:
    smallest = growth.applied(value, each, replicas=each.minimum)
    least = normalise(smallest)
    if smallest is value or least is None:
        return _Extent(least=_counts(own), most=_counts(own), reason="", gang_wanted=own.gang.wanted)
    largest = each.minimum + 1 if each.maximum is None else each.maximum
    most = normalise(growth.applied(value, each, replicas=largest)) or own
    return _Extent(
        least=_counts(least),
        most=_counts(most),
        reason=_reason(each),
        gang_wanted=most.gang.wanted,
        unbounded=each.maximum is None,
    )


def _counts(workload: model.Workload) -> _Counts:
    return {pod_set.path: pod_set.count for pod_set in workload.pod_sets}


def _reason(each: Growth) -> str:
    source = f"{each.source.kind} {each.source.name}"
    if each.maximum is None:
        return f"{source}: {each.reason}"
    because = f" ({each.reason})" if each.reason else ""
    return f"{source} allows {each.maximum:,} {'replica' if each.maximum == 1 else 'replicas'}{because}"


def _widened(pod_set: model.PodSet, extents: Sequence[_Extent]) -> model.PodSet:
    """The pod set with as many pods as all extents together allow; unchanged where none makes a difference."""
    counts = [extent.count(pod_set.path) for extent in extents]
    widest = max(range(len(counts)), key=lambda index: _rank(counts[index]))
    minimum, maximum = min(count.minimum for count in counts), counts[widest].maximum
    if (minimum, maximum) == (pod_set.count.minimum, pod_set.count.maximum):
        return pod_set
    reason = "; ".join(filter(None, (extents[widest].reason, counts[widest].reason)))
    return replace(pod_set, count=model.Count(minimum=minimum, maximum=maximum, reason=reason))


def _rank(count: model.Count) -> tuple[bool, int]:
    return count.maximum is None, count.maximum or 0
