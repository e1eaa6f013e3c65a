"""What the usage section gives: one value that `audit.assembly` puts into the document."""

from collections.abc import Callable, Mapping

from usher.audit.document.usage import GroupTable, Measurement, PriceEntry, Saving, Target, Usage
from usher.audit.usage.not_held import NotHeld
from usher.dataclass import dataclass
from usher.scan.findings import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The usage of an estate. Without a source only `gpus_now` and `cost_per_hour` are known."""

    measurement: Measurement
    total: Usage
    """Of all workloads together, and of pods that belong to no workload of the estate."""
    workloads: Mapping[Identity, Usage]
    """By the identity of each workload of the estate."""
    groups: tuple[GroupTable, ...] = ()
    prices: tuple[PriceEntry, ...] = ()
    not_held: NotHeld = NotHeld()
    targets: tuple[Target, ...] = ()
    savings: tuple[Saving, ...] = ()
    queue_wait_p95_seconds: float | None = None
    currency: str = ""

    @property
    def saved_gpu_hours(self) -> float | None:
        """The sum of the savings that add up; None where nothing was measured."""
        if self.total.measured is None:
            return None
        return round(sum(saving.gpu_hours for saving in self.savings if saving.adds_up), 6)

    @property
    def saved_cost(self) -> float | None:
        """In the currency of the prices; None where none of the savings is priced."""
        return self._sum(lambda saving: saving.cost)

    @property
    def saved_on_bill(self) -> float | None:
        """Of `saved_cost`: on nodes that are billed while they are there."""
        return self._sum(lambda saving: saving.cost_saved)

    @property
    def freed(self) -> float | None:
        """Of `saved_cost`: on nodes that are paid for anyway."""
        return self._sum(lambda saving: saving.cost_freed)

    def _sum(self, money: Callable[[Saving], float | None]) -> float | None:
        costs = [cost for saving in self.savings if saving.adds_up and (cost := money(saving)) is not None]
        return round(sum(costs), 6) if costs else None
