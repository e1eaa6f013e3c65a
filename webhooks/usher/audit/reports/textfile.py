"""An audit as metrics, for the textfile collector of the node exporter of Prometheus.

The number of series is bounded: groups (teams, namespaces, products) beyond the first ones are one group together.
What was not measured has no series.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, TextIO

import prometheus_client as prometheus

from usher.audit.document import AcceleratorEntry, Audit, GroupTable, Summary, Usage
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

_Metric = tuple[str, str, tuple[str, ...], Samples]
"""Name, description, names of labels, numbers."""


def write(audit: Audit, stream: TextIO, /) -> None:
    """Writes the metrics; promtool accepts them."""
    registry = prometheus.CollectorRegistry()
    of = audit.cluster
    part = {name: value for name, value in (("audited_namespace", of.namespace), ("shard", of.shard)) if value}
    for name, text, labels, samples in _metrics(audit):
        gauge = prometheus.Gauge(f"{_PREFIX}{name}", text, ("cluster", *part, *labels), registry=registry)
        for values, number in samples:
            if number is not None:
                gauge.labels(*map(_label, (of.name, *part.values(), *values))).inc(number)
    stream.write(prometheus.generate_latest(registry).decode())


def _metrics(audit: Audit) -> Iterator[_Metric]:
    yield from _capacity(audit)
    yield from _usage(audit.summary)
    yield from _counts(audit.summary)
    yield from _groups(audit)
    yield from _prevented(audit)


def _capacity(audit: Audit) -> Iterator[_Metric]:
    found = audit.summary
    yield "timestamp_seconds", "When the audit was taken.", (), _single(_seconds(audit.taken))
    yield "complete", "1 if the audit could read everything.", (), _single(float(audit.completeness.complete))
    yield (
        "usage_measured",
        "1 if usage was measured, 0 if series of GPUs or answers are missing; no series if no usage was asked for.",
        (),
        _single(None if audit.measurement.source == "none" else float(not audit.measurement.failures)),
    )
    yield "window_seconds", "The time for which usage was measured.", (), _single(_window(audit))
    yield (
        "gpus",
        "GPUs at the time of the audit.",
        ("state",),
        _by(
            {
                "capacity": found.gpus,
                "allocatable": found.gpus_allocatable,
                "allocated": found.gpus_allocated,
                "free": found.gpus_free,
                "waiting": found.gpus_waiting,
                "never": found.gpus_never,
                "half_started": found.gpus_half_started,
            }
        ),
    )
    yield (
        "accelerators",
        "Accelerators other than GPUs at the time of the audit, in units of their resource.",
        ("resource", "state"),
        (
            ((each.resource, state), number)
            for each in audit.other_accelerators[:_GROUPS]
            for state, number in _states(each).items()
        ),
    )


def _states(found: AcceleratorEntry) -> Mapping[str, float | None]:
    return {
        "capacity": found.capacity,
        "usable": found.usable,
        "allocated": found.allocated,
        "free": found.free,
        "waiting": found.waiting,
        "never": found.never,
    }


def _usage(found: Summary) -> Iterator[_Metric]:
    usage = Usage(allocated=found.allocated, measured=found.measured, used=found.used, idle=found.idle)
    yield "gpu_seconds", "GPU time in the window.", ("state",), _by(_times(usage) | _not_priced(found.not_priced))
    yield "activity_ratio", "Activity of allocated GPUs, from 0 to 1.", (), _single(found.activity)
    yield "memory_ratio", "Share of the memory of allocated GPUs that was used.", (), _single(found.memory_share)
    costs = {
        "allocated": found.cost_allocated,
        "idle": found.cost_idle,
        "free": found.cost_free,
        "out_of_use": found.cost_out_of_use,
        "savings": found.savings_cost,
    }
    yield (
        "cost",
        "Money in the window.",
        ("currency", "part"),
        (((found.currency, part), costs[part]) for part in costs),
    )


def _counts(found: Summary) -> Iterator[_Metric]:
    yield "workloads", "Workloads that hold or want GPUs.", (), _single(found.workloads)
    yield "workloads_never", "Workloads that can never run.", (), _single(found.workloads_never)
    yield "findings", "Findings by outcome.", ("outcome",), _by(found.findings)
    yield "queue_wait_p95_seconds", "Longest wait of 95 % of workloads.", (), _single(found.queue_wait_p95_seconds)
    yield "exceptions_ending", "Exceptions that end within 14 days.", (), _single(found.exceptions_ending)
    yield "readiness_items", "Items of the checklist by standing.", ("standing",), _by(found.readiness)


def _groups(audit: Audit) -> Iterator[_Metric]:
    labels = ("by", "group")
    rows = [(table.by, name, usage) for table in audit.usage for name, usage in _bounded(table)]
    yield "group_gpus", "GPUs that a group holds now.", labels, (((by, name), each.gpus_now) for by, name, each in rows)
    yield (
        "group_gpu_seconds",
        "GPU time of a group in the window.",
        (*labels, "state"),
        (((by, name, state), value) for by, name, each in rows for state, value in _times(each).items()),
    )
    yield (
        "group_cost",
        "Money of a group in the window.",
        (*labels, "currency", "part"),
        (
            ((by, name, each.cost.currency, part), value)
            for by, name, each in rows
            if each.cost is not None
            for part, value in (("allocated", each.cost.allocated), ("idle", each.cost.idle))
        ),
    )


def _prevented(audit: Audit) -> Iterator[_Metric]:
    """Rows do not add up, so those beyond the bound are left out. A rule that only warns prevents nothing."""
    rows = [each for each in audit.prevented if each.denies][:_GROUPS]
    counts = (((each.code,), each.workloads) for each in rows)
    denied = "of workloads that a rule denies today"
    yield "prevented_workloads", "Workloads that a rule denies today.", ("rule",), counts
    yield (
        "prevented_gpu_seconds",
        f"GPU time in the window {denied}.",
        ("rule", "state"),
        (
            ((each.code, state), None if hours is None else hours * _HOUR)
            for each in rows
            for state, hours in (("idle", each.idle), ("stuck", each.stuck))
        ),
    )
    yield (
        "prevented_cost",
        f"Money in the window {denied}.",
        ("rule", "currency"),
        (((each.code, audit.summary.currency), each.cost) for each in rows),
    )


def _bounded(table: GroupTable) -> Iterator[tuple[str, Usage]]:
    """The rows of a table by name; those beyond the bound have one name, under which they are summed."""
    for place, row in enumerate(table.rows):
        yield row.name or _UNASSIGNED if place < _GROUPS else _OTHERS, row.usage


def _times(usage: Usage) -> dict[str, float | None]:
    hours = {"allocated": usage.allocated, "measured": usage.measured, "used": usage.used, "idle": usage.idle}
    return {state: None if value is None else value * _HOUR for state, value in hours.items()}


def _not_priced(hours: float | None) -> dict[str, float | None]:
    return {"not_priced": None if hours is None else hours * _HOUR}


def _single(number: float | None) -> Samples:
    return [((), number)]


def _by(values: Mapping[str, float | None] | Mapping[str, int]) -> Samples:
    return [((name,), value) for name, value in sorted(values.items())]


def _window(audit: Audit) -> float | None:
    start, end = _seconds(audit.measurement.start), _seconds(audit.measurement.end)
    return None if start is None or end is None else end - start


def _seconds(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _label(text: str) -> str:
    return wording.printable(text)[:_LONGEST]
