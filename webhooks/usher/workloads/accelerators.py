"""How many accelerators one pod takes by extended resources (docs/domain/requests.md#request-of-one-pod)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from usher import model, paths, quantities
from usher.accelerators.names import Unit
from usher.accelerators.vocabulary import Vocabulary
from usher.workloads.device_classes import gives_accelerators
from usher.workloads.reading import Reading
from usher.workloads.requests import of_pod as effective_of_pod

_ROUTES: Final = {
    Unit.DEVICE: model.Route.RESOURCE,
    Unit.PARTITION: model.Route.PARTITION,
    Unit.CLAIM: model.Route.CLAIM,
    Unit.MONITORING: model.Route.ACCESS,
}


def of_pod(
    containers: Iterable[model.Container], *, overhead: model.Resources, vocabulary: Vocabulary
) -> Mapping[str, quantities.Quantity]:
    """Effective accelerator request of one pod by resource; resources asked for with 0 are left out."""
    naming = [container for container in containers if container.accelerators]
    names = {name for container in naming for name in container.accelerators}
    names.update(name for name in overhead if vocabulary.contains(name))
    if not names:
        return {}
    totals = effective_of_pod(naming, overhead=overhead, pod_requests={}, pod_limits={}, only=names)
    return {name: totals[name] for name in sorted(totals) if totals[name]}


def requests(
    of_one_pod: model.Resources,
    containers: Iterable[model.Container],
    *,
    overhead_path: str,
    reading: Reading,
    vocabulary: Vocabulary,
) -> Iterator[model.AcceleratorRequest]:
    """What one pod asks for, by name, each with the place that names it first.

    A resource that devices of a DeviceClass serve counts as the resource alone: the claim behind it is the scheduler's.
    A resource that stands for a class nobody has described is looked up, and recorded as unknown if that fails.
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
        if meaning is not None and meaning.device_class is not None:
            known = gives_accelerators(meaning.device_class, path=path, reading=reading, vocabulary=vocabulary)
            if not known:
                continue
        if route is model.Route.RESOURCE and name in divided:
            route = model.Route.SHARE
        asked = quantities.ZERO if route is model.Route.ACCESS else quantity
        yield model.AcceleratorRequest(route=route, name=name, minimum=asked, maximum=asked, path=path)


def _divided(containers: Sequence[model.Container], vocabulary: Vocabulary) -> set[str]:
    """Resources of which no container gets whole devices, because each also says how much memory or how many cores.

    Of one that says neither, HAMi and Volcano give it all of a device (GenerateResourceRequests in HAMi's
    pkg/device/nvidia/device.go).
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
