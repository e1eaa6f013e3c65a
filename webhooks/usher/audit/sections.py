"""The parts of an audit document that other analyses give: empty where nothing was analysed."""

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta

from usher.audit.document import (
    FindingEntry,
    GroupTable,
    Measurement,
    PriceEntry,
    ReadinessItem,
    Saving,
    Target,
    Trend,
    Usage,
)
from usher.audit.usage.not_held import NotHeld
from usher.dataclass import dataclass
from usher.scan.findings import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Headline numbers of usage; None where they were not measured."""

    usage: Usage = field(default_factory=Usage)
    """Of all accelerators of the cluster together."""
    savings_gpu_hours: float | None = None
    savings_cost: float | None = None
    savings_cost_saved: float | None = None
    savings_cost_freed: float | None = None
    not_held: NotHeld = field(default_factory=NotHeld)
    currency: str = ""
    """Of the prices."""
    queue_wait_p95_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    standing: tuple[FindingEntry, ...] = ()
    """Findings about the cluster as a whole."""
    readiness: tuple[ReadinessItem, ...] = ()
    measurement: Measurement = field(default_factory=lambda: Measurement(source="none"))
    usage: Mapping[Identity, Usage] = field(default_factory=dict)
    """By the identity of the workload."""
    tables: tuple[GroupTable, ...] = ()
    prices: tuple[PriceEntry, ...] = ()
    targets: tuple[Target, ...] = ()
    savings: tuple[Saving, ...] = ()
    totals: Totals = field(default_factory=Totals)
    window: timedelta = timedelta(days=7)
    """The window that usage is measured in."""
    trend: Trend = field(default_factory=Trend)
