"""What the parts say about teams and other groups, summed over clusters; and the views that count each thing once."""

from collections import defaultdict
from typing import Final

from usher.audit.document import Cost
from usher.audit.document.fleet import FleetTable, GroupRow
from usher.audit.partial import ABOUT_ABSENCE, ABOUT_WORKLOADS
from usher.fleet import totals
from usher.fleet.database import Database

BY: Final = ("team", "product", "capacityType", "priority")
"""The groups that mean the same in all clusters; namespaces and queues do not."""

PROVEN_ONCE: Final = ("ai-operator",)
"""Items of the checklist that one workload proves: they pass where one shard has it."""

_VIEWS: Final = (
    """
    CREATE TEMP TABLE present AS SELECT cluster, count(DISTINCT shard) AS shards FROM audits GROUP BY cluster
    """,
    # Shards know the whole of what has no namespace, and each reports it.
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
    # Items about tenants look at the workloads of the shard, so an item is as bad as in the worst one.
    """
    CREATE TEMP VIEW kept_readiness AS
    SELECT cluster, id, min(area) AS area, min(title) AS title,
        CASE WHEN list_contains(getvariable('proven_once'), id) AND bool_or(standing = 'pass') THEN 'pass'
        ELSE arg_min(standing, list_position(['fail', 'not known', 'pass', 'does not apply', standing], standing)) END
        AS standing
    FROM readiness GROUP BY cluster, id
    """,
    # Where usage was not measured, a part may have no table of teams; and a team may have findings alone.
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
_COSTS: Final = """
SELECT place, currency, fsum(cost_allocated) AS allocated, fsum(cost_used) AS used, fsum(cost_idle) AS idle,
    fsum(cost_idle_memory) AS idle_memory
FROM usage JOIN ranked USING (name) WHERE "by" = ? AND cost_allocated IS NOT NULL AND currency <> ''
GROUP BY place, currency ORDER BY place, currency
"""
_FINDINGS: Final = """
SELECT place, count(*) AS findings FROM kept_findings JOIN ranked ON coalesce(team, '') = name GROUP BY place
"""


def prepare(database: Database) -> None:
    """Makes the views of rows that count once. All parts are loaded before."""
    for name, values in (
        ("about_absence", sorted(ABOUT_ABSENCE)),
        ("about_workloads", sorted(ABOUT_WORKLOADS)),
        ("proven_once", list(PROVEN_ONCE)),
    ):
        database.execute(f"SET VARIABLE {name} = ?::VARCHAR[]", [values])
    for statement in _VIEWS:
        database.execute(statement)


def group_tables(database: Database, *, most: int) -> tuple[FleetTable, ...]:
    """The tables that have rows, each with the `most` largest groups and the sum of the rest."""
    found = (_table(database, by, most) for by in BY)
    return tuple(each for each in found if each.rows)


def _table(database: Database, by: str, most: int) -> FleetTable:
    database.execute(_RANKED, [most + 1, by])
    costs = defaultdict[int, list[Cost]](list)
    for row in database.rows(_COSTS, [by]):
        costs[row["place"]].append(totals.cost(row))
    findings = {row["place"]: row["findings"] for row in database.rows(_FINDINGS)} if by == "team" else None
    rows, rest = [], None
    for row in database.rows(_GROUPS, [by]):
        is_rest = row["place"] > most
        group = GroupRow(
            name=f"{row['names']:,} more" if is_rest else row["name"],
            clusters=row["clusters"],
            workloads=row["workloads"],
            usage=totals.usage(row, tuple(costs[row["place"]])),
            findings=None if findings is None else findings.get(row["place"], 0),
        )
        if is_rest:
            rest = group
        else:
            rows.append(group)
    return FleetTable(by=by, rows=tuple(rows), rest=rest)
