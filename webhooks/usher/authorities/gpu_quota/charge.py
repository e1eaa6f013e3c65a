"""Computes the charge of a workload: all pods that it may make at once, by their priority classes.

A MIG instance does not count as a GPU, unless no limit for the pods counts it otherwise. Then it counts as its part of
a GPU: else a whole GPU, cut as one instance, would pass a limit of GPUs.

A claim that pods share is charged once for each workload. A share of a device (time slice, MPS, HAMi) and a partition
of a vendor other than NVIDIA count as a whole device, unless `perDevice` in usher.yaml gives the number of shares of a
device. Access that does not take a device counts nothing.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from usher import model, quantities
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.gpu_quota import amounts as gpu_quota_amounts
from usher.authorities.gpu_quota import requested_devices
from usher.authorities.gpu_quota.amounts import Amounts
from usher.authorities.gpu_quota.devices import NOTHING_ASSUMED, Assumption, Device, Devices, selected_products, worst
from usher.authorities.gpu_quota.limits import Limits
from usher.config import pools as config_pools
from usher.dataclass import dataclass
from usher.workloads import pod_sets
from usher.workloads.claims import WHOLE_DEVICE, DevicePart

Classes = tuple[str, ...]
"""Priority classes, sorted: one for the pods of that class, several for a claim that their pods share. Pods without a
class have the empty name."""

ByClasses = Mapping[Classes, Amounts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """A unit whose charge is not fully known; `profiles.` means all units of profiles, the empty text all units."""

    unit: str
    classes: Classes
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The amounts of a quota that all pods of a workload take."""

    amounts: ByClasses
    suspended: bool = False
    """Whether the workload is suspended and makes no pods now; some quotas do not charge it then."""
    unbounded: str = ""
    """Why the charge has no bound. The amounts then leave out the unbounded part, whose pods are charged one by one."""
    unclear: tuple[Unclear, ...] = ()
    whole: bool = True
    """False where pods also come from unknown parts (a runtime, an override); the charge may change."""

    @property
    def bounded(self) -> bool:
        return not self.unbounded


NO_CHARGE: Final = Charge(amounts={})


def of_classes(by_classes: ByClasses, classes: Collection[str]) -> Amounts:
    """The amounts that count towards a limit for these priority classes; all amounts if `classes` is empty."""
    found = [each for key, each in by_classes.items() if not classes or not set(key).isdisjoint(classes)]
    return found[0] if len(found) == 1 else gpu_quota_amounts.plus(*found)


def together(charges: Iterable[ByClasses]) -> ByClasses:
    """The sum, class by class."""
    found: defaultdict[Classes, list[Amounts]] = defaultdict(list)
    for each in charges:
        for classes, of_units in each.items():
            found[classes].append(of_units)
    return {classes: gpu_quota_amounts.plus(*several) for classes, several in found.items()}


def charge(  # noqa: PLR0913 - the workload, and what gives its devices a meaning
    workload: model.Workload,
    *,
    pools: Sequence[config_pools.Pool],
    vocabulary: Vocabulary,
    assumption: Assumption = NOTHING_ASSUMED,
    limits: Limits = (),
    default_class: str = "",
) -> Charge:
    """The charge of a workload; a template for the pods of other objects is charged nothing.

    Args:
        workload: the normalised object.
        pools: the node pools of usher.yaml.
        vocabulary: the meaning of resource names.
        assumption: the quota's assumption about devices whose board is unknown.
        limits: the limits of the quota.
        default_class: the PriorityClass of pods without a class name.
    """
    if workload.is_template or not workload.makes_pods:
        return NO_CHARGE
    if not workload.asks_accelerators and not any(pod_set.unclear_devices for pod_set in workload.pod_sets):
        return Charge(amounts={}, suspended=workload.suspended, whole=_whole(workload))
    own: list[_Portion] = []
    shared: defaultdict[tuple[str, str, model.Route, DevicePart], list[_Portion]] = defaultdict(list)
    for pod_set in workload.pod_sets:
        devices = Devices(selected_products(pod_set, pools, vocabulary), assumption)
        classes = (pod_set.priority_class_name or default_class,)
        for claim, each in _portions(pod_set, devices, vocabulary, classes):
            portion = each if _counts_instances(limits, each) else replace(each, device=each.device.as_gpu())
            if claim:
                shared[claim, portion.name, portion.route, portion.part].append(portion)
            else:
                own.append(portion)
    found = _summed([*own, *map(_once, shared.values())], workload)
    return replace(found, unclear=(*found.unclear, *_unclear_devices(workload, default_class)))


def _unclear_devices(workload: model.Workload, default_class: str) -> Iterator[Unclear]:
    """Unclear amounts of all units, for claims and device classes that cannot be read."""
    for pod_set in workload.pod_sets:
        if pod_set.count.maximum != 0:
            classes = (pod_set.priority_class_name or default_class,)
            for unknown in pod_set.unclear_devices:
                yield Unclear(unit="", classes=classes, path=unknown.path, reason=unknown.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Portion:
    """The devices that pods ask for under one resource or claim name."""

    name: str
    route: model.Route
    path: str
    classes: Classes
    device: Device
    number: quantities.Quantity | None
    """How many of `device` the pods ask for; None where the number has no bound."""
    reason: str = ""
    part: DevicePart = WHOLE_DEVICE
    """The part of a device that a claim asks for."""


def _counts_instances(limits: Limits, portion: _Portion) -> bool:
    """Whether the limits for the pods count the instances; true for other devices."""
    if not portion.device.of_gpu or not limits:
        return True
    units = portion.device.amounts.keys() | {gpu_quota_amounts.SLICES, gpu_quota_amounts.MEMORY}
    return any(
        units & limit.hard.keys() and (not limit.classes or {*portion.classes} <= {*limit.classes}) for limit in limits
    )


def _portions(
    pod_set: model.PodSet, devices: Devices, vocabulary: Vocabulary, classes: Classes
) -> Iterator[tuple[str, _Portion]]:
    """The portions of one pod set, each with the claim that its pods share, or an empty name."""
    pods = pod_set.count
    for request, device, number in requested_devices.counted(pod_set, devices, vocabulary):
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


def _once(portions: Sequence[_Portion]) -> _Portion:
    """One portion for a claim of several pod sets: the largest of their portions, for the classes of all of them."""
    numbers = [portion.number for portion in portions if portion.number is not None]
    present = [portion for portion in portions if portion.number != quantities.ZERO]
    first = portions[0]
    return _Portion(
        name=first.name,
        route=first.route,
        path=first.path,
        classes=tuple(sorted({name for portion in present for name in portion.classes})),
        device=worst(portion.device for portion in portions),
        number=max(numbers) if len(numbers) == len(portions) else None,
        reason=next((portion.reason for portion in portions if portion.number is None), ""),
    )


def _summed(portions: Iterable[_Portion], workload: model.Workload) -> Charge:
    sums: defaultdict[Classes, defaultdict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
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
            sums[portion.classes][unit] += each * portion.number.nanos
    return Charge(
        amounts={
            classes: {unit: min(math.ceil(total), gpu_quota_amounts.MOST) for unit, total in of_units.items()}
            for classes, of_units in sums.items()
        },
        suspended=workload.suspended,
        unbounded="; ".join(unbounded),
        unclear=tuple(unclear.values()),
        whole=_whole(workload),
    )


def _whole(workload: model.Workload) -> bool:
    return all(pod_set.whole for pod_set in workload.pod_sets)
