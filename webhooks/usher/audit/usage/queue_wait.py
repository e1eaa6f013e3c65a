"""The queue wait of workloads: the time within which 95 % of them were admitted."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from usher import paths
from usher.audit.building import fields
from usher.audit.estate import Estate
from usher.audit.usage import metrics
from usher.audit.usage.series import Answer

SHARE: Final = 0.95

_WORKLOADS: Final = ("kueue.x-k8s.io", "Workload")

_LATE: Final = 3
"""A counter whose series begins this many points after the start of the window, or later, began at 0."""


def of_estate(estate: Estate, answer: Answer, *, start: datetime | None) -> tuple[float | None, str]:
    """The wait in seconds and how it was computed: from the metrics of Kueue, else from its Workloads since `start`."""
    if answer.series:
        formula = f"histogram_quantile(0.95) over the growth of {metrics.QUEUE_WAIT.metric} of all queues"
        return of_histogram(answer), formula
    formula = "95th percentile of Admitted - creationTimestamp of the Workloads of Kueue admitted in the window"
    listed = estate.objects.get(_WORKLOADS, ())
    if start is None or not isinstance(listed, Sequence):
        return None, formula
    return of_workloads(listed, start=start), formula


def of_histogram(answer: Answer, *, share: float = SHARE) -> float | None:
    """Seconds from the counters of a histogram, interpolated within a bucket as `histogram_quantile` of PromQL does.

    If the quantile lies beyond the last finite bound, it is that bound: the real wait may be longer. None if the
    histogram is empty.
    """
    buckets: dict[float, float] = {}
    for each in answer.series:
        bound = _number(each.labels.get("le", ""))
        if bound is not None:
            buckets[bound] = buckets.get(bound, 0.0) + increase(each.values, first=each.first)
    counts = sorted(buckets.items())
    finite = [bound for bound, _ in counts if bound < math.inf]
    if not finite or counts[-1][0] != math.inf or not counts[-1][1] > 0:
        return None
    rank, below, passed = share * counts[-1][1], 0.0, 0.0
    for bound, count in counts:
        if count >= rank:
            if bound == math.inf:
                return finite[-1]
            return below + (bound - below) * ((rank - passed) / (count - passed)) if count > passed else bound
        below, passed = bound, count
    return finite[-1]


def increase(values: Sequence[float], *, first: int) -> float:
    """The growth of a counter. A value below the one before means that the counter restarted at 0."""
    before = 0.0 if first >= _LATE else math.nan
    grown = 0.0
    for value in values:
        if math.isnan(value):
            continue
        if not math.isnan(before):
            grown += value - before if value >= before else value
        before = value
    return grown


def of_workloads(objects: Iterable[paths.Object], *, start: datetime, share: float = SHARE) -> float | None:
    """Seconds from the Workloads of Kueue that still exist and were admitted since `start`."""
    waits = sorted(wait for value in objects if (wait := _wait(value, start)) is not None)
    return waits[math.ceil(share * len(waits)) - 1] if waits else None


def _wait(value: paths.Object, start: datetime) -> float | None:
    created = fields.time(paths.metadata(value).get("creationTimestamp"))
    if created is None:
        return None
    for each in fields.mappings(fields.mapping(value.get("status")).get("conditions")):
        if each.get("type") == "Admitted" and each.get("status") == "True":
            admitted = fields.time(each.get("lastTransitionTime"))
            if admitted is not None and admitted >= max(start, created):
                return (admitted - created).total_seconds()
    return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value
