"""One workload with what was measured of it: what each kind of saving looks at."""

from collections.abc import Iterable, Mapping
from typing import Final

from usher.audit import estate
from usher.audit.document.findings import Subject
from usher.audit.document.usage import Saving
from usher.audit.usage import amounts
from usher.audit.usage.ledger import Entry
from usher.audit.usage.tallies import Tally
from usher.config.audit import Audit
from usher.dataclass import dataclass
from usher.kinds import registry
from usher.kinds.kept_fields import Key

_SCALED_BY_PODS: Final = "apps"
"""The group of the kinds whose scale counts pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    workload: estate.Workload
    entries: tuple[Entry, ...]
    tally: Tally
    """The sum of the entries."""
    nodes: Mapping[str, estate.Node]
    config: Audit
    days: float
    """Of the window."""

    @property
    def kind(self) -> Key:
        return self.workload.identity.api_version.rpartition("/")[0], self.workload.identity.kind

    @property
    def holding(self) -> tuple[estate.Pod, ...]:
        """The pods that hold accelerators now."""
        return tuple(pod for pod in self.workload.pods if pod.holds)

    @property
    def replicas_path(self) -> str:
        """The field that counts the pods of the workload; empty where its kind has none."""
        return _field(registry.SCALES.get(self.kind)) if self.kind[0] == _SCALED_BY_PODS else ""

    @property
    def suspend_path(self) -> str:
        """The boolean that holds the workload back; empty where its kind has none."""
        pods = registry.PODS.get(self.kind)
        return _field(pods.suspend_path) if pods else ""

    @property
    def templates(self) -> str:
        """Where its pod templates stand."""
        pods = registry.PODS.get(self.kind)
        return " and ".join(pods.template_paths) if pods else "the pod template"

    @property
    def is_measured(self) -> bool:
        """Whether at least half of what it held was measured, so that advice rests on more than a glimpse."""
        return self.tally.measured > 0 and self.tally.measured >= self.tally.allocated / 2

    def money(self, hours: Mapping[int, float]) -> float | None:
        """The money of GPU-hours by entry; None where no entry has a price."""
        priced = [value * price for index, value in hours.items() if (price := self.entries[index].price) is not None]
        return amounts.rounded(sum(priced)) if priced else None

    def each(self, values: Iterable[float]) -> dict[int, float]:
        return dict(enumerate(values))


def saving(  # noqa: PLR0913 - the fields of a saving, all named
    case: Case, *, kind: str, evidence: Iterable[str], change: str, gpu_hours: float, cost: float | None
) -> Saving:
    identity = case.workload.identity
    return Saving(
        kind=kind,
        subject=Subject(
            api_version=identity.api_version, kind=identity.kind, namespace=identity.namespace, name=identity.name
        ),
        team=case.workload.team,
        evidence=tuple(evidence),
        change=change,
        gpu_hours=amounts.rounded(gpu_hours),
        cost=cost,
    )


def _field(pointer: str | None) -> str:
    """A JSON Pointer as people write a field: `spec.replicas`."""
    return (pointer or "")[1:].replace("/", ".")


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def hours(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
