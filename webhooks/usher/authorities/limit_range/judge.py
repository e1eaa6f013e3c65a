"""Finds the pods that the LimitRanges of a namespace refuse.

The rules are those of the LimitRanger plugin (k8s.io/kubernetes plugin/pkg/admission/limitranger).
"""

from collections.abc import Iterator
from enum import StrEnum

from usher import model, quantities
from usher.authorities import resource_lists
from usher.authorities.limit_range import defaults
from usher.authorities.limit_range.read import Bound, LimitRanges, Rule
from usher.authorities.resource_lists import Amounts
from usher.dataclass import dataclass

_Maybe = quantities.Quantity | None


class Violating(StrEnum):
    """The amount that violates a bound."""

    REQUEST = "request"
    LIMIT = "limit"
    RATIO = "ratio"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitViolation:
    """A bound that a pod violates, so that the API server refuses it."""

    bound: Bound
    path: str
    """The path of the container's resource, of the container, or of the pod spec."""
    container: str
    """The name of the container; empty for the whole pod."""
    violating: Violating
    amount: quantities.Quantity | None
    """The request or the limit; None where it is missing, or 0 for a ratio."""
    request: quantities.Quantity | None = None
    """For a ratio: the request that the limit is compared with."""


def violations(workload: model.Workload, ranges: LimitRanges) -> list[LimitViolation]:
    """The bounds that pods of a workload violate, at most 256."""
    found = [each for pod_set in workload.pod_sets for each in of_pod_set(pod_set, ranges)]
    return found[: resource_lists.MOST]


def of_pod_set(pod_set: model.PodSet, ranges: LimitRanges) -> tuple[LimitViolation, ...]:
    """The bounds that the pods of a pod set violate.

    Resources with ambiguous defaults are skipped. Where a LimitRange cannot be read, only the amounts that a container
    itself states are compared.
    """
    if not ranges.bounds:
        return ()
    of_pod = [bound for bound in ranges.bounds if bound.of_pod and bound.resource not in ranges.ambiguous]
    of_containers = [bound for bound in ranges.bounds if not bound.of_pod and bound.resource not in ranges.ambiguous]
    written = [each for each in pod_set.containers if each.type is not model.ContainerType.EPHEMERAL]
    filled = defaults.with_defaults(written, ranges)
    found = [
        _against(bound, whole.requests, whole.limits, container=container)
        for container, whole in zip(written, filled, strict=True)
        for bound in of_containers
        if not ranges.unreadable or bound.resource in container.limits
    ]
    if of_pod and not ranges.unreadable:
        requested = defaults.requests_of_pod(pod_set, filled, overhead={})
        limits = defaults.limits_of_pod(pod_set, filled)
        found += [_against(bound, requested, limits, path=pod_set.spec_path) for bound in of_pod]
    return tuple(each for each in found if each is not None)


def _against(
    bound: Bound, requested: Amounts, limits: Amounts, *, container: model.Container | None = None, path: str = ""
) -> LimitViolation | None:
    """The first violation that LimitRanger reports."""
    for violating, amount in _violating(bound, requested.get(bound.resource), limits.get(bound.resource)):
        return LimitViolation(
            bound=bound,
            path=path if container is None else _place(container, bound.resource, violating),
            container="" if container is None else container.name,
            violating=violating,
            amount=amount,
            request=requested.get(bound.resource) if violating is Violating.RATIO else None,
        )
    return None


def _place(container: model.Container, resource: str, violating: Violating) -> str:
    """The path of the amount in the container; the container itself where the amount is a default."""
    if violating is Violating.REQUEST and resource in container.requests:
        return container.resource_path("requests", resource)
    return container.resource_path("limits", resource) if resource in container.limits else container.path


def _violating(bound: Bound, requested: _Maybe, limit: _Maybe) -> Iterator[tuple[Violating, _Maybe]]:
    match bound.rule:
        case Rule.MINIMUM:
            if requested is None or requested.milli < bound.amount.milli:
                yield Violating.REQUEST, requested
            if limit is not None and limit.milli < bound.amount.milli:
                yield Violating.LIMIT, limit
        case Rule.MAXIMUM:
            if limit is None or limit.milli > bound.amount.milli:
                yield Violating.LIMIT, limit
            if requested is not None and requested.milli > bound.amount.milli:
                yield Violating.REQUEST, requested
        case Rule.RATIO:
            yield from _against_ratio(bound, requested, limit)


def _against_ratio(bound: Bound, requested: _Maybe, limit: _Maybe) -> Iterator[tuple[Violating, _Maybe]]:
    if not requested:
        yield Violating.REQUEST, None
    elif not limit:
        yield Violating.LIMIT, None
    elif limit.milli * 1000 > bound.amount.milli * requested.milli:
        yield Violating.RATIO, limit
