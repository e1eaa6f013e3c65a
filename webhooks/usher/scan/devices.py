"""How many accelerators there are, by the name of their resource."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from usher import model, quantities
from usher.dataclass import dataclass

WHOLE_GPUS: Final = frozenset(
    {"nvidia.com/gpu", "amd.com/gpu", "intel.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe"}
)
"""Resources that count as GPUs. Slices, shares and other accelerators are counted by their own name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number of things; `unbounded` where it is the least number, and nothing bounds the largest."""

    number: int | Decimal = 0
    unbounded: bool = False

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(number=self.number + other.number, unbounded=self.unbounded or other.unbounded)

    def __bool__(self) -> bool:
        return self.number > 0 or self.unbounded


NOTHING: Final = Amount()

Devices = Mapping[str, Amount]
"""Accelerators by resource name."""


def of_workload(workload: model.Workload) -> Devices:
    """The most accelerators that the pods of a workload ask for together, or the least where nothing bounds them."""
    return added(
        {
            _name(each): Amount(
                number=_number(each.minimum if each.maximum is None else each.maximum), unbounded=each.maximum is None
            )
        }
        for each in workload.totals
    )


def least_of_workload(workload: model.Workload) -> Devices:
    """The fewest accelerators that the pods of a workload ask for together."""
    return added({_name(each): Amount(number=_number(each.minimum))} for each in workload.totals)


def _name(total: model.Total) -> str:
    """A share of a GPU is not a whole GPU, though its resource may have the same name."""
    return f"shares of {total.name}" if total.route is model.Route.SHARE and total.name in WHOLE_GPUS else total.name


def of_pods(count: model.Count) -> Amount:
    """The most pods that there can be, or the least where nothing bounds them."""
    if count.maximum is None:
        return Amount(number=count.minimum, unbounded=True)
    return Amount(number=count.maximum)


def gpus(devices: Devices) -> Amount:
    """How many whole GPUs are among the accelerators."""
    return total(amount for resource, amount in devices.items() if resource in WHOLE_GPUS)


def total(amounts: Iterable[Amount]) -> Amount:
    return sum(amounts, start=NOTHING)


def added(parts: Iterable[Devices]) -> Devices:
    """The accelerators of several workloads together, in the order of their names."""
    devices: dict[str, Amount] = {}
    for part in parts:
        for resource, amount in part.items():
            devices[resource] = devices.get(resource, NOTHING) + amount
    return dict(sorted(devices.items()))


def _number(quantity: quantities.Quantity) -> int | Decimal:
    return quantity.value if quantity.is_whole else Decimal(quantity.nanos).scaleb(-9)
