"""The clusters of a fleet as one table of CSV (RFC 4180); the other tables are in the JSON document."""

import csv
from typing import Final, TextIO

from usher.audit.document.fleet import Fleet, FleetRow
from usher.audit.reports.csv_tables import cell

_FIELDS: Final = (
    *("name", "id", "server", "version", "taken", "complete", "shards", "shards_missing", "nodes"),
    *("gpus", "gpus_allocatable", "gpus_allocated", "gpus_free", "gpus_waiting", "gpus_never", "gpus_half_started"),
    *("workloads", "workloads_never", "objects", "pods", "findings", "readiness_failed"),
)
_USAGE: Final = ("allocated", "measured", "used", "idle", "activity", "memory_share", "not_priced")
_COST: Final = ("currency", "cost_allocated", "cost_idle")


def write(fleet: Fleet, stream: TextIO, /) -> None:
    """Writes one row for each cluster and currency, and one for the sum of the clusters that have no row."""
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow((*_FIELDS, *_USAGE, *_COST))
    for row in (*fleet.clusters, *([fleet.clusters_rest] if fleet.clusters_rest else [])):
        common = [*(getattr(row, field) for field in _FIELDS), *(getattr(row.usage, field) for field in _USAGE)]
        writer.writerows([*map(cell, (*common, *money))] for money in _money(row))


def _money(row: FleetRow) -> list[tuple[str | float | None, ...]]:
    return [(each.currency, each.allocated, each.idle) for each in row.usage.costs] or [(None, None, None)]
