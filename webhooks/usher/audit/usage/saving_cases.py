"""One workload with what was measured of it: what each kind of saving looks at."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from usher.audit import document_entries
from usher.audit.document import Saving
from usher.audit.gather import estate
from usher.audit.gather.estate import CapacityType
from usher.audit.gather.gpus import Offer, Offers
from usher.audit.usage import usage_amounts
from usher.audit.usage.gpu_hours import Entry, Tally
from usher.audit.usage.series import Grid
from usher.config.models import Audit
from usher.kinds import registry
from usher.kinds.kind import Key

_DAY: Final = 86400
_WEEK: Final = 7
"""Days in a row."""

_NEARLY: Final = 0.98

_EVERY: Final = frozenset(CapacityType)
_BILLED: Final = frozenset({CapacityType.ON_DEMAND, CapacityType.SPOT})
"""Payment types of nodes that stop costing money when they go. Reserved nodes cost money anyway, and perhaps nodes
without a label do too.
"""

_SCALED_BY_PODS: Final = "apps"
"""The API group of the kinds whose scale counts pods."""


class Case(Struct, frozen=True, kw_only=True):
    workload: estate.Workload
    entries: tuple[Entry, ...]
    tally: Tally
    """The sum of the entries."""
    nodes: Mapping[str, estate.Node]
    offers: Offers
    config: Audit
    grid: Grid

    @property
    def days(self) -> float:
        """Days in the window."""
        return self.grid.points * self.grid.step / _DAY

    @property
    def days_there(self) -> float:
        """Days in the window since the workload first held a GPU in it."""
        return (self.grid.points - (self.tally.first or 0)) * self.grid.step / _DAY

    @property
    def kind(self) -> Key:
        return self.workload.identity.api_version.rpartition("/")[0], self.workload.identity.kind

    @property
    def holding(self) -> tuple[estate.Pod, ...]:
        """The pods that hold accelerators now."""
        return tuple(pod for pod in self.workload.pods if pod.holds)

    @property
    def replicas_path(self) -> str:
        """The field that counts the pods of the workload; empty if its kind lacks this field."""
        return _field_text(registry.SCALES.get(self.kind)) if self.kind[0] == _SCALED_BY_PODS else ""

    @property
    def suspend_path(self) -> str:
        """The boolean field that suspends the workload; empty if its kind lacks this field."""
        pods = registry.PODS.get(self.kind)
        return _field_text(pods.suspend_path) if pods else ""

    @property
    def templates(self) -> str:
        """The path of its pod templates."""
        pods = registry.PODS.get(self.kind)
        return " and ".join(pods.template_paths) if pods else "the pod template"

    @property
    def is_measured(self) -> bool:
        """Whether at least half of the GPU-hours that it held were measured. Advice needs that much."""
        return self.tally.measured > 0 and self.tally.measured >= self.tally.allocated / 2

    def money(self, hours: Mapping[int, float], paid: Container[CapacityType] = _EVERY) -> float | None:
        """The money of GPU-hours by entry, on nodes of these payment types; None if no entry has a price."""
        priced = [
            value * price if self.entries[index].node_type.capacity_type in paid else 0.0
            for index, value in hours.items()
            if (price := self.entries[index].price) is not None
        ]
        return usage_amounts.rounded(sum(priced)) if priced else None

    def each(self, values: Iterable[float]) -> dict[int, float]:
        return dict(enumerate(values))


class Candidate(Struct, frozen=True, kw_only=True):
    """A saving, and the devices that must be free for it."""

    saving: Saving
    takes: tuple[Offer, ...] = ()
    """Offers from which its pods may get their devices; empty if the saving needs no other devices."""
    number: int = 0
    """Number of devices that it needs."""


def saving_of(  # noqa: PLR0913 - the fields of a saving by name
    case: Case,
    *,
    kind: str,
    evidence: Iterable[str],
    change: str,
    gpu_hours: float,
    paid_hours: Mapping[int, float],
    needs: str = "",
) -> Saving:
    """A saving of a case.

    Args:
        kind: the kind of saving.
        gpu_hours: the GPU-hours that it saves in the window.
        paid_hours: the GPU-hours whose price it saves, by entry.
        needs: the work that others must do first.
    """
    cost, days = case.money(paid_hours), case.days_there
    week = _WEEK / days if days >= 1 else None
    return Saving(
        kind=kind,
        subject=document_entries.subject_of(case.workload.identity),
        team=case.workload.team,
        evidence=(*evidence, *_part_of_window(case, gpu_hours, week)),
        change=change,
        gpu_hours=usage_amounts.rounded(gpu_hours),
        cost=cost,
        cost_saved=case.money(paid_hours, _BILLED),
        cost_freed=case.money(paid_hours, _EVERY - _BILLED),
        days=usage_amounts.rounded(days),
        gpu_hours_per_week=None if week is None else usage_amounts.rounded(gpu_hours * week),
        cost_per_week=None if week is None or cost is None else usage_amounts.rounded(cost * week),
        needs=needs,
        adds_up=not needs,
    )


def _part_of_window(case: Case, gpu_hours: float, week: float | None) -> Iterator[str]:
    if case.days_there < _NEARLY * case.days:
        rate = "" if week is None or not gpu_hours else f": a whole week is {hours_text(gpu_hours * week)} GPU-hours"
        yield f"It held GPUs in the last {case.days_there:.1f} of {case.days:.1f} days{rate}"


def _field_text(pointer: str | None) -> str:
    """A JSON Pointer in the spelling of people: `spec.replicas`."""
    return (pointer or "")[1:].replace("/", ".")


def percent_text(share: float) -> str:
    return f"{100 * share:.0f} %"


def hours_text(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
