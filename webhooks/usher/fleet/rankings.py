"""The largest things of a fleet: codes of findings, idle workloads, savings, accelerators, and items that fail."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from usher.audit.document import Severity, Subject
from usher.audit.document.fleet import AcceleratorRow, CodeRow, FleetSaving, IdleWorkload, ReadinessRow
from usher.fleet.database import Database
from usher.fleet.selection import ChosenCluster
from usher.fleet.totals import rounded

_MOST_CODES: Final = 500
_MOST_PLACES: Final = 5
_SEVERITIES: Final = {each.value: place for place, each in enumerate(Severity)}

_CODES: Final = """
SELECT code, min("check") AS name, min(title) AS title, min(nullif(list_position(?, severity), 0)) AS worst,
    count(*) AS findings, count(DISTINCT cluster) AS clusters, coalesce(fsum(gpus), 0) AS gpus,
    count(*) FILTER (never) AS never
FROM kept_findings GROUP BY code ORDER BY coalesce(worst, 9), findings DESC, code LIMIT ?
"""
_PLACES: Final = """
SELECT code, cluster, count(*) AS findings FROM kept_findings GROUP BY code, cluster
QUALIFY row_number() OVER (PARTITION BY code ORDER BY count(*) DESC, cluster) <= ?
ORDER BY code, findings DESC, cluster
"""
_IDLE: Final = """
SELECT * FROM workloads WHERE idle > 0
ORDER BY idle DESC, cluster, namespace, kind, name, api_version LIMIT ?
"""
_ACCELERATORS: Final = """
SELECT resource, count(DISTINCT cluster) AS clusters, sum(nodes)::BIGINT AS nodes, fsum(capacity) AS capacity,
    fsum(allocated) AS allocated, fsum(waiting) AS waiting, fsum(never) AS never
FROM accelerators GROUP BY resource ORDER BY greatest(fsum(capacity), fsum(allocated), 0) DESC, resource LIMIT ?
"""
_SAVINGS: Final = """
SELECT savings.*, audits.currency FROM savings JOIN audits USING (cluster, shard) WHERE adds_up
ORDER BY gpu_hours DESC, cluster, namespace, savings.kind, savings.name, saving, change LIMIT ?
"""
_READINESS: Final = """
SELECT id, standing, min(area) AS area, min(title) AS title, count(DISTINCT cluster) AS clusters,
    list_sort(list(DISTINCT cluster))[1:10] AS some
FROM kept_readiness GROUP BY id, standing ORDER BY id, standing LIMIT 2000
"""


def codes(database: Database, chosen: Sequence[ChosenCluster], before: Mapping[str, int]) -> tuple[CodeRow, ...]:
    """Findings by code, the worst first; `before` has the numbers of an earlier document."""
    places = defaultdict[str, list[tuple[str, int]]](list)
    for row in database.rows(_PLACES, [_MOST_PLACES]):
        places[row["code"]].append((chosen[row["cluster"]].name, row["findings"]))
    severities = list(_SEVERITIES)
    return tuple(
        CodeRow(
            code=row["code"],
            name=row["name"],
            title=row["title"],
            severity=Severity(severities[row["worst"] - 1]) if row["worst"] else Severity.LOW,
            findings=row["findings"],
            clusters=row["clusters"],
            gpus=rounded(row["gpus"]) or 0,
            never=row["never"],
            before=before.get(row["code"]),
            where=tuple(places[row["code"]]),
        )
        for row in database.rows(_CODES, [severities, _MOST_CODES])
    )


def idle_workloads(database: Database, chosen: Sequence[ChosenCluster], *, most: int) -> tuple[IdleWorkload, ...]:
    """The workloads with the most idle GPU-hours."""
    return tuple(
        IdleWorkload(
            cluster=chosen[row["cluster"]].name,
            subject=_subject(row),
            team=row["team"] or "",
            gpus_now=rounded(row["gpus_now"]) or 0,
            idle=rounded(row["idle"]) or 0,
            cost=rounded(row["cost_idle"]),
            currency=row["currency"] or "",
        )
        for row in database.rows(_IDLE, [most])
    )


def accelerators(database: Database, *, most: int) -> tuple[AcceleratorRow, ...]:
    """Accelerators other than GPUs, the largest number first."""
    return tuple(
        AcceleratorRow(
            resource=row["resource"] or "",
            clusters=row["clusters"],
            nodes=row["nodes"],
            capacity=rounded(row["capacity"]),
            allocated=rounded(row["allocated"]),
            waiting=rounded(row["waiting"]),
            never=rounded(row["never"]),
        )
        for row in database.rows(_ACCELERATORS, [most])
    )


def savings(database: Database, chosen: Sequence[ChosenCluster], *, most: int) -> tuple[FleetSaving, ...]:
    """The largest savings that add up."""
    return tuple(
        FleetSaving(
            cluster=chosen[row["cluster"]].name,
            subject=_subject(row),
            kind=row["saving"],
            team=row["team"] or "",
            change=row["change"],
            gpu_hours=rounded(row["gpu_hours"]) or 0,
            cost=rounded(row["cost"]),
            currency=row["currency"] or "",
        )
        for row in database.rows(_SAVINGS, [most])
    )


def _subject(row: Mapping[str, Any]) -> Subject:
    return Subject(
        api_version=row["api_version"] or "",
        kind=row["kind"] or "",
        namespace=row["namespace"] or "",
        name=row["name"] or "",
    )


def readiness(database: Database, chosen: Sequence[ChosenCluster]) -> tuple[ReadinessRow, ...]:
    """The items of the checklist, those that fail in most clusters first."""
    standings = defaultdict[str, dict[str, int]](dict)
    failing, titles = dict[str, tuple[str, ...]](), dict[str, tuple[str, str]]()
    for row in database.rows(_READINESS):
        standings[row["id"]][row["standing"]] = row["clusters"]
        titles.setdefault(row["id"], (row["area"], row["title"]))
        if row["standing"] == "fail":
            failing[row["id"]] = tuple(chosen[each].name for each in row["some"])
    order = sorted(standings, key=lambda each: (-standings[each].get("fail", 0), each))
    return tuple(
        ReadinessRow(
            id=each,
            area=titles[each][0],
            title=titles[each][1],
            standings=dict(sorted(standings[each].items())),
            failing=failing.get(each, ()),
        )
        for each in order
    )
