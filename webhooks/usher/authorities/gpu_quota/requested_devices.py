"""The devices that the requests of one pod stand for, in the amounts of a quota."""

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from usher import model, quantities
from usher.accelerators import mig, names
from usher.accelerators.names import Meaning, Unit
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.gpu_quota.devices import Device, Devices

_SIDES: Final = frozenset({Unit.MEMORY, Unit.MEMORY_FRACTION, Unit.CORES})
"""Units of the size of a share. Another resource counts the devices; without it, the pod has one device."""

_ONE: Final = quantities.parse(1)


def counted(
    pod_set: model.PodSet, devices: Devices, vocabulary: Vocabulary
) -> Iterator[tuple[model.AcceleratorRequest, Device, quantities.Quantity | None]]:
    """The requests of one pod, each with its device and the number of devices."""
    sides: defaultdict[str, list[_Side]] = defaultdict(list)
    counting = {request.name for request in pod_set.requests}
    for request in pod_set.requests:
        meaning = vocabulary.meaning(request.name)
        if meaning is not None and meaning.unit in _SIDES and request.route is model.Route.SHARE:
            sides[meaning.divides or _domain(request.name)].append(_Side(request, meaning))
            counting.discard(request.name)
        elif request.route is not model.Route.ACCESS:
            yield request, _device(request, meaning, devices, vocabulary), request.maximum
    domains = {_domain(name) for name in counting}
    for counted, together in sides.items():
        if counted not in counting and counted not in domains:
            request, meaning = together[0]
            number = max(_devices_of(side, pod_set) for side in together)
            yield request, _share(devices.whole(meaning.vendor), meaning), _ONE * number


class _Side(NamedTuple):
    request: model.AcceleratorRequest
    meaning: Meaning


def _devices_of(side: _Side, pod_set: model.PodSet) -> int:
    """The devices of a pod that asks only for memory or cores: as many as these fill, at least one per container."""
    containers = sum(side.request.name in container.accelerators for container in pod_set.containers)
    if side.meaning.unit is Unit.MEMORY or side.meaning.size is None:
        return max(1, containers)
    asked = side.request.maximum.value if side.request.maximum is not None else 0
    return max(1, containers, math.ceil(Fraction(asked, side.meaning.size)))


def _device(
    request: model.AcceleratorRequest, meaning: Meaning | None, devices: Devices, vocabulary: Vocabulary
) -> Device:
    """The device of a request."""
    match request.route:
        case model.Route.FRACTION:
            return devices.mebibyte() if request.name == names.GPU_MEMORY else devices.whole("nvidia")
        case model.Route.DEVICE_ANNOTATION:
            return devices.whole("nvidia")
        case model.Route.CLAIM:
            return _claimed(request, meaning, devices, vocabulary)
        case _:
            return _of_resource(request.name, meaning, devices)


def _claimed(
    request: model.AcceleratorRequest, meaning: Meaning | None, devices: Devices, vocabulary: Vocabulary
) -> Device:
    """A device of a class, by what the class selects where its name is unknown."""
    device_class = meaning.device_class if meaning is not None and meaning.device_class else request.name
    like = request.like or device_class
    if "/" in like:
        return _of_resource(like, vocabulary.meaning(like), devices)
    described = vocabulary.device_class_meaning(like)
    step = vocabulary.device_class_meaning(device_class).memory_step
    if step is not None and request.memory is not None and described.unit is not Unit.PARTITION:
        return devices.of_memory(described.vendor, max(1, math.ceil(Fraction(request.memory, step))) * step)
    if described.resource is not None and mig.profile_of_resource(described.resource) is not None:
        return _of_resource(described.resource, vocabulary.meaning(described.resource), devices)
    if described.unit is Unit.PARTITION and described.vendor == "nvidia":
        selected = mig.profile_of_resource(request.selects)
        return devices.some_instance() if selected is None else devices.instance(selected.profile)
    return devices.whole(described.vendor)


def _of_resource(name: str, meaning: Meaning | None, devices: Devices) -> Device:
    instance = mig.profile_of_resource(name)
    if instance is not None:
        found = devices.instance(instance.profile)
        return _share(found, meaning) if instance.shared else found
    vendor = meaning.vendor if meaning is not None else ""
    if meaning is not None and meaning.unit in (Unit.SHARE, Unit.PARTITION):
        return _share(devices.of_resource(vendor), meaning)
    return devices.of_resource(vendor)


def _share(device: Device, meaning: Meaning | None) -> Device:
    ratio = meaning.per_device if meaning is not None and meaning.per_device is not None else 1
    return device.part(Fraction(1, ratio))


def _domain(name: str) -> str:
    return name.partition("/")[0]
