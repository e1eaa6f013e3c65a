"""Requests and limits of pods after LimitRanges have set their defaults."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from usher import model
from usher.authorities.limit_range.read import LimitRanges
from usher.authorities.resource_lists import Amounts
from usher.workloads import pod_sets


def with_defaults(containers: Iterable[model.Container], ranges: LimitRanges) -> tuple[model.Container, ...]:
    """Containers with the defaults of the API server and LimitRanger; debug containers are left out.

    The API server sets a missing request to the limit before LimitRanger sets defaults.
    """
    return tuple(
        _with_defaults(container, ranges)
        for container in containers
        if container.type is not model.ContainerType.EPHEMERAL
    )


def _with_defaults(container: model.Container, ranges: LimitRanges) -> model.Container:
    requested = {**ranges.default_requests, **container.limits, **container.requests}
    limits = {**ranges.default_limits, **container.limits}
    if len(requested) == len(container.requests) and len(limits) == len(container.limits):
        return container  # Most Pods that the API server sends have all defaults.
    return replace(container, requests=requested, limits=limits)


def requests_of_pod(pod_set: model.PodSet, containers: Sequence[model.Container], *, overhead: Amounts) -> Amounts:
    """The requests of one whole pod, by resource.

    Pod-level requests follow from the containers in the manifest, because LimitRanger runs later.

    Args:
        pod_set: the pod as in the manifest.
        containers: its containers, with all defaults.
        overhead: what to add to the containers.
    """
    whole = pod_set.pod_requests
    if whole or pod_set.pod_limits:
        whole = pod_sets.pod_level_requests(pod_set.containers, whole, pod_set.pod_limits)
    of_pod: Amounts = pod_sets.requests_of_pod(containers, overhead=overhead, pod_requests=whole, pod_limits={})
    return of_pod


def limits_of_pod(pod_set: model.PodSet, containers: Sequence[model.Container]) -> Amounts:
    """The limits of one whole pod, by resource."""
    limited = [replace(container, requests={}) for container in containers]
    of_pod: Amounts = pod_sets.requests_of_pod(limited, overhead={}, pod_requests=pod_set.pod_limits, pod_limits={})
    return of_pod
