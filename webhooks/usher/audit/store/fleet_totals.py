"""The rows of clusters and groups, the sum of the rest after the largest ones, and the headline numbers of a fleet."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any, Final

from usher.audit.document import Cost
from usher.audit.document.fleet import FleetRow, FleetSummary, FleetTable, FleetUsage, GroupRow, SavingSum
from usher.audit.partial import ABOUT_ABSENCE, ABOUT_WORKLOADS
from usher.audit.store.fleet_database import Database
from usher.audit.store.part_selection import ChosenCluster, missing_shards

DIGITS: Final = 6
"""Digits of numbers in documents."""

_CLUSTERS: Final = """
WITH a AS (
    SELECT cluster,
        -- Nodes are in shard 0 alone.
        sum(nodes) FILTER (shard = 0) AS nodes,
        fsum(gpus) FILTER (shard = 0) AS gpus,
        fsum(gpus_allocatable) FILTER (shard = 0) AS gpus_allocatable,
        -- Each shard subtracts from the GPUs of usable nodes what its own pods hold there, if it knows all of them.
        CASE WHEN count(gpus_free) = count(*)
            THEN fsum(gpus_usable) FILTER (shard = 0) - fsum(gpus_usable - gpus_free) END AS gpus_free,
        fsum(gpus_allocated) AS gpus_allocated,
        fsum(gpus_waiting) AS gpus_waiting,
        fsum(gpus_never) AS gpus_never,
        fsum(gpus_half_started) AS gpus_half_started,
        sum(workloads_never) AS workloads_never,
        coalesce(sum(objects), 0) AS objects,
        coalesce(sum(pods), 0) AS pods,
        arg_min(server, shard) AS server,
        arg_min(version, shard) AS version,
        fsum(allocated) AS allocated, fsum(measured) AS measured, fsum(used) AS used, fsum(idle) AS idle,
        fsum(memory_share * measured) AS memory, fsum(measured) FILTER (memory_share IS NOT NULL) AS weight,
        fsum(not_priced) AS not_priced
    FROM audits GROUP BY cluster
),
w AS (SELECT cluster, count(*) AS workloads, coalesce(fsum(gpus_now), 0) AS gpus_now FROM workloads GROUP BY cluster),
f AS (SELECT cluster, count(*) AS findings FROM kept_findings GROUP BY cluster),
r AS (
    SELECT cluster, count(*) FILTER (standing = 'fail') AS readiness_failed FROM kept_readiness GROUP BY cluster
)
SELECT a.*, coalesce(w.workloads, 0) AS workloads, coalesce(w.gpus_now, 0) AS gpus_now,
    coalesce(f.findings, 0) AS findings, r.readiness_failed
FROM a LEFT JOIN w USING (cluster) LEFT JOIN f USING (cluster) LEFT JOIN r USING (cluster)
ORDER BY cluster
"""
_CLUSTER_COSTS: Final = """
SELECT cluster, currency, fsum(cost_allocated) AS allocated, fsum(cost_idle) AS idle
FROM audits WHERE cost_allocated IS NOT NULL AND currency <> '' GROUP BY cluster, currency ORDER BY cluster, currency
"""
_SAVINGS: Final = "SELECT count(*) AS number, coalesce(fsum(gpu_hours), 0) AS gpu_hours FROM savings WHERE adds_up"
_SAVED: Final = """
SELECT audits.currency, fsum(savings.cost) AS cost FROM savings JOIN audits USING (cluster, shard)
WHERE savings.adds_up AND savings.cost IS NOT NULL AND audits.currency <> '' GROUP BY audits.currency
ORDER BY audits.currency
"""
_OUTCOMES: Final = "SELECT outcome AS name, count(*) AS number FROM kept_findings GROUP BY ALL ORDER BY ALL LIMIT 20"
_SEVERITIES: Final = "SELECT severity AS name, count(*) AS number FROM kept_findings GROUP BY ALL ORDER BY ALL LIMIT 20"

_COUNTED: Final = ("workloads", "objects", "pods", "findings")
_KNOWN: Final = (
    *("gpus", "gpus_allocatable", "gpus_free"),
    *("gpus_allocated", "gpus_waiting", "gpus_never", "gpus_half_started"),
)


def cluster_rows(database: Database, chosen: Sequence[ChosenCluster]) -> tuple[FleetRow, ...]:
    """One row for each cluster with rows, in the order of the names."""
    costs = defaultdict[int, list[Cost]](list)
    for row in database.rows(_CLUSTER_COSTS):
        costs[row["cluster"]].append(cost_of_row(row))
    return tuple(
        _cluster_row(row, chosen[row["cluster"]], tuple(costs[row["cluster"]])) for row in database.rows(_CLUSTERS)
    )


def _cluster_row(row: Mapping[str, Any], cluster: ChosenCluster, costs: tuple[Cost, ...]) -> FleetRow:
    missing = len(missing_shards(cluster))
    # The pods of a missing shard hold some of the accelerators that the other shards count as free.
    free = None if missing else row["gpus_free"]
    numbers: dict[str, Any] = {name: row[name] for name in (*_COUNTED, "nodes", "workloads_never", "readiness_failed")}
    numbers |= {name: rounded(row[name]) for name in _KNOWN}
    return FleetRow(
        name=cluster.name,
        id=cluster.id,
        server=row["server"] or "",
        version=row["version"] or "",
        taken=cluster.taken,
        complete=not missing and all(each.record.complete for each in cluster.parts),
        shards=cluster.of,
        shards_missing=missing,
        usage=fleet_usage(row, costs),
        **{**numbers, "gpus_free": None if free is None else rounded(max(0.0, free))},
    )


def fleet_usage(row: Mapping[str, Any], costs: tuple[Cost, ...]) -> FleetUsage:
    """The usage from a query row with the columns `memory` and `weight` for the mean share of memory."""
    measured, used = row["measured"], row["used"]
    return FleetUsage(
        gpus_now=rounded(row["gpus_now"]) or 0,
        allocated=rounded(row["allocated"]),
        measured=rounded(measured),
        used=rounded(used),
        idle=rounded(row["idle"]),
        activity=rounded(used / measured) if measured and used is not None else None,
        memory_share=rounded(row["memory"] / row["weight"]) if row["weight"] and row["memory"] is not None else None,
        costs=costs,
        not_priced=rounded(row["not_priced"]),
    )


def cost_of_row(row: Mapping[str, Any]) -> Cost:
    return Cost(
        currency=row["currency"],
        allocated=rounded(row["allocated"]) or 0,
        used=rounded(row.get("used")),
        idle=rounded(row["idle"]),
        idle_memory=rounded(row.get("idle_memory")),
    )


def rounded(number: float | None) -> float | None:
    return None if number is None else round(number, DIGITS)


def summed(rows: Sequence[FleetRow], *, name: str) -> FleetRow:
    """The sum of clusters, as one row."""
    sums: dict[str, Any] = {field: sum(getattr(each, field) for each in rows) for field in _COUNTED}
    sums |= {field: total(getattr(each, field) for each in rows) for field in _KNOWN}
    return FleetRow(
        name=name,
        clusters=len(rows),
        taken=max((each.taken for each in rows), default=""),
        complete=all(each.complete for each in rows),
        shards=sum(each.shards for each in rows),
        shards_missing=sum(each.shards_missing for each in rows),
        nodes=count(each.nodes for each in rows),
        usage=_usage_of(rows),
        workloads_never=count(each.workloads_never for each in rows),
        readiness_failed=count(each.readiness_failed for each in rows),
        **sums,
    )


def total(values: Iterable[float | None]) -> float | None:
    """The sum of the known values; None if all are unknown."""
    known = [each for each in values if each is not None]
    return rounded(fsum(known)) if known else None


def count(values: Iterable[int | None]) -> int | None:
    """As `total`, for whole numbers."""
    known = [each for each in values if each is not None]
    return sum(known) if known else None


def _usage_of(rows: Sequence[FleetRow]) -> FleetUsage:
    def hours(field: str) -> float | None:
        return total(getattr(each.usage, field) for each in rows)

    measured, used = hours("measured"), hours("used")
    parts = [each.usage for each in rows]
    shares = [(each.memory_share, each.measured or 0) for each in parts if each.memory_share is not None]
    weight = fsum(each for _, each in shares)
    return FleetUsage(
        gpus_now=hours("gpus_now") or 0,
        allocated=hours("allocated"),
        measured=measured,
        used=used,
        idle=hours("idle"),
        activity=rounded(used / measured) if measured and used is not None else None,
        memory_share=rounded(fsum(share * each for share, each in shares) / weight) if weight else None,
        costs=_costs_of(rows),
        not_priced=hours("not_priced"),
    )


def _costs_of(rows: Iterable[FleetRow]) -> tuple[Cost, ...]:
    by_currency = defaultdict[str, list[Cost]](list)
    for each in rows:
        for money in each.usage.costs:
            by_currency[money.currency].append(money)
    return tuple(
        Cost(
            currency=currency,
            allocated=round(fsum(each.allocated for each in costs), DIGITS),
            idle=total(each.idle for each in costs),
        )
        for currency, costs in sorted(by_currency.items())
    )


def summary(database: Database, rows: Sequence[FleetRow], exceptions_ending: int, *, missing: int) -> FleetSummary:
    """The headline numbers of all clusters; `missing` is the number of further clusters without a part."""
    whole = summed(rows, name="")
    (savings,) = database.rows(_SAVINGS)
    saved = {row["currency"]: rounded(row["cost"]) or 0 for row in database.rows(_SAVED)}
    same = (*_KNOWN, "workloads", "workloads_never", "objects", "pods")
    fields: dict[str, Any] = {field: getattr(whole, field) for field in same}
    return FleetSummary(
        clusters=len(rows),
        clusters_missing=missing,
        clusters_complete=sum(each.complete for each in rows),
        clusters_without_nodes=sum(each.gpus is None for each in rows),
        clusters_without_pods=sum(each.gpus_allocated is None for each in rows),
        clusters_without_free=sum(each.gpus_free is None and each.gpus is not None for each in rows),
        clusters_not_measured=sum(each.usage.measured is None for each in rows),
        findings={row["name"]: row["number"] for row in database.rows(_OUTCOMES)},
        severities={row["name"]: row["number"] for row in database.rows(_SEVERITIES)},
        usage=whole.usage,
        savings=SavingSum(number=savings["number"], gpu_hours=rounded(savings["gpu_hours"]) or 0, costs=saved),
        exceptions_ending=exceptions_ending,
        **fields,
    )


def exceptions_ending(database: Database) -> int:
    """The number of exceptions in all clusters that end soon. The shards of one cluster read the same exceptions."""
    query = "SELECT cluster, max(exceptions_ending) AS number FROM audits GROUP BY cluster"
    return sum(row["number"] or 0 for row in database.rows(query))


GROUPED_BY: Final = ("team", "product", "capacityType", "priority")
"""The groups that mean the same in all clusters. Namespaces and queues do not."""

PROVEN_ONCE: Final = ("ai-operator",)
"""Items of the checklist that one workload proves: they pass if they pass in one shard."""

_VIEWS: Final = (
    """
    CREATE TEMP TABLE present AS SELECT cluster, count(DISTINCT shard) AS shards FROM audits GROUP BY cluster
    """,
    # Shards know all objects without a namespace, and each shard reports them.
    """
    CREATE TEMP VIEW kept_findings AS
    SELECT findings.* REPLACE (
        CASE WHEN namespace = '' AND list_contains(getvariable('about_workloads'), code)
            THEN fsum(gpus) OVER same ELSE gpus END AS gpus
    )
    FROM findings JOIN present USING (cluster)
    WINDOW same AS (PARTITION BY cluster, fingerprint, namespace)
    QUALIFY namespace <> '' OR (
        shard = min(shard) OVER same
        AND (NOT list_contains(getvariable('about_absence'), code) OR count(DISTINCT shard) OVER same >= shards)
    )
    """,
    # Items about tenants look at the workloads of the shard, so an item gets the verdict of the worst shard.
    """
    CREATE TEMP VIEW kept_readiness AS
    SELECT cluster, id, min(area) AS area, min(title) AS title,
        CASE WHEN list_contains(getvariable('proven_once'), id) AND bool_or(standing = 'pass') THEN 'pass'
        ELSE arg_min(standing, list_position(['fail', 'not known', 'pass', 'does not apply', standing], standing)) END
        AS standing
    FROM readiness GROUP BY cluster, id
    """,
    # Without measured usage, a part may have no table of teams; and a team may have only findings.
    """
    INSERT INTO usage (cluster, shard, "by", name, workloads, gpus_now)
    SELECT cluster, shard, 'team', coalesce(team, ''), count(*), fsum(gpus_now) FROM workloads
    WHERE NOT EXISTS (
        FROM usage WHERE usage.cluster = workloads.cluster AND usage.shard = workloads.shard AND usage."by" = 'team'
    ) GROUP BY ALL
    """,
    """
    INSERT INTO usage (cluster, shard, "by", name, workloads, gpus_now)
    SELECT DISTINCT cluster, 0, 'team', coalesce(team, ''), 0, 0.0 FROM kept_findings
    WHERE NOT EXISTS (
        FROM usage WHERE usage.cluster = kept_findings.cluster AND usage.name = coalesce(kept_findings.team, '')
        AND usage."by" = 'team'
    )
    """,
)
_RANKED: Final = """
CREATE OR REPLACE TEMP TABLE ranked AS
SELECT name, least(row_number() OVER (
    ORDER BY coalesce(fsum(idle), -1) DESC, coalesce(fsum(gpus_now), 0) DESC, sum(workloads) DESC, name
), ?) AS place
FROM usage WHERE "by" = ? GROUP BY name
"""
_GROUPS: Final = """
SELECT place, min(name) AS name, count(DISTINCT name) AS names, count(DISTINCT cluster) AS clusters,
    coalesce(sum(workloads), 0)::BIGINT AS workloads, coalesce(fsum(gpus_now), 0) AS gpus_now,
    fsum(allocated) AS allocated, fsum(measured) AS measured, fsum(used) AS used, fsum(idle) AS idle,
    fsum(memory_share * measured) AS memory, fsum(measured) FILTER (memory_share IS NOT NULL) AS weight,
    fsum(not_priced) AS not_priced
FROM usage JOIN ranked USING (name) WHERE "by" = ? GROUP BY place ORDER BY place
"""
_GROUP_COSTS: Final = """
SELECT place, currency, fsum(cost_allocated) AS allocated, fsum(cost_used) AS used, fsum(cost_idle) AS idle,
    fsum(cost_idle_memory) AS idle_memory
FROM usage JOIN ranked USING (name) WHERE "by" = ? AND cost_allocated IS NOT NULL AND currency <> ''
GROUP BY place, currency ORDER BY place, currency
"""
_GROUP_FINDINGS: Final = """
SELECT place, count(*) AS findings FROM kept_findings JOIN ranked ON coalesce(team, '') = name GROUP BY place
"""


def prepare(database: Database) -> None:
    """Makes the views of rows that count once. Load all parts before."""
    for name, values in (
        ("about_absence", sorted(ABOUT_ABSENCE)),
        ("about_workloads", sorted(ABOUT_WORKLOADS)),
        ("proven_once", list(PROVEN_ONCE)),
    ):
        database.execute(f"SET VARIABLE {name} = ?::VARCHAR[]", [values])
    for statement in _VIEWS:
        database.execute(statement)


def group_tables(database: Database, *, most: int) -> tuple[FleetTable, ...]:
    """The tables with rows, each with the `most` largest groups and the sum of the rest."""
    found = (_group_table(database, by, most) for by in GROUPED_BY)
    return tuple(each for each in found if each.rows)


def _group_table(database: Database, by: str, most: int) -> FleetTable:
    database.execute(_RANKED, [most + 1, by])
    costs = defaultdict[int, list[Cost]](list)
    for row in database.rows(_GROUP_COSTS, [by]):
        costs[row["place"]].append(cost_of_row(row))
    findings = {row["place"]: row["findings"] for row in database.rows(_GROUP_FINDINGS)} if by == "team" else None
    rows, rest = [], None
    for row in database.rows(_GROUPS, [by]):
        is_rest = row["place"] > most
        group = GroupRow(
            name=f"{row['names']:,} more" if is_rest else row["name"],
            clusters=row["clusters"],
            workloads=row["workloads"],
            usage=fleet_usage(row, tuple(costs[row["place"]])),
            findings=None if findings is None else findings.get(row["place"], 0),
        )
        if is_rest:
            rest = group
        else:
            rows.append(group)
    return FleetTable(by=by, rows=tuple(rows), rest=rest)
