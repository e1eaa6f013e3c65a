"""Counts accelerators by the name of their resource."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from usher import model, quantities
from usher.accelerators.names import PARTS, WHOLE_GPUS
from usher.workloads import pod_sets

SHARES: Final = "shares of "
SLICES: Final = "slices of "
"""Before the name of a resource whose units are parts of GPUs: shares (HAMi, time slices, MPS), or partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number of things: the maximum, or the minimum if there is no upper bound."""

    number: int | Decimal = 0
    unbounded: bool = False
    extra: int | Decimal = 0
    """The part of the number that exists only at times: while a rollout or an autoscaler adds pods."""

    @property
    def least(self) -> int | Decimal:
        """The number that always exists."""
        return self.number - self.extra

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            number=self.number + other.number,
            unbounded=self.unbounded or other.unbounded,
            extra=self.extra + other.extra,
        )

    def __bool__(self) -> bool:
        return self.number > 0 or self.unbounded


NOTHING: Final = Amount()

Devices = Mapping[str, Amount]
"""Accelerators by resource name."""

NO_DEVICES: Final[Devices] = {}
"""Shared by the many objects without accelerators."""


def of_workload(workload: model.Workload, divided: str = "", *, by_parts: bool = False) -> Devices:
    """The most accelerators that the pods of a workload request together, or the fewest if there is no upper bound.

    HAMi and Volcano give the memory and the cores of a container on each of its boards. A container that asks HAMi for
    these alone gets a share of one GPU (HAMi:pkg/device/nvidia/device.go, mutateContainerResource).

    Args:
        divided: SHARES or SLICES where the nodes of the pods offer shares or partitions as whole GPUs.
        by_parts: whether claims for parts of devices count by their MIG profiles and their memory.
    """
    devices: dict[str, Amount] = {}
    for each in pod_sets.totals_of_pod_sets(workload.pod_sets, by_parts=True) if by_parts else workload.totals:
        # A share of a GPU is not a whole GPU, even if its resource has the same name.
        part = SHARES if each.route is model.Route.SHARE else divided
        # A share without a resource is one of a device class.
        is_device = each.name in WHOLE_GPUS or (part is SHARES and "/" not in each.name)
        is_device = is_device and not each.name.startswith(pod_sets.MEMORY_OF)
        name = f"{part}{each.name}" if part and is_device else each.name
        most = each.minimum if each.maximum is None else each.maximum
        amount = Amount(
            number=_number(most),
            unbounded=each.maximum is None,
            extra=_number(most) - _number(each.minimum),
        )
        devices[name] = devices.get(name, NOTHING) + amount
    if not PARTS.keys().isdisjoint(devices):
        for pod_set in workload.pod_sets:
            for name, number in _left_out(pod_set):
                pods = of_pods(pod_set.count)
                added = Amount(number=pods.number * number, unbounded=pods.unbounded, extra=pods.extra * number)
                devices[name] = devices.get(name, NOTHING) + added
    return dict(sorted(devices.items())) if devices else NO_DEVICES


def _left_out(pod_set: model.PodSet) -> Iterator[tuple[str, int]]:
    """The amounts that a pod gets and does not write: parts of further boards, and the GPU that HAMi adds."""
    for container in pod_set.containers:
        divided = {name: part.divides or "" for name in container.accelerators if (part := PARTS.get(name))}
        for name, board in divided.items():
            others = container.effective(board).value - 1
            if others > 0:
                yield name, container.effective(name).value * others
        for board in sorted(WHOLE_GPUS.intersection(divided.values())):
            if not container.effective(board).value:
                yield f"{SHARES}{board}", 1


def is_shares(name: str) -> bool:
    """Whether a name means shares or slices of GPUs, which have no resource of their own."""
    return name.startswith((SHARES, SLICES))


def of_pods(count: model.Count) -> Amount:
    """The largest possible number of pods, or the smallest if there is no upper bound."""
    if count.maximum is None:
        return Amount(number=count.minimum, unbounded=True)
    return Amount(number=count.maximum, extra=count.maximum - count.minimum)


def gpus(devices: Devices) -> Amount:
    """The number of whole GPUs among the accelerators."""
    return total(amount for resource, amount in devices.items() if resource in WHOLE_GPUS)


def total(amounts: Iterable[Amount]) -> Amount:
    return sum(amounts, start=NOTHING)


def added(parts: Iterable[Devices]) -> Devices:
    """The summed accelerators of several workloads, in the order of their names."""
    devices: dict[str, Amount] = {}
    for part in parts:
        for resource, amount in part.items():
            devices[resource] = devices.get(resource, NOTHING) + amount
    return dict(sorted(devices.items()))


def _number(quantity: quantities.Quantity) -> int | Decimal:
    return quantity.value if quantity.is_whole else Decimal(quantity.nanos).scaleb(-9)
