"""The comparison of a fleet with documents of earlier merges."""

from collections.abc import Sequence
from typing import Final

from usher.audit.document.fleet import Fleet, FleetPoint, FleetRow, FleetTrend

_MOST: Final = 400
"""Points of a trend: a year of days, or eight of weeks."""


def newest(earlier: Sequence[Fleet]) -> Fleet | None:
    """The newest of the earlier documents."""
    return max(earlier, key=lambda each: each.taken, default=None)


def compared(rows: Sequence[FleetRow], before: Fleet | None) -> tuple[FleetRow, ...]:
    """The clusters with their numbers in the earlier document; they are known again by their ids, or their names."""
    known = {} if before is None else {each.id or each.name: each for each in before.clusters}
    return tuple(
        each.model_copy(update={"findings_before": old.findings, "idle_before": old.usage.idle})
        if (old := known.get(each.id or each.name)) is not None
        else each
        for each in rows
    )


def trend(now: Fleet, rows: Sequence[FleetRow], earlier: Sequence[Fleet]) -> FleetTrend:
    """The points of all documents, each moment once, and the clusters that came and went."""
    points = {point.taken: point for each in earlier for point in (*each.trend.points, _point(each))}
    points |= {now.taken: _point(now)}
    before = newest(earlier)
    old = {} if before is None else {each.id or each.name: each.name for each in before.clusters}
    new = {each.id or each.name: each.name for each in rows}
    return FleetTrend(
        previous="" if before is None else before.taken,
        points=tuple(points[taken] for taken in sorted(points) if taken <= now.taken)[-_MOST:],
        clusters_new=() if before is None else tuple(sorted(new[key] for key in new.keys() - old.keys()))[:_MOST],
        # An earlier document may have summed its smallest clusters, which are not known to be gone.
        clusters_gone=tuple(sorted(old[key] for key in old.keys() - new.keys()))[:_MOST],
    )


def _point(fleet: Fleet) -> FleetPoint:
    summary = fleet.summary
    return FleetPoint(
        taken=fleet.taken,
        complete=fleet.complete,
        clusters=summary.clusters,
        gpus=summary.gpus,
        gpus_allocated=summary.gpus_allocated,
        allocated=summary.usage.allocated,
        idle=summary.usage.idle,
        idle_costs={each.currency: each.idle for each in summary.usage.costs if each.idle is not None},
        activity=summary.usage.activity,
        findings=sum(summary.findings.values()),
        never=summary.workloads_never,
    )
