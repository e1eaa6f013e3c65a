"""The tables of an audit document, as CSV and Parquet hold them: their columns, in order, with types.

Every row begins with `cluster` and `taken`, so tables of many clusters can be put together. Within v1alpha1 columns may
be added at the end; they keep their names and meaning. Times are ISO 8601 in UTC, empty ones are null. Null is not
measured, never 0.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, Final

from usher.audit.document import Audit, Standing, Usage
from usher.dataclass import dataclass
from usher.reports import json_shape


class Type(StrEnum):
    """The types of columns, as SQL of DuckDB names them."""

    TEXT = "VARCHAR"
    FLAG = "BOOLEAN"
    WHOLE = "BIGINT"
    NUMBER = "DOUBLE"
    TEXTS = "VARCHAR[]"
    AMOUNTS = "MAP(VARCHAR, DOUBLE)"


_TIMES: Final = frozenset({"created", "waiting_since", "since", "measurement.start", "measurement.end"})
"""Texts that are null where they are empty."""

Value = str | bool | int | float | list[str] | dict[str, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    name: str
    type: Type
    at: str
    """Where the value stands in a row: attributes, and keys of mappings, joined by dots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupRow:
    by: str
    name: str
    workloads: int
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    name: str
    """The name of its file, without the ending."""
    columns: tuple[Column, ...]
    parts: Callable[[Audit], Iterable[object]]
    """The parts of the document that are its rows."""

    def rows(self, audit: Audit) -> Iterator[dict[str, Value]]:
        """One mapping by column name for each row."""
        common: dict[str, Value] = {"cluster": audit.cluster.name, "taken": audit.taken}
        readers = [(each.name, _reader(each)) for each in self.columns[len(common) :]]
        for part in self.parts(audit):
            row = dict(common)
            for name, read in readers:
                row[name] = read(part)
            yield row


def _reader(column: Column) -> Callable[[Any], Value]:
    """Reads the value of a column from a row. Tables have millions of cells, so it is made once for each column."""
    steps, convert, is_time = column.at.split("."), _AS[column.type], column.at in _TIMES

    def read(part: Any) -> Value:  # noqa: ANN401 - any part of the document
        found = part
        for step in steps:
            if found is None:
                return None
            found = found.get(step, 0) if isinstance(found, dict) else getattr(found, step)
        return None if found is None or (is_time and not found) else convert(found)

    return read


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def _whole(value: int) -> int | None:
    return json_shape.bounded(int(value))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _amounts(value: Mapping[str, float]) -> dict[str, float]:
    return {str(key): float(each) for key, each in sorted(value.items())}


_AS: Final[dict[Type, Callable[[Any], Value]]] = {
    Type.TEXT: _text,
    Type.FLAG: bool,
    Type.WHOLE: _whole,
    Type.NUMBER: _number,
    Type.TEXTS: lambda value: [str(each) for each in value],
    Type.AMOUNTS: _amounts,
}


def _columns(kind: Type, paths: str, *, prefix: str = "") -> tuple[Column, ...]:
    """Columns of one type: each is named as the last attribute of its path."""
    return tuple(Column(name=prefix + each.rpartition(".")[2], type=kind, at=each) for each in paths.split())


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
            "summary.savings_cost_freed",
        ),
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
GAPS: Final = Table(
    name="gaps",
    columns=(*_COMMON, *_columns(Type.TEXT, "source reason"), *_columns(Type.WHOLE, "read")),
    parts=lambda audit: audit.completeness.gaps,
)

TABLES: Final = (AUDITS, WORKLOADS, FINDINGS, USAGE, SAVINGS, PREVENTED, PRICES, READINESS, EXCEPTIONS, GAPS)
