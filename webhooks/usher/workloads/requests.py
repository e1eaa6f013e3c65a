"""What one pod asks of its node, by resource: the amounts that the scheduler looks for (docs/domain/requests.md).

The rules are those of PodRequests in k8s.io/component-helpers resource, applied after the defaulting of Pods in
k8s.io/kubernetes pkg/apis/core/v1; templates inside custom resources have not gone through that yet.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from usher import model, quantities

_OVERCOMMITTED: Final = frozenset({"cpu", "memory"})
_HUGE_PAGES: Final = "hugepages-"

_Nanos = dict[str, int]
"""Amounts by resource, in nanos: sums of plain numbers are quick."""


def of_pod(
    containers: Iterable[model.Container],
    *,
    overhead: model.Resources,
    pod_requests: model.Resources,
    pod_limits: model.Resources,
    only: Collection[str] | None = None,
) -> dict[str, quantities.Quantity]:
    """Effective request of one pod for every resource that it names, be it with 0.

    The larger of what runs together and of what each init container needs while it runs beside the sidecars that were
    started before it; in its place what the pod as a whole asks for; and the overhead. The API server rounds every
    amount up to a thousandth.

    Args:
        containers: of one pod, init containers first and in their order.
        overhead: `spec.overhead`.
        pod_requests: `spec.resources.requests`; they count for cpu, memory and huge pages alone.
        pod_limits: `spec.resources.limits`, which stand in for missing `pod_requests`.
        only: names of the resources to look at; None for all.
    """
    containers = tuple(containers)
    totals = _summed(_asked(containers, only=only, unit=quantities.MILLI))
    if pod_requests or pod_limits:
        totals |= _nanos(of_whole_pod(containers, pod_requests, pod_limits), only=only)
    for name, nanos in _nanos(overhead, only=only).items():
        totals[name] = totals.get(name, 0) + nanos
    return _quantities(totals)


def _summed(amounts: Iterable[tuple[model.ContainerType, _Nanos]]) -> _Nanos:
    """What a pod needs at its fullest. One pass, because a manifest decides how many names and containers there are."""
    together: _Nanos = {}
    sidecars: _Nanos = {}
    peaks: _Nanos = {}
    for kind, asked in amounts:
        if kind is model.ContainerType.EPHEMERAL:
            continue
        for name, nanos in asked.items():
            if kind is model.ContainerType.INIT:
                peaks[name] = max(peaks.get(name, 0), nanos + sidecars.get(name, 0))
                continue
            together[name] = together.get(name, 0) + nanos
            if kind is model.ContainerType.SIDECAR:
                sidecars[name] = sidecars.get(name, 0) + nanos
    for name, nanos in peaks.items():
        together[name] = max(together.get(name, 0), nanos)
    return together


def _asked(
    containers: Iterable[model.Container], *, only: Collection[str] | None, unit: int
) -> Iterator[tuple[model.ContainerType, _Nanos]]:
    """Requests of each container, and limits in their place (docs/domain/principles.md#requests-from-limits)."""
    for container in containers:
        if container.requests or container.limits:
            yield container.type, _nanos({**container.limits, **container.requests}, only=only, unit=unit)


def of_whole_pod(
    containers: Iterable[model.Container], pod_requests: model.Resources, pod_limits: model.Resources
) -> model.Resources:
    """Pod-level requests, which take the place of the sums over containers, after the API server's defaulting.

    Once there are pod-level limits, a pod-level request that is missing becomes what the containers ask for together,
    or the limit where they ask for nothing. Huge pages cannot be overcommitted: theirs is the limit, given or summed.
    """
    given = {name: quantity for name, quantity in pod_requests.items() if _counts_for_pod(name)}
    limits = _quantities(_summed((container.type, _huge_pages(container.limits)) for container in containers))
    limits = {name: quantity for name, quantity in limits.items() if name not in given}
    limits |= {name: quantity for name, quantity in pod_limits.items() if _counts_for_pod(name)}
    if not limits and not pod_limits:
        return given
    # Only what comes of all this is rounded.
    asked = _quantities(_summed(_asked(containers, only=_OVERCOMMITTED, unit=1)))
    return {**limits, **asked, **given}


def _counts_for_pod(name: str) -> bool:
    return name in _OVERCOMMITTED or name.startswith(_HUGE_PAGES)


def _huge_pages(resources: model.Resources) -> _Nanos:
    return {name: quantity.nanos for name, quantity in resources.items() if name.startswith(_HUGE_PAGES)}


def _nanos(resources: model.Resources, *, only: Collection[str] | None, unit: int = quantities.MILLI) -> _Nanos:
    return {
        name: -(-quantity.nanos // unit) * unit for name, quantity in resources.items() if only is None or name in only
    }


def _quantities(nanos: _Nanos) -> dict[str, quantities.Quantity]:
    return {name: quantities.Quantity(amount) for name, amount in nanos.items()}
