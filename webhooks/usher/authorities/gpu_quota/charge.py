"""Computes the charge of a workload: all pods that it may make at once, by their priority classes.

A MIG instance does not count as a GPU, unless no limit for the pods counts it otherwise. Then it counts as its part of
a GPU: else a whole GPU, cut as one instance, would pass a limit of GPUs.

A claim that pods share is charged once for each workload. A share of a device (time slice, MPS, HAMi) and a partition
of a vendor other than NVIDIA count as a whole device, unless `perDevice` in usher.yaml gives the number of shares of a
device. Access that does not take a device counts nothing.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from usher import model, quantities
from usher.accelerators import mig, names
from usher.accelerators.names import Meaning, Unit
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.config import pools as config_pools
from usher.workloads import pod_sets, unrecognised
from usher.workloads.claims import WHOLE_DEVICE, DevicePart

_SIDES: Final = frozenset({Unit.MEMORY, Unit.MEMORY_FRACTION, Unit.CORES})
"""Units of the size of a share. Another resource counts the devices; without it, the pod has one device."""

_ONE: Final = quantities.parse(1)


def counted_devices(
    pod_set: model.PodSet, devices: definitions.Devices, vocabulary: Vocabulary
) -> Iterator[tuple[model.AcceleratorRequest, definitions.Device, quantities.Quantity | None]]:
    """The requests of one pod, each with its device and the number of devices."""
    sides: defaultdict[str, list[_Side]] = defaultdict(list)
    counting = {request.name for request in pod_set.requests}
    for request in pod_set.requests:
        meaning = vocabulary.meaning(request.name)
        if meaning is not None and meaning.unit in _SIDES and request.route is model.Route.SHARE:
            sides[meaning.divides or _domain_of_name(request.name)].append(_Side(request, meaning))
            counting.discard(request.name)
        elif request.route is not model.Route.ACCESS:
            yield request, _device(request, meaning, devices, vocabulary), request.maximum
    domains = {_domain_of_name(name) for name in counting}
    for counted, together in sides.items():
        if counted not in counting and counted not in domains:
            request, meaning = together[0]
            number = max(_devices_of(side, pod_set) for side in together)
            yield request, _share_of_device(devices.whole_device(meaning.vendor), meaning), _ONE * number


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
    request: model.AcceleratorRequest, meaning: Meaning | None, devices: definitions.Devices, vocabulary: Vocabulary
) -> definitions.Device:
    match request.route:
        case model.Route.FRACTION:
            return devices.mebibyte() if request.name == names.GPU_MEMORY else devices.whole_device("nvidia")
        case model.Route.DEVICE_ANNOTATION:
            return devices.whole_device("nvidia")
        case model.Route.CLAIM:
            return _claimed_device(request, meaning, devices, vocabulary)
        case _:
            return _device_of_resource(request.name, meaning, devices)


def _claimed_device(
    request: model.AcceleratorRequest, meaning: Meaning | None, devices: definitions.Devices, vocabulary: Vocabulary
) -> definitions.Device:
    """A device of a class, by what the class selects where its name is unknown."""
    device_class = meaning.device_class if meaning is not None and meaning.device_class else request.name
    like = request.like or device_class
    if "/" in like:
        return _device_of_resource(like, vocabulary.meaning(like), devices)
    described = vocabulary.device_class_meaning(like)
    shared = vocabulary.device_class_meaning(device_class)
    step, memory = shared.memory_step, shared.memory_default if request.memory is None else request.memory
    if step is not None and memory is not None and described.unit is not Unit.PARTITION:
        return devices.of_memory(described.vendor, max(1, math.ceil(Fraction(memory, step))) * step)
    if described.resource is not None and mig.profile_of_resource(described.resource) is not None:
        return _device_of_resource(described.resource, vocabulary.meaning(described.resource), devices)
    if described.unit is Unit.PARTITION and described.vendor == "nvidia":
        selected = mig.profile_of_resource(request.selects)
        return devices.some_instance() if selected is None else devices.instance(selected.profile)
    return devices.whole_device(described.vendor)


def _device_of_resource(name: str, meaning: Meaning | None, devices: definitions.Devices) -> definitions.Device:
    instance = mig.profile_of_resource(name)
    if instance is not None:
        found = devices.instance(instance.profile)
        return _share_of_device(found, meaning) if instance.shared else found
    vendor = meaning.vendor if meaning is not None else ""
    if meaning is not None and meaning.unit in (Unit.SHARE, Unit.PARTITION):
        return _share_of_device(devices.of_resource(vendor), meaning)
    return devices.of_resource(vendor)


def _share_of_device(device: definitions.Device, meaning: Meaning | None) -> definitions.Device:
    ratio = meaning.per_device if meaning is not None and meaning.per_device is not None else 1
    return device.part(Fraction(1, ratio))


def _domain_of_name(name: str) -> str:
    return name.partition("/")[0]


Classes = tuple[str, ...]
"""Priority classes, sorted: one for the pods of that class, several for a claim that their pods share. Pods without a
class have the empty name."""

ByClasses = Mapping[Classes, definitions.Amounts]


class Unclear(Struct, frozen=True, kw_only=True):
    """A unit whose charge is not fully known; `profiles.` means all units of profiles, the empty text all units."""

    unit: str
    classes: Classes
    path: str
    reason: str


class Charge(Struct, frozen=True, kw_only=True):
    """The amounts of a quota that all pods of a workload take."""

    amounts: ByClasses
    suspended: bool = False
    """Whether the workload is suspended and makes no pods now; some quotas do not charge it then."""
    unbounded: str = ""
    """Why the charge has no bound. The amounts then leave out the unbounded part, whose pods are charged one by one."""
    unclear: tuple[Unclear, ...] = ()
    fully_known: bool = True
    """False where pods also come from unknown parts (a runtime, an override); the charge may change."""

    @property
    def bounded(self) -> bool:
        return not self.unbounded


NO_CHARGE: Final = Charge(amounts={})


def amounts_of_classes(by_classes: ByClasses, classes: Collection[str]) -> definitions.Amounts:
    """The amounts that count towards a limit for these priority classes; all amounts if `classes` is empty."""
    found = [each for key, each in by_classes.items() if not classes or not set(key).isdisjoint(classes)]
    return found[0] if len(found) == 1 else gpu_quota_definitions.plus(*found)


def sum_of_charges(charges: Iterable[ByClasses]) -> ByClasses:
    """The sum, class by class."""
    found: defaultdict[Classes, list[definitions.Amounts]] = defaultdict(list)
    for each in charges:
        for classes, of_units in each.items():
            found[classes].append(of_units)
    return {classes: gpu_quota_definitions.plus(*several) for classes, several in found.items()}


def charge(  # noqa: PLR0913 - the workload, and what gives its devices a meaning
    workload: model.Workload,
    *,
    pools: Sequence[config_pools.Pool],
    vocabulary: Vocabulary,
    assumption: definitions.Assumption = definitions.NOTHING_ASSUMED,
    limits: definitions.Limits = (),
    default_class: str = "",
) -> Charge:
    """The charge of a workload; a template for the pods of other objects is charged nothing.

    An object of an unknown kind is charged nothing either, because its pods are charged when they are made.

    Args:
        pools: the node pools of usher.yaml.
        assumption: the quota's assumption about devices whose board is unknown.
        default_class: the PriorityClass of pods without a class name.
    """
    if workload.is_template or not workload.makes_pods or unrecognised.is_unknown(workload):
        return NO_CHARGE
    if not workload.asks_accelerators and not any(pod_set.unclear_devices for pod_set in workload.pod_sets):
        return Charge(amounts={}, suspended=workload.suspended, fully_known=_is_fully_known(workload))
    own: list[_Portion] = []
    shared: defaultdict[tuple[str, str, model.Route, DevicePart], list[_Portion]] = defaultdict(list)
    for pod_set in workload.pod_sets:
        devices = definitions.Devices(definitions.selected_products(pod_set, pools, vocabulary), assumption)
        classes = (pod_set.priority_class_name or default_class,)
        for claim, each in _portions(pod_set, devices, vocabulary, classes):
            portion = each if _counts_instances(limits, each) else replace(each, device=each.device.as_gpu())
            if claim:
                shared[claim, portion.name, portion.route, portion.part].append(portion)
            else:
                own.append(portion)
    found = _charge_of_portions([*own, *map(_largest_portion, shared.values())], workload)
    return replace(found, unclear=(*found.unclear, *_unclear_devices(workload, default_class)))


def _unclear_devices(workload: model.Workload, default_class: str) -> Iterator[Unclear]:
    """Unclear amounts of all units, for claims and device classes that cannot be read."""
    for pod_set in workload.pod_sets:
        if pod_set.count.maximum != 0:
            classes = (pod_set.priority_class_name or default_class,)
            for unknown in pod_set.unclear_devices:
                yield Unclear(unit="", classes=classes, path=unknown.path, reason=unknown.reason)


class _Portion(Struct, frozen=True, kw_only=True):
    """The devices that pods ask for under one resource or claim name."""

    name: str
    route: model.Route
    path: str
    classes: Classes
    device: definitions.Device
    number: quantities.Quantity | None
    """How many of `device` the pods ask for; None where the number has no bound."""
    reason: str = ""
    part: DevicePart = WHOLE_DEVICE
    """The part of a device that a claim asks for."""


def _counts_instances(limits: definitions.Limits, portion: _Portion) -> bool:
    """Whether the limits for the pods count the instances; true for other devices."""
    if not portion.device.of_gpu or not limits:
        return True
    units = portion.device.amounts.keys() | {gpu_quota_definitions.SLICES, gpu_quota_definitions.MEMORY}
    return any(
        units & limit.hard.keys() and (not limit.classes or {*portion.classes} <= {*limit.classes}) for limit in limits
    )


def _portions(
    pod_set: model.PodSet, devices: definitions.Devices, vocabulary: Vocabulary, classes: Classes
) -> Iterator[tuple[str, _Portion]]:
    """The portions of one pod set, each with the claim that its pods share, or an empty name."""
    pods = pod_set.count
    for request, device, number in counted_devices(pod_set, devices, vocabulary):
        if request.claim:
            together = quantities.ZERO if pods.maximum == 0 else number
        else:
            together = pod_sets.total_amount(number, pods.maximum)
        reasons = (request.reason if number is None else "", pods.reason if pods.maximum is None else "")
        yield (
            request.claim,
            _Portion(
                name=request.name,
                route=request.route,
                path=request.path,
                classes=classes,
                device=device,
                number=together,
                reason="; ".join(filter(None, reasons)) or "the number of its pods has no bound",
                part=DevicePart(request.selects, request.memory),
            ),
        )


def _largest_portion(portions: Sequence[_Portion]) -> _Portion:
    """One portion for a claim of several pod sets: the largest of their portions, for the classes of all of them."""
    numbers = [portion.number for portion in portions if portion.number is not None]
    present = [portion for portion in portions if portion.number != quantities.ZERO]
    first = portions[0]
    return _Portion(
        name=first.name,
        route=first.route,
        path=first.path,
        classes=tuple(sorted({name for portion in present for name in portion.classes})),
        device=definitions.worst_device(portion.device for portion in portions),
        number=max(numbers) if len(numbers) == len(portions) else None,
        reason=next((portion.reason for portion in portions if portion.number is None), ""),
    )


def _charge_of_portions(portions: Iterable[_Portion], workload: model.Workload) -> Charge:
    # Numerators by denominator: adding fractions takes ten times as long.
    sums: defaultdict[Classes, defaultdict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    unclear: dict[tuple[str, Classes, str], Unclear] = {}
    unbounded: dict[str, None] = {}
    for portion in portions:
        if portion.number == quantities.ZERO:
            continue
        for unit, reason in portion.device.unknown.items():
            found = Unclear(unit=unit, classes=portion.classes, path=portion.path, reason=reason)
            unclear.setdefault((unit, portion.classes, reason), found)
        if portion.number is None:
            unbounded[portion.reason] = None
            continue
        for unit, each in portion.device.amounts.items():
            sums[portion.classes][unit][each.denominator] += each.numerator * portion.number.nanos
    return Charge(
        amounts={
            classes: {
                unit: min(_rounded_up(parts), gpu_quota_definitions.MOST_AMOUNT) for unit, parts in of_units.items()
            }
            for classes, of_units in sums.items()
        },
        suspended=workload.suspended,
        unbounded="; ".join(unbounded),
        unclear=tuple(unclear.values()),
        fully_known=_is_fully_known(workload),
    )


def _rounded_up(parts: Mapping[int, int]) -> int:
    """The sum of fractions, from numerators by denominator."""
    if len(parts) == 1:
        ((denominator, numerator),) = parts.items()
        return -(-numerator // denominator)
    return math.ceil(sum(Fraction(numerator, denominator) for denominator, numerator in parts.items()))


def _is_fully_known(workload: model.Workload) -> bool:
    return all(pod_set.fully_known for pod_set in workload.pod_sets)
