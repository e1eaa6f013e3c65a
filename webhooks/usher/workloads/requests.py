"""The request of one pod to its node, by resource: the amounts that the scheduler uses (docs/domain/requests.md).

The rules are those of PodRequests in k8s.io/component-helpers resource, applied after the defaulting of Pods in
k8s.io/kubernetes pkg/apis/core/v1; templates inside custom resources are not defaulted yet.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from usher import model, paths, quantities
from usher.accelerators.names import Unit
from usher.accelerators.vocabulary import Vocabulary
from usher.reading.values import Reading
from usher.workloads.claim_specs import accelerators_like

_OVERCOMMITTED: Final = frozenset({"cpu", "memory"})
_HUGE_PAGES: Final = "hugepages-"

_Nanos = dict[str, int]
"""Amounts by resource, in nanos. Sums of plain numbers are fast."""


def of_pod(
    containers: Iterable[model.Container],
    *,
    overhead: model.Resources,
    pod_requests: model.Resources,
    pod_limits: model.Resources,
    only: Collection[str] | None = None,
) -> dict[str, quantities.Quantity]:
    """Effective request of one pod for every resource that it names, even if the amount is 0.

    It is the larger of two amounts: the sum of all containers that run together, and the peak of an init container
    with the sidecars started before it. A pod-level request replaces this amount. Then the overhead is added. The API
    server rounds every amount up to a thousandth.

    Args:
        containers: the containers of one pod, init containers first and in their order.
        overhead: `spec.overhead`.
        pod_requests: `spec.resources.requests`; they only count for cpu, memory and huge pages.
        pod_limits: `spec.resources.limits`, which replace missing `pod_requests`.
        only: names of the resources to count; None for all.
    """
    containers = tuple(containers)
    totals = _summed(_asked(containers, only=only, unit=quantities.MILLI))
    if pod_requests or pod_limits:
        totals |= _nanos(of_whole_pod(containers, pod_requests, pod_limits), only=only)
    for name, nanos in _nanos(overhead, only=only).items():
        totals[name] = totals.get(name, 0) + nanos
    return _quantities(totals)


def _summed(amounts: Iterable[tuple[model.ContainerType, _Nanos]]) -> _Nanos:
    """The peak of a pod's requests. It takes one pass, because a manifest may hold many names and containers."""
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
    """Requests of each container, or else its limits (docs/domain/principles.md#requests-from-limits)."""
    for container in containers:
        if container.requests or container.limits:
            yield container.type, _nanos({**container.limits, **container.requests}, only=only, unit=unit)


def of_whole_pod(
    containers: Iterable[model.Container], pod_requests: model.Resources, pod_limits: model.Resources
) -> model.Resources:
    """Pod-level requests, which replace the sums over containers, after the API server's defaulting.

    If the pod has pod-level limits, a missing pod-level request becomes the sum of the requests of the containers, or
    the limit if no container requests the resource. Huge pages cannot be overcommitted: their request is the limit,
    given or summed.
    """
    given = {name: quantity for name, quantity in pod_requests.items() if _counts_for_pod(name)}
    limits = _quantities(_summed((container.type, _huge_pages(container.limits)) for container in containers))
    limits = {name: quantity for name, quantity in limits.items() if name not in given}
    limits |= {name: quantity for name, quantity in pod_limits.items() if _counts_for_pod(name)}
    if not limits and not pod_limits:
        return given
    # It only rounds the final result.
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


_ROUTES: Final = {
    Unit.DEVICE: model.Route.RESOURCE,
    Unit.PARTITION: model.Route.PARTITION,
    Unit.CLAIM: model.Route.CLAIM,
    Unit.MONITORING: model.Route.ACCESS,
}


def accelerators_of_pod(
    containers: Iterable[model.Container], *, overhead: model.Resources, vocabulary: Vocabulary
) -> Mapping[str, quantities.Quantity]:
    """Effective accelerator request of one pod by resource, without resources whose request is 0."""
    naming = [container for container in containers if container.accelerators]
    names = {name for container in naming for name in container.accelerators}
    names.update(name for name in overhead if vocabulary.contains(name))
    if not names:
        return {}
    totals = of_pod(naming, overhead=overhead, pod_requests={}, pod_limits={}, only=names)
    return {name: totals[name] for name in sorted(totals) if totals[name]}


def requests(
    of_one_pod: model.Resources,
    containers: Iterable[model.Container],
    *,
    overhead_path: str,
    reading: Reading,
    vocabulary: Vocabulary,
) -> Iterator[model.AcceleratorRequest]:
    """The accelerator requests of one pod by name, each with the first place that names it.

    A resource that devices of a DeviceClass serve counts only as the resource, because the scheduler makes the claim
    behind it. A resource for an undescribed class is looked up, and recorded as unknown if that fails.
    """
    if not of_one_pod:
        return
    naming = tuple(container for container in containers if container.accelerators)
    divided = _divided(naming, vocabulary)
    first = {name: container for container in reversed(naming) for name in container.accelerators}
    for name, quantity in of_one_pod.items():
        meaning = vocabulary.meaning(name)
        route = model.Route.RESOURCE if meaning is None else _ROUTES.get(meaning.unit, model.Route.SHARE)
        path = first[name].first_path(name) if name in first else paths.join(overhead_path, name)
        like = ""
        if meaning is not None and meaning.device_class is not None:
            found = accelerators_like(meaning.device_class, path=path, reading=reading, vocabulary=vocabulary)
            if found is None:
                continue
            like = "" if found == meaning.device_class else found
        if route is model.Route.RESOURCE and name in divided:
            route = model.Route.SHARE
        asked = quantities.ZERO if route is model.Route.ACCESS else quantity
        yield model.AcceleratorRequest(route=route, name=name, minimum=asked, maximum=asked, path=path, like=like)


def _divided(containers: Sequence[model.Container], vocabulary: Vocabulary) -> set[str]:
    """Resources that give every container only parts of devices, because each also requests memory or cores.

    HAMi and Volcano give whole devices to a container that requests no memory and no cores (GenerateResourceRequests in
    HAMi's pkg/device/nvidia/device.go).
    """
    if all(len(container.accelerators) == 1 for container in containers):
        return set()
    parts: set[str] = set()
    whole: set[str] = set()
    for container in containers:
        asked = [name for name in container.accelerators if container.effective(name)]
        meanings = map(vocabulary.meaning, asked)
        divided = {meaning.divides for meaning in meanings if meaning is not None}
        for name in asked:
            (parts if name in divided else whole).add(name)
    return parts - whole
