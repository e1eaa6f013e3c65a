"""Metrics of GPUQuotas. The number of series is bounded, by fixed labels and by `MOST_QUOTAS`."""

from collections.abc import Iterator
from typing import Final

import prometheus_client as prometheus
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from usher import errors, paths, quantities
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live.account_store import ChargeResult, Correction
from usher.cluster.facts.store import Store
from usher.kinds.reading.values import Absence

MOST_QUOTAS: Final = 200
"""The most quotas that it shows, the first by name."""

# A charge is one write to the API server: from some milliseconds to the longest wait of a review.
_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0)


class QuotaMetrics:
    """Counts charges; see `gpu_quota.live.metering.Meter`."""

    def __init__(self, registry: prometheus.CollectorRegistry) -> None:
        """Registers the metrics."""
        self._charges = prometheus.Counter(
            "usher_quota_charges", "Charges of GPUQuotas, by result.", ["result"], registry=registry
        )
        self._seconds = prometheus.Histogram(
            "usher_quota_charge_seconds", "Time that a review waited for a charge.", buckets=_BUCKETS, registry=registry
        )
        self._conflicts = prometheus.Counter(
            "usher_quota_conflicts",
            "Writes that failed because another replica wrote first; usher repeats each.",
            registry=registry,
        )
        self._reconciled = prometheus.Counter(
            "usher_quota_reconciled", "Corrections of accounts and conditions, by action.", ["action"],
            registry=registry,
        )  # fmt: skip
        for result in ChargeResult:
            self._charges.labels(result.value)
        for action in Correction:
            self._reconciled.labels(action.value)

    def charged(self, result: ChargeResult, *, seconds: float) -> None:
        self._charges.labels(result.value).inc()
        self._seconds.observe(seconds)

    def conflicted(self) -> None:
        self._conflicts.inc()

    def reconciled(self, action: Correction) -> None:
        self._reconciled.labels(action.value).inc()


class OfQuotas(Collector):
    """Limits of quotas and their used amounts, read when Prometheus scrapes."""

    def __init__(self, facts: Store) -> None:
        self._facts = facts

    def collect(self) -> Iterator[Metric]:
        labels = ["quota", "unit", "classes"]
        hard = GaugeMetricFamily("usher_quota_hard", "Amount that a limit of a GPUQuota allows.", labels=labels)
        used = GaugeMetricFamily("usher_quota_used", "Used amount of a limit of a GPUQuota.", labels=labels)
        found = self._facts.objects(gpu_quota_definitions.GROUP, gpu_quota_definitions.KIND)
        names = [] if isinstance(found, Absence) else sorted(found)[:MOST_QUOTAS]
        for name in names:
            value = {} if isinstance(found, Absence) else found.get(name, {})
            quota = gpu_quota_definitions.of_object(value)
            for limit, unit, amount, is_used in _amounts(quota, value) if isinstance(quota, Quota) else ():
                (used if is_used else hard).add_metric([name, unit, limit], amount)
        yield from (hard, used)


def _amounts(quota: Quota, value: paths.Object) -> Iterator[tuple[str, str, float, bool]]:
    """Classes of a limit, unit, amount, and whether the amount is used. It shows only the first of limits with equal
    classes.
    """
    status = value.get("status")
    said = status.get("used") if isinstance(status, dict) else None
    of_limits = said if isinstance(said, list) else []
    shown: set[tuple[str, str]] = set()
    for index, limit in enumerate(quota.limits):
        classes = ",".join(sorted(limit.classes))
        of_units = of_limits[index] if index < len(of_limits) else None
        for unit, nanos in limit.hard.items():
            if (classes, unit) in shown:
                continue
            shown.add((classes, unit))
            yield classes, unit, nanos / quantities.NANO, False
            yield classes, unit, _number(of_units.get(unit) if isinstance(of_units, dict) else None), True


def _number(value: paths.Json) -> float:
    """An amount in the status; 0 if missing."""
    try:
        return quantities.parse(value).nanos / quantities.NANO if isinstance(value, str | int) else 0.0
    except errors.QuantityError:
        return 0.0
