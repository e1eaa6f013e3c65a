"""What the LimitRanges of a namespace make of pods, and which pods they refuse.

The rules are those of the LimitRanger plugin (k8s.io/kubernetes plugin/pkg/admission/limitranger), after the defaulting
of LimitRanges themselves (pkg/apis/core/v1/defaults.go), which those of files have not gone through.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from usher import model, paths, quantities
from usher.authorities import resource_lists
from usher.authorities.resource_lists import Amounts, Unreadable
from usher.workloads import requests

_Maybe = quantities.Quantity | None


class Rule(StrEnum):
    MINIMUM = "min"
    MAXIMUM = "max"
    RATIO = "maxLimitRequestRatio"


class Said(StrEnum):
    """What of a container or a pod goes against a rule."""

    REQUEST = "request"
    LIMIT = "limit"
    RATIO = "ratio"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    of: str
    """Name of the LimitRange."""
    of_pod: bool
    """Whether it holds for the pod as a whole; else for each container."""
    rule: Rule
    resource: str
    amount: quantities.Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRanges:
    """All that a namespace has."""

    default_requests: Amounts
    default_limits: Amounts
    doubtful: frozenset[str]
    """Resources for which several of them have different defaults: which counts depends on their order."""
    bounds: tuple[Bound, ...]
    unreadable: tuple[Unreadable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why the API server accepts no such pod."""

    bound: Bound
    path: str
    """Of the container's resource or of the container, or of the pod spec."""
    container: str
    """Empty for the pod as a whole."""
    said: Said
    amount: quantities.Quantity | None
    """The request, or the limit; None where there is none (and, for a ratio, where it is 0)."""
    request: quantities.Quantity | None = None
    """What the limit is compared with, for a ratio."""


NONE: Final = LimitRanges(default_requests={}, default_limits={}, doubtful=frozenset(), bounds=(), unreadable=())


def read(objects: Mapping[str, paths.Object]) -> LimitRanges:
    """The LimitRanges of one namespace, by name."""
    if not objects:
        return NONE
    defaults: tuple[dict[str, quantities.Quantity], dict[str, quantities.Quantity]] = {}, {}
    doubtful: set[str] = set()
    bounds: list[Bound] = []
    known, unreadable = resource_lists.first(objects, "LimitRange")
    for name, value in known.items():
        source = resource_lists.Source(f"LimitRange {name}", value)
        for kind, own in zip(defaults, _read_one(source, name, bounds), strict=True):
            doubtful.update(each for each, amount in own.items() if kind.get(each, amount) != amount)
            kind.update(own)
        unreadable += source.unreadable
    if len(bounds) > resource_lists.MOST:
        reason = f"sets bounds beyond the first {resource_lists.MOST} of its namespace, which are all that are read"
        unreadable.append(
            Unreadable(of=f"LimitRange {bounds[resource_lists.MOST].of}", field="spec.limits", reason=reason)
        )
    return LimitRanges(
        default_requests=defaults[0],
        default_limits=defaults[1],
        doubtful=frozenset(doubtful),
        bounds=tuple(bounds[: resource_lists.MOST]),
        unreadable=tuple(unreadable),
    )


def _read_one(source: resource_lists.Source, name: str, bounds: list[Bound]) -> tuple[Amounts, Amounts]:
    """Adds the bounds of one LimitRange, and gives its default requests and limits."""
    default_requests: Amounts = {}
    default_limits: Amounts = {}
    for place in source.items("/spec/limits"):
        kind = source.text(f"{place}/type")
        if kind not in {"Container", "Pod"}:
            continue
        found = {rule: source.amounts(f"{place}/{rule.value}") for rule in Rule}
        bounds += [
            Bound(of=name, of_pod=kind == "Pod", rule=rule, resource=resource, amount=amount)
            for rule, amounts in found.items()
            for resource, amount in sorted(amounts.items())
        ]
        if kind == "Container":
            limits = {**found[Rule.MAXIMUM], **source.amounts(f"{place}/default")}
            default_limits = {**default_limits, **limits}
            asked = {**found[Rule.MINIMUM], **limits, **source.amounts(f"{place}/defaultRequest")}
            default_requests = {**default_requests, **asked}
    return default_requests, default_limits


def with_defaults(containers: Iterable[model.Container], ranges: LimitRanges) -> tuple[model.Container, ...]:
    """Containers as they are once the API server and LimitRanger have filled in what they leave out.

    A request that is missing becomes the limit before any LimitRange is looked at.
    """
    return tuple(
        _with_defaults(container, ranges)
        for container in containers
        if container.type is not model.ContainerType.EPHEMERAL
    )


def _with_defaults(container: model.Container, ranges: LimitRanges) -> model.Container:
    asked = {**ranges.default_requests, **container.limits, **container.requests}
    limits = {**ranges.default_limits, **container.limits}
    if len(asked) == len(container.requests) and len(limits) == len(container.limits):
        return container  # As it is of Pods that the API server has seen.
    return replace(container, requests=asked, limits=limits)


def requests_of_pod(pod_set: model.PodSet, containers: Sequence[model.Container], *, overhead: Amounts) -> Amounts:
    """Requests of one pod as a whole, for every resource that has any.

    What the pod requests as a whole follows from its containers as they are written: LimitRanger comes later.

    Args:
        pod_set: the pod as it is written.
        containers: its containers, with all defaults filled in.
        overhead: what to count beside them.
    """
    whole = pod_set.pod_requests
    if whole or pod_set.pod_limits:
        whole = requests.of_whole_pod(pod_set.containers, whole, pod_set.pod_limits)
    of_pod: Amounts = requests.of_pod(containers, overhead=overhead, pod_requests=whole, pod_limits={})
    return of_pod


def limits_of_pod(pod_set: model.PodSet, containers: Sequence[model.Container]) -> Amounts:
    """Limits of one pod as a whole, for every resource that has any."""
    limited = [replace(container, requests={}) for container in containers]
    of_pod: Amounts = requests.of_pod(limited, overhead={}, pod_requests=pod_set.pod_limits, pod_limits={})
    return of_pod


def refusals(pod_set: model.PodSet, ranges: LimitRanges) -> tuple[Refusal, ...]:
    """Why LimitRanges refuse the pods of a pod set.

    Nothing is said of resources whose default is doubtful, nor, where one of the LimitRanges cannot be read, of what a
    container does not say itself.
    """
    if not ranges.bounds:
        return ()
    of_pod = [bound for bound in ranges.bounds if bound.of_pod and bound.resource not in ranges.doubtful]
    of_containers = [bound for bound in ranges.bounds if not bound.of_pod and bound.resource not in ranges.doubtful]
    written = [each for each in pod_set.containers if each.type is not model.ContainerType.EPHEMERAL]
    filled = with_defaults(written, ranges)
    found = [
        _against(bound, whole.requests, whole.limits, container=container)
        for container, whole in zip(written, filled, strict=True)
        for bound in of_containers
        if not ranges.unreadable or bound.resource in container.limits
    ]
    if of_pod and not ranges.unreadable:
        asked = requests_of_pod(pod_set, filled, overhead={})
        limits = limits_of_pod(pod_set, filled)
        found += [_against(bound, asked, limits, path=pod_set.spec_path) for bound in of_pod]
    return tuple(each for each in found if each is not None)


def _against(
    bound: Bound, asked: Amounts, limits: Amounts, *, container: model.Container | None = None, path: str = ""
) -> Refusal | None:
    """The first thing that LimitRanger would complain of."""
    for said, amount in _complaints(bound, asked.get(bound.resource), limits.get(bound.resource)):
        return Refusal(
            bound=bound,
            path=path if container is None else _place(container, bound.resource, said),
            container="" if container is None else container.name,
            said=said,
            amount=amount,
            request=asked.get(bound.resource) if said is Said.RATIO else None,
        )
    return None


def _place(container: model.Container, resource: str, said: Said) -> str:
    """Where the container says it, or the container, where a default does."""
    if said is Said.REQUEST and resource in container.requests:
        return container.resource_path("requests", resource)
    return container.resource_path("limits", resource) if resource in container.limits else container.path


def _complaints(bound: Bound, asked: _Maybe, limit: _Maybe) -> Iterator[tuple[Said, _Maybe]]:
    match bound.rule:
        case Rule.MINIMUM:
            if asked is None or asked.milli < bound.amount.milli:
                yield Said.REQUEST, asked
            if limit is not None and limit.milli < bound.amount.milli:
                yield Said.LIMIT, limit
        case Rule.MAXIMUM:
            if limit is None or limit.milli > bound.amount.milli:
                yield Said.LIMIT, limit
            if asked is not None and asked.milli > bound.amount.milli:
                yield Said.REQUEST, asked
        case Rule.RATIO:
            yield from _against_ratio(bound, asked, limit)


def _against_ratio(bound: Bound, asked: _Maybe, limit: _Maybe) -> Iterator[tuple[Said, _Maybe]]:
    if not asked:
        yield Said.REQUEST, None
    elif not limit:
        yield Said.LIMIT, None
    elif limit.milli * 1000 > bound.amount.milli * asked.milli:
        yield Said.RATIO, limit
