"""Counts accelerators by the name of their resource."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from usher import model, quantities
from usher.accelerators.names import PARTS

WHOLE_GPUS: Final = frozenset(
    {"nvidia.com/gpu", "amd.com/gpu", "intel.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe"}
)
"""Resources that count as GPUs. Slices, shares and other accelerators count by their own name."""

_SHARES: Final = "shares of "


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


def of_workload(workload: model.Workload) -> Devices:
    """The most accelerators that the pods of a workload request together, or the fewest if there is no upper bound."""
    devices: dict[str, Amount] = {}
    for each in workload.totals:
        # A share of a GPU is not a whole GPU, even if its resource has the same name.
        is_share = each.route is model.Route.SHARE and each.name in WHOLE_GPUS
        name = f"{_SHARES}{each.name}" if is_share else each.name
        most = each.minimum if each.maximum is None else each.maximum
        amount = Amount(
            number=_number(most),
            unbounded=each.maximum is None,
            extra=_number(most) - _number(each.minimum),
        )
        devices[name] = devices.get(name, NOTHING) + amount
    return dict(sorted(devices.items()))


def parts_taken(workload: model.Workload) -> Devices:
    """Memory and cores of the boards that a pod takes: HAMi and Volcano give its amounts on each of its boards."""
    taken: dict[str, Amount] = {}
    for container in (each for pod_set in workload.pod_sets for each in pod_set.containers):
        for name in container.accelerators:
            part = PARTS.get(name)
            if part is None:
                continue
            boards_asked = container.effective(part.divides or "").value or 1
            taken[name] = taken.get(name, Amount()) + Amount(number=container.effective(name).value * boards_asked)
    return taken


def is_shares(name: str) -> bool:
    """Whether a name means shares of GPUs, which have no resource of their own."""
    return name.startswith(_SHARES)


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
