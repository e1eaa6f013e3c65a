"""Requests that the cluster adds before Kueue counts pods: overheads of RuntimeClasses, defaults of LimitRanges.

KQ:pkg/workload/resources.go:57-153. A default request comes before the limit of the container. The API server uses the
reverse order: it first sets a missing request of a Pod to its limit.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from usher import model, paths
from usher.authorities import resource_lists
from usher.authorities.limit_range import read as limit_range_read
from usher.authorities.limit_range.read import LimitRanges
from usher.cluster.facts.store import Store
from usher.dataclass import dataclass
from usher.kinds.reading.values import Absence


@dataclass(frozen=True, slots=True, kw_only=True)
class Additions:
    """The facts about additions to the pods of one namespace. A field is None where its facts are unknown."""

    ranges: LimitRanges | None = None
    classes: Mapping[str, paths.Object] | None = None
    """The RuntimeClasses by name."""


NOT_KNOWN: Final = Additions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Enlarged:
    """A pod set with its additions."""

    pod_set: model.PodSet
    complete: bool
    """Whether the facts show all additions; else there may be more."""
    unknowns: tuple[str, ...] = ()
    """Additions that usher cannot read."""


def of_namespace(namespace: str, facts: Store) -> Additions:
    """The additions to the pods of a namespace."""
    found = facts.objects("node.k8s.io", "RuntimeClass")
    classes = None if isinstance(found, Absence) else found
    return Additions(ranges=limit_range_read.of_namespace(namespace, facts), classes=classes)


def enlarged(pod_set: model.PodSet, additions: Additions) -> Enlarged:
    """The pod set as Kueue counts it. Additions that are unknown or unreadable are left out."""
    unknowns: list[str] = []
    complete = additions.ranges is not None
    found = pod_set
    if pod_set.runtime_class_name and not pod_set.overhead:
        complete = complete and additions.classes is not None
        found = _with_overhead(pod_set, additions.classes or {}, unknowns)
    if additions.ranges is not None:
        unknowns += map(str, additions.ranges.unreadable)
        found = _with_defaults(found, additions.ranges, unknowns)
    return Enlarged(pod_set=found, complete=complete, unknowns=tuple(unknowns))


def _with_overhead(pod_set: model.PodSet, classes: Mapping[str, paths.Object], unknowns: list[str]) -> model.PodSet:
    """The pod set with the overhead of its RuntimeClass; a class that does not exist adds nothing."""
    found = classes.get(pod_set.runtime_class_name)
    if found is None:
        return pod_set
    source = resource_lists.Source(f"RuntimeClass {pod_set.runtime_class_name}", found)
    overhead = source.amounts("/overhead/podFixed")
    unknowns += map(str, source.unreadable)
    return replace(pod_set, overhead=overhead)


def _with_defaults(pod_set: model.PodSet, ranges: LimitRanges, unknowns: list[str]) -> model.PodSet:
    limits = {name: each for name, each in ranges.default_limits.items() if name not in ranges.ambiguous}
    requests = {name: each for name, each in ranges.default_requests.items() if name not in ranges.ambiguous}
    unknowns += (
        f"several LimitRanges set different defaults for {name}"
        for name in sorted(ranges.ambiguous)
        if not all(name in each.requests for each in pod_set.containers)
    )
    if not limits and not requests:
        return pod_set
    return replace(
        pod_set,
        containers=tuple(
            replace(
                container,
                requests={**limits, **container.limits, **requests, **container.requests},
                limits={**limits, **container.limits},
            )
            for container in pod_set.containers
        ),
    )
