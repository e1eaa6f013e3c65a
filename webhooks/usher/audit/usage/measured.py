"""The measured usage and money of a cluster, as one value that `audit.assembly` puts into the document."""

from collections.abc import Callable, Mapping
from dataclasses import field

from usher.audit.document.usage import GroupTable, Measurement, PriceEntry, Saving, Target, Usage
from usher.audit.usage.not_held import NotHeld
from usher.check.findings import Identity
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The usage of an estate. Without a source only `gpus_now` and `cost_per_hour` are known."""

    measurement: Measurement = field(default_factory=lambda: Measurement(source="none"))
    total: Usage = field(default_factory=Usage)
    """The sum over all workloads, and over pods without a workload of the estate."""
    workloads: Mapping[Identity, Usage] = field(default_factory=dict)
    """By the identity of each workload of the estate."""
    groups: tuple[GroupTable, ...] = ()
    prices: tuple[PriceEntry, ...] = ()
    not_held: NotHeld = NotHeld()
    targets: tuple[Target, ...] = ()
    savings: tuple[Saving, ...] = ()
    queue_wait_p95_seconds: float | None = None
    currency: str = ""
    """The currency of all prices."""

    @property
    def savings_gpu_hours(self) -> float | None:
        """The summed GPU-hours of the savings that count; None if nothing was measured."""
        if self.total.measured is None:
            return None
        return round(sum(saving.gpu_hours for saving in self.savings if saving.adds_up), 6)

    @property
    def savings_cost(self) -> float | None:
        """The summed money of the savings that count; None if they have no price."""
        return self._sum(lambda saving: saving.cost)

    @property
    def savings_cost_saved(self) -> float | None:
        """The part of `savings_cost` on nodes that are billed only while they exist."""
        return self._sum(lambda saving: saving.cost_saved)

    @property
    def savings_cost_freed(self) -> float | None:
        """The part of `savings_cost` on nodes that are paid for anyway."""
        return self._sum(lambda saving: saving.cost_freed)

    def _sum(self, money: Callable[[Saving], float | None]) -> float | None:
        costs = [cost for saving in self.savings if saving.adds_up and (cost := money(saving)) is not None]
        return round(sum(costs), 6) if costs else None
