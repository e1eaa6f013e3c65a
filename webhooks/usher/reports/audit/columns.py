"""The tables of an audit document, as CSV and Parquet hold them: their columns, in order, with types.

Every row begins with `cluster` and `taken`, so tables of many clusters can be put together. Within v1alpha1 columns may
be added at the end; they keep their names and meaning. Times are ISO 8601 in UTC, empty ones are null. Null is not
measured, never 0.
"""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Standing, Usage
from usher.dataclass import dataclass
from usher.reports.audit.table_shape import Column, Table, Type, Value
from usher.reports.audit.table_shape import columns as _columns

__all__ = ["TABLES", "Column", "Table", "Type", "Value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupRow:
    by: str
    name: str
    workloads: int
    usage: Usage


_COMMON: Final = _columns(Type.TEXT, "cluster taken")
_SUBJECT: Final = _columns(Type.TEXT, "subject.api_version subject.kind subject.namespace subject.name")
_USAGE: Final = (
    *_columns(
        Type.NUMBER,
        "usage.gpus_now usage.allocated usage.measured usage.used usage.idle usage.activity usage.memory_share",
    ),
    *_columns(Type.WHOLE, "usage.memory_peak"),
    *_columns(Type.TEXT, "usage.cost.currency"),
    *_columns(
        Type.NUMBER,
        "usage.cost.allocated usage.cost.used usage.cost.idle usage.cost.idle_memory",
        prefix="cost_",
    ),
    *_columns(Type.NUMBER, "usage.not_priced usage.cost_per_hour"),
)
_COUNTS: Final = tuple(
    Column(name=f"findings_{each}", type=Type.WHOLE, at=f"summary.findings.{each}")
    for each in ("deny", "warn", "audit")
) + tuple(
    Column(name=f"readiness_{each.name.lower()}", type=Type.WHOLE, at=f"summary.readiness.{each}") for each in Standing
)

AUDITS: Final = Table(
    name="audits",
    columns=(
        *_COMMON,
        *_columns(Type.TEXT, "version configuration preset"),
        *_columns(Type.FLAG, "completeness.complete"),
        *_columns(Type.WHOLE, "cluster.nodes completeness.objects completeness.pods completeness.finished"),
        *_columns(Type.TEXT, "cluster.server measurement.source"),
        *_columns(Type.TEXT, "measurement.start measurement.end", prefix="window_"),
        *_columns(
            Type.NUMBER,
            "summary.gpus summary.gpus_allocatable summary.gpus_allocated summary.gpus_free summary.gpus_waiting "
            "summary.gpus_never summary.gpus_half_started",
        ),
        *_columns(Type.AMOUNTS, "summary.accelerators"),
        *_columns(Type.WHOLE, "summary.workloads summary.workloads_never"),
        *_columns(
            Type.NUMBER,
            "summary.allocated summary.measured summary.used summary.idle summary.activity summary.memory_share",
        ),
        *_columns(Type.TEXT, "summary.currency"),
        *_columns(
            Type.NUMBER,
            "summary.cost_allocated summary.cost_idle summary.not_priced summary.savings_gpu_hours "
            "summary.savings_cost summary.queue_wait_p95_seconds",
        ),
        *_columns(Type.WHOLE, "summary.exceptions_ending"),
        *_COUNTS,
        *_columns(
            Type.NUMBER,
            "summary.gpus_usable summary.gpus_out_of_use summary.gpus_not_priced summary.cost_per_hour_allocated "
            "summary.cost_per_hour_free summary.cost_per_hour_out_of_use summary.capacity summary.free "
            "summary.out_of_use summary.cost_free summary.cost_out_of_use summary.savings_cost_saved "
            "summary.savings_cost_freed summary.gpus_asked summary.gpus_asked_least",
        ),
        *_columns(Type.AMOUNTS, "summary.other_asked"),
        *_columns(Type.WHOLE, "summary.workloads_not_known summary.manifests completeness.not_judged"),
    ),
    parts=lambda audit: [audit],
)
WORKLOADS: Final = Table(
    name="workloads",
    columns=(
        *_COMMON,
        *_SUBJECT,
        *_columns(Type.TEXT, "team queue priority role state"),
        *_columns(Type.TEXTS, "products capacity_types"),
        *_columns(Type.AMOUNTS, "accelerators"),
        *_columns(Type.NUMBER, "gpus"),
        *_columns(Type.WHOLE, "pods_wanted pods_running pods_waiting"),
        *_columns(Type.TEXT, "created waiting_since outcome"),
        *_columns(Type.WHOLE, "findings"),
        *_USAGE,
        *_columns(Type.NUMBER, "gpus_least"),
        *_columns(Type.AMOUNTS, "other_accelerators"),
        *_columns(Type.TEXT, "place"),
    ),
    parts=lambda audit: audit.workloads,
)
FINDINGS: Final = Table(
    name="findings",
    columns=(
        *_COMMON,
        *_columns(Type.TEXT, "fingerprint code"),
        Column(name="check", type=Type.TEXT, at="name"),
        *_columns(Type.TEXT, "title category outcome severity"),
        *_SUBJECT,
        *_columns(Type.TEXT, "path message remedy team"),
        *_columns(Type.NUMBER, "gpus"),
        *_columns(Type.TEXT, "since"),
        *_columns(Type.TEXTS, "evidence"),
        *_columns(Type.TEXT, "held_by"),
        *_columns(Type.FLAG, "never"),
        *_columns(Type.TEXT, "prevented_by exception preventable_by mended_by"),
        *_columns(Type.NUMBER, "gpus_least"),
        *_columns(Type.AMOUNTS, "other_accelerators"),
        *_columns(Type.TEXT, "because place"),
    ),
    parts=lambda audit: audit.findings,
)


def _groups(audit: Audit) -> Iterator[_GroupRow]:
    for table in audit.usage:
        for row in table.rows:
            yield _GroupRow(by=table.by, name=row.name, workloads=row.workloads, usage=row.usage)


USAGE: Final = Table(
    name="usage",
    columns=(*_COMMON, *_columns(Type.TEXT, "by name"), *_columns(Type.WHOLE, "workloads"), *_USAGE),
    parts=_groups,
)
SAVINGS: Final = Table(
    name="savings",
    columns=(
        *_COMMON,
        Column(name="saving", type=Type.TEXT, at="kind"),
        *_SUBJECT,
        *_columns(Type.TEXT, "team"),
        *_columns(Type.TEXTS, "evidence"),
        *_columns(Type.TEXT, "change"),
        *_columns(Type.NUMBER, "gpu_hours cost"),
        *_columns(Type.FLAG, "adds_up"),
        *_columns(Type.NUMBER, "cost_saved cost_freed days gpu_hours_per_week cost_per_week"),
        *_columns(Type.TEXT, "needs finding"),
    ),
    parts=lambda audit: audit.savings,
)
PREVENTED: Final = Table(
    name="prevented",
    columns=(
        *_COMMON,
        *_columns(Type.TEXT, "code title"),
        *_columns(Type.WHOLE, "workloads"),
        *_columns(Type.NUMBER, "idle stuck cost gpus"),
        *_columns(Type.FLAG, "denies"),
    ),
    parts=lambda audit: audit.prevented,
)
PRICES: Final = Table(
    name="prices",
    columns=(
        *_COMMON,
        *_columns(Type.TEXT, "product capacity_type rule formula"),
        *_columns(Type.WHOLE, "nodes"),
        *_columns(Type.NUMBER, "gpus per_gpu_hour allocated"),
    ),
    parts=lambda audit: audit.prices,
)
READINESS: Final = Table(
    name="readiness",
    columns=(
        *_COMMON,
        *_columns(Type.TEXT, "id area title standing"),
        *_columns(Type.TEXTS, "evidence"),
        *_columns(Type.TEXT, "remedy reference conformance"),
    ),
    parts=lambda audit: audit.readiness,
)
EXCEPTIONS: Final = Table(
    name="exceptions",
    columns=(
        *_COMMON,
        *_columns(Type.TEXT, "ticket owner reason"),
        *_columns(Type.TEXTS, "checks namespaces"),
        *_columns(Type.TEXT, "expires state"),
        *_columns(Type.WHOLE, "findings days_left"),
    ),
    parts=lambda audit: audit.exceptions,
)
_GAP: Final = (*_COMMON, *_columns(Type.TEXT, "source reason"), *_columns(Type.WHOLE, "read"))
GAPS: Final = Table(name="gaps", columns=_GAP, parts=lambda audit: audit.completeness.gaps)
_UNREAD: Final = (*_COMMON, *_SUBJECT, *_columns(Type.TEXT, "path reason place"))
NOT_JUDGED: Final = Table(name="not_judged", columns=_UNREAD, parts=lambda audit: audit.not_judged)

TABLES: Final = (
    *(AUDITS, WORKLOADS, FINDINGS, USAGE, SAVINGS, PREVENTED, PRICES),
    *(READINESS, EXCEPTIONS, GAPS, NOT_JUDGED),
)
