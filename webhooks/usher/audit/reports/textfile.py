"""An audit as metrics, for the textfile collector of the node exporter of Prometheus.

The number of series is bounded: groups (teams, namespaces, products) beyond the first ones are one group together.
What was not measured has no series.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, TextIO

import msgspec
import prometheus_client as prometheus
from msgspec import Struct

from usher.audit.document import Audit, GroupTable, Usage
from usher.audit.reports import data_tables
from usher.check.formats import wording

_PREFIX: Final = "gpu_usher_audit_"
_GROUPS: Final = 50
"""The most groups of one property, rules that would have prevented something, and resources of accelerators."""
_OTHERS: Final = "(others)"
_UNASSIGNED: Final = "(unassigned)"
"""An empty label is the same as a missing one for Prometheus."""
_LONGEST: Final = 128
"""Characters of a label."""
_HOUR: Final = 3600
"""Seconds. Metrics have base units, so GPU-hours become GPU-seconds."""

Samples = Iterable[tuple[tuple[str, ...], float | None]]
"""Numbers by the values of labels."""


class _Metric(Struct, frozen=True, forbid_unknown_fields=True):
    """A metric as metrics.yaml describes it."""

    text: str
    labels: tuple[str, ...] = ()
    value: str = ""
    values: Mapping[str, str] = {}

    def samples(self, audit: Audit) -> Samples:
        if self.values:
            return _by({name: data_tables.reader_of(path)(audit) for name, path in self.values.items()})
        found = data_tables.reader_of(self.value)(audit)
        return _by(found) if self.labels else [((), found)]


_METRICS: Final = msgspec.yaml.decode(Path(__file__).with_name("metrics.yaml").read_bytes(), type=dict[str, _Metric])


def write(audit: Audit, stream: TextIO, /) -> None:
    """Writes the metrics; promtool accepts them."""
    registry = prometheus.CollectorRegistry()
    of = audit.cluster
    part = {name: value for name, value in (("audited_namespace", of.namespace), ("shard", of.shard)) if value}
    computed = dict((*_of_audit(audit), *_of_groups(audit), *_of_rules(audit)))
    for name, metric in _METRICS.items():
        labels = ("cluster", *part, *metric.labels)
        gauge = prometheus.Gauge(f"{_PREFIX}{name}", metric.text, labels, registry=registry)
        for values, number in computed[name] if name in computed else metric.samples(audit):
            if number is not None:
                gauge.labels(*map(_label, (of.name, *part.values(), *values))).inc(number)
    stream.write(prometheus.generate_latest(registry).decode())


def _of_audit(audit: Audit) -> Iterator[tuple[str, Samples]]:
    found, measured = audit.summary, audit.measurement
    start, end = _seconds(measured.start), _seconds(measured.end)
    yield "timestamp_seconds", [((), _seconds(audit.taken))]
    yield "usage_measured", [((), None if measured.source == "none" else float(not measured.failures))]
    yield "window_seconds", [((), None if start is None or end is None else end - start)]
    yield (
        "accelerators",
        (
            ((each.resource, state), getattr(each, state))
            for each in audit.other_accelerators[:_GROUPS]
            for state in ("capacity", "usable", "allocated", "free", "waiting", "never")
        ),
    )
    usage = Usage(allocated=found.allocated, measured=found.measured, used=found.used, idle=found.idle)
    yield "gpu_seconds", _by(_times(usage) | {"not_priced": _in_seconds(found.not_priced)})
    parts = {name: getattr(found, f"cost_{name}") for name in ("allocated", "idle", "free", "out_of_use")}
    parts["savings"] = found.savings_cost
    yield "cost", (((found.currency, part), cost) for part, cost in parts.items())


def _of_groups(audit: Audit) -> Iterator[tuple[str, Samples]]:
    rows = [(table.by, name, usage) for table in audit.usage for name, usage in _bounded(table)]
    yield "group_gpus", (((by, name), each.gpus_now) for by, name, each in rows)
    yield (
        "group_gpu_seconds",
        (((by, name, state), value) for by, name, each in rows for state, value in _times(each).items()),
    )
    yield (
        "group_cost",
        (
            ((by, name, each.cost.currency, part), value)
            for by, name, each in rows
            if each.cost is not None
            for part, value in (("allocated", each.cost.allocated), ("idle", each.cost.idle))
        ),
    )


def _of_rules(audit: Audit) -> Iterator[tuple[str, Samples]]:
    """Rows do not add up, so those beyond the bound are left out. A rule that only warns prevents nothing."""
    rows = [each for each in audit.prevented if each.denies][:_GROUPS]
    yield "prevented_workloads", (((each.code,), each.workloads) for each in rows)
    hours = (
        (each.code, state, hours) for each in rows for state, hours in (("idle", each.idle), ("stuck", each.stuck))
    )
    yield "prevented_gpu_seconds", (((code, state), _in_seconds(number)) for code, state, number in hours)
    yield "prevented_cost", (((each.code, audit.summary.currency), each.cost) for each in rows)


def _bounded(table: GroupTable) -> Iterator[tuple[str, Usage]]:
    """The rows of a table by name; those beyond the bound have one name, under which they are summed."""
    for place, row in enumerate(table.rows):
        yield row.name or _UNASSIGNED if place < _GROUPS else _OTHERS, row.usage


def _times(usage: Usage) -> dict[str, float | None]:
    return {state: _in_seconds(getattr(usage, state)) for state in ("allocated", "measured", "used", "idle")}


def _in_seconds(hours: float | None) -> float | None:
    return None if hours is None else hours * _HOUR


def _by(values: Mapping[str, float | None] | Mapping[str, int]) -> Samples:
    return [((name,), value) for name, value in sorted(values.items())]


def _seconds(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _label(text: str) -> str:
    return wording.printable(text)[:_LONGEST]
