"""The embedded database of a merge, and its sums: rows of clusters and groups, and the headline numbers of a fleet."""

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from usher import errors
from usher.audit.document import Cost
from usher.audit.document.fleet_document import FleetRow, FleetSummary, FleetTable, FleetUsage, GroupRow, SavingSum
from usher.audit.document_entries import ABOUT_ABSENCE, ABOUT_WORKLOADS
from usher.audit.reports import data_tables
from usher.audit.store.audit_parts import ChosenCluster, CopiedTable, missing_shards

KEPT: Final[Mapping[str, str]] = {
    "audits": "version nodes objects pods server gpus gpus_allocatable gpus_usable gpus_free gpus_allocated "
    "gpus_waiting gpus_never gpus_half_started workloads_never allocated measured used idle memory_share currency "
    "cost_allocated cost_idle not_priced exceptions_ending",
    "workloads": "api_version kind namespace name team gpus_now allocated measured used idle memory_share currency "
    "cost_allocated cost_used cost_idle cost_idle_memory not_priced",
    "findings": "fingerprint code check title outcome severity namespace team gpus never",
    "usage": "by name workloads gpus_now allocated measured used idle memory_share currency cost_allocated cost_used "
    "cost_idle cost_idle_memory not_priced",
    "savings": "saving api_version kind namespace name team change gpu_hours cost adds_up",
    "readiness": "id area title standing",
    "accelerators": "resource nodes capacity allocated waiting never",
}
"""The columns that a merge reads, by table. Each part has these tables, except `_LATER`."""

_LATER: Final = frozenset({"accelerators"})
"""Tables that parts of an earlier usher lack."""

MOST_ROWS: Final = 20_000_000
"""The most rows of one table of one part."""

_TOO_LARGE: Final = "the merge needs more memory or disk than its limits; merge fewer folders at once, or see --memory"

_LONGEST: Final = 500
"""The most characters that it keeps of a text: Kubernetes names have at most 253."""

_TYPES: Final = {
    table.name: {column.name: column.type for column in table.columns}
    for table in data_tables.TABLES
    if table.name in KEPT
}


class Database:
    """The rows of all parts, by cluster and shard."""

    def __init__(self, folder: Path, *, memory: str = "512MB", disk: str = "20GB") -> None:
        """Opens an empty database in a folder, which also has the files to read.

        Raises:
            InputError: DuckDB is not installed.
        """
        try:
            import duckdb
        except ImportError:
            raise errors.InputError(
                "the merge needs the library duckdb, which is not installed: pip install 'gpu-usher[fleet]'"
            ) from None
        self._connection = duckdb.connect(
            # Rows beyond the memory limit go to the temporary directory, and no commit waits for the disk.
            ":memory:",
            config={
                # With one thread, sums always have the same order, so the same parts give the same bytes.
                "threads": 1,
                "memory_limit": memory,
                "temp_directory": str(folder / "spill"),
                "max_temp_directory_size": disk,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "allow_community_extensions": False,
                "preserve_insertion_order": False,
            },
        )
        self._connection.execute("SET allowed_directories = ?", [[f"{folder}/"]])
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        for table, kept in KEPT.items():
            defined = ", ".join(f'"{name}" {_TYPES[table][name].value}' for name in kept.split())
            self._connection.execute(f"CREATE TABLE {table} (cluster INTEGER, shard INTEGER, {defined})")

    def close(self) -> None:
        self._connection.close()

    def load(self, tables: Iterable[CopiedTable], *, cluster: int, shard: int) -> None:
        """Adds all rows of a part, or no row if there is an error. It deletes the files.

        Raises:
            ValueError: a table is missing or does not come from an audit; the message names it.
            InputError: the disk or the memory of the merge is too small.
        """
        self._connection.execute("BEGIN")
        try:
            _check_tables({self._load(each, cluster, shard) for each in tables})
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _load(self, given: CopiedTable, cluster: int, shard: int) -> str:
        """Adds the rows of one of the tables that a merge keeps, and returns its name."""
        with self._reading(given.table):
            path = str(given.path)
            counted = self._connection.execute("SELECT num_rows FROM parquet_file_metadata(?)", [path]).fetchone()
            wanted = KEPT[given.table].split()
            if counted is None or counted[0] != given.rows or counted[0] > MOST_ROWS:
                raise ValueError(f"the table {given.table} does not have the rows of the record")
            read = ", ".join(_column(name, _TYPES[given.table][name]) for name in wanted)
            self._connection.execute(
                f"INSERT INTO {given.table} SELECT ?, ?, {read} FROM read_parquet(?)",  # noqa: S608 - names of ours
                [cluster, shard, path],
            )
        given.path.unlink(missing_ok=True)
        return given.table

    @contextlib.contextmanager
    def _reading(self, table: str) -> Iterator[None]:
        """Turns errors of DuckDB into ours. Their texts may quote the file, so messages leave them out."""
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise errors.InputError(_TOO_LARGE) from None
        except duckdb.BinderException:
            raise ValueError(f"the table {table} lacks a column, or one has another type") from None
        except duckdb.Error as error:
            raise ValueError(f"the table {table} is not Parquet of an audit ({type(error).__name__})") from None

    def execute(self, statement: str, values: Sequence[object] = ()) -> None:
        self._connection.execute(statement, list(values))

    def rows(self, query: str, values: Sequence[object] = ()) -> list[dict[str, Any]]:
        """The rows of a query, by the names of its columns.

        Raises:
            InputError: the disk or the memory of the merge is too small.
        """
        import duckdb

        try:
            found = self._connection.execute(query, list(values))
        except duckdb.OutOfMemoryException:
            raise errors.InputError(_TOO_LARGE) from None
        names = [each[0] for each in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _check_tables(loaded: set[str]) -> None:
    if missing := sorted(set(KEPT) - _LATER - loaded):
        raise ValueError(f"the table {missing[0]} is missing")


def _column(name: str, kind: data_tables.Type) -> str:
    """The SQL for a column of a file, with bounded texts and finite numbers."""
    if kind is data_tables.Type.TEXT:
        return f'left(CAST("{name}" AS VARCHAR), {_LONGEST})'
    if kind is data_tables.Type.NUMBER:
        return f'CASE WHEN isfinite(CAST("{name}" AS DOUBLE)) THEN CAST("{name}" AS DOUBLE) END'
    return f'CAST("{name}" AS {kind.value})'


DIGITS: Final = 6
"""Digits of numbers in documents."""

_CHOSEN: Final = """
CREATE TEMP TABLE chosen AS SELECT unnest(?::INTEGER[]) AS cluster, unnest(?::VARCHAR[]) AS name,
    unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS taken, unnest(?::INTEGER[]) AS shards,
    unnest(?::INTEGER[]) AS shards_missing, unnest(?::BOOLEAN[]) AS complete
"""
_CLUSTERS: Final = """
CREATE TEMP TABLE fleet_clusters AS
WITH a AS (
    SELECT cluster,
        -- Nodes are in shard 0 alone.
        sum(nodes) FILTER (shard = 0) AS nodes,
        fsum(gpus) FILTER (shard = 0) AS gpus,
        fsum(gpus_allocatable) FILTER (shard = 0) AS gpus_allocatable,
        -- Each shard subtracts from the GPUs of usable nodes what its own pods hold there, if it knows all of them.
        CASE WHEN count(gpus_free) = count(*)
            THEN fsum(gpus_usable) FILTER (shard = 0) - fsum(gpus_usable - gpus_free) END AS gpus_left,
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
        round(fsum(memory_share * measured) / fsum(measured) FILTER (memory_share IS NOT NULL), 6) AS share,
        fsum(not_priced) AS not_priced
    FROM audits GROUP BY cluster
),
w AS (SELECT cluster, count(*) AS workloads, coalesce(fsum(gpus_now), 0) AS gpus_now FROM workloads GROUP BY cluster),
f AS (SELECT cluster, count(*) AS findings FROM kept_findings GROUP BY cluster),
r AS (
    SELECT cluster, count(*) FILTER (standing = 'fail') AS readiness_failed FROM kept_readiness GROUP BY cluster
)
SELECT chosen.*, nodes, workloads_never, objects, pods, server, version, share,
    -- As a document shows them, so that the rows of its table add up to their sum.
    round(gpus, 6) AS gpus, round(gpus_allocatable, 6) AS gpus_allocatable,
    -- The pods of a missing shard hold some of the accelerators that the other shards count as free.
    CASE WHEN shards_missing = 0 AND gpus_left IS NOT NULL THEN round(greatest(0, gpus_left), 6) END AS gpus_free,
    round(gpus_allocated, 6) AS gpus_allocated, round(gpus_waiting, 6) AS gpus_waiting,
    round(gpus_never, 6) AS gpus_never, round(gpus_half_started, 6) AS gpus_half_started,
    round(allocated, 6) AS allocated, round(measured, 6) AS measured, round(used, 6) AS used, round(idle, 6) AS idle,
    round(not_priced, 6) AS not_priced, round(coalesce(gpus_now, 0), 6) AS gpus_now,
    coalesce(workloads, 0) AS workloads, coalesce(findings, 0) AS findings, readiness_failed,
    least(row_number() OVER (
        ORDER BY coalesce(round(idle, 6), 0) DESC, coalesce(round(gpus_allocated, 6), 0) DESC,
            coalesce(round(gpus, 6), 0) DESC, name
    ), ?) AS place
FROM chosen JOIN a USING (cluster) LEFT JOIN w USING (cluster) LEFT JOIN f USING (cluster) LEFT JOIN r USING (cluster)
"""
_CLUSTER_SUMS: Final = """
SELECT place, count(*) AS clusters, min(name) AS name, min(id) AS id, min(server) AS server, min(version) AS version,
    max(taken) AS taken, bool_and(complete) AS complete, sum(shards) AS shards, sum(shards_missing) AS shards_missing,
    sum(nodes) AS nodes, fsum(gpus) AS gpus, fsum(gpus_allocatable) AS gpus_allocatable, fsum(gpus_free) AS gpus_free,
    fsum(gpus_allocated) AS gpus_allocated, fsum(gpus_waiting) AS gpus_waiting, fsum(gpus_never) AS gpus_never,
    fsum(gpus_half_started) AS gpus_half_started, sum(workloads) AS workloads, sum(workloads_never) AS workloads_never,
    sum(objects) AS objects, sum(pods) AS pods, sum(findings) AS findings, sum(readiness_failed) AS readiness_failed,
    fsum(gpus_now) AS gpus_now, fsum(allocated) AS allocated, fsum(measured) AS measured, fsum(used) AS used,
    fsum(idle) AS idle, fsum(share * coalesce(measured, 0)) AS memory,
    fsum(coalesce(measured, 0)) FILTER (share IS NOT NULL) AS weight, fsum(not_priced) AS not_priced,
    count(*) FILTER (complete) AS clusters_complete,
    count(*) FILTER (gpus IS NULL) AS clusters_without_nodes,
    count(*) FILTER (gpus_allocated IS NULL) AS clusters_without_pods,
    count(*) FILTER (gpus IS NOT NULL AND gpus_free IS NULL) AS clusters_without_free,
    count(*) FILTER (measured IS NULL) AS clusters_not_measured
FROM fleet_clusters GROUP BY GROUPING SETS ((place), ()) ORDER BY place
"""
"""By place, where those after the largest have one place together; and of all clusters, where the place is null."""
_CLUSTER_COSTS: Final = """
WITH costs AS (
    SELECT cluster, currency, round(fsum(cost_allocated), 6) AS allocated, round(fsum(cost_idle), 6) AS idle
    FROM audits WHERE cost_allocated IS NOT NULL AND currency <> '' GROUP BY cluster, currency
)
SELECT place, currency, fsum(costs.allocated) AS allocated, fsum(costs.idle) AS idle
FROM costs JOIN fleet_clusters USING (cluster)
GROUP BY GROUPING SETS ((place, currency), (currency)) ORDER BY place, currency
"""
_SAVINGS: Final = "SELECT count(*) AS number, coalesce(fsum(gpu_hours), 0) AS gpu_hours FROM savings WHERE adds_up"
_SAVED: Final = """
SELECT audits.currency, fsum(savings.cost) AS cost FROM savings JOIN audits USING (cluster, shard)
WHERE savings.adds_up AND savings.cost IS NOT NULL AND audits.currency <> '' GROUP BY audits.currency
ORDER BY audits.currency
"""
_OUTCOMES: Final = "SELECT outcome AS name, count(*) AS number FROM kept_findings GROUP BY ALL ORDER BY ALL LIMIT 20"
_SEVERITIES: Final = "SELECT severity AS name, count(*) AS number FROM kept_findings GROUP BY ALL ORDER BY ALL LIMIT 20"
_EXCEPTIONS: Final = """
SELECT coalesce(sum(number), 0) AS number
FROM (SELECT max(exceptions_ending) AS number FROM audits GROUP BY cluster)
"""
"""The number of exceptions in all clusters that end soon. The shards of one cluster read the same exceptions."""

_COUNTED: Final = ("workloads", "workloads_never", "objects", "pods")
_KNOWN: Final = (
    *("gpus", "gpus_allocatable", "gpus_free"),
    *("gpus_allocated", "gpus_waiting", "gpus_never", "gpus_half_started"),
)
_CLUSTERS_WITHOUT: Final = (
    *("clusters_complete", "clusters_without_nodes", "clusters_without_pods"),
    *("clusters_without_free", "clusters_not_measured"),
)


class Totals(Struct, frozen=True, kw_only=True):
    """The clusters of a fleet, and their sums."""

    rows: tuple[FleetRow, ...]
    """The clusters with the most idle hours, then GPUs."""
    rest: FleetRow | None
    """The sum of the others."""
    clusters: int
    """All of them that have rows at all."""
    complete: bool
    summary: FleetSummary


def totals(database: Database, chosen: Sequence[ChosenCluster], *, most: int, missing: int) -> Totals:
    """The rows of the `most` largest clusters, and all sums; `missing` is the number of clusters without a part."""
    _place(database, chosen, most)
    costs = defaultdict[int | None, list[Cost]](list)
    for row in database.rows(_CLUSTER_COSTS):
        costs[row["place"]].append(cost_of_row(row))
    by_place = {row["place"]: row for row in database.rows(_CLUSTER_SUMS)}
    whole = by_place.pop(None)
    rows = {place: _cluster_row(row, costs[place], is_rest=place > most) for place, row in by_place.items()}
    rest = rows.pop(most + 1, None)
    return Totals(
        rows=tuple(rows.values()),
        rest=rest,
        clusters=whole["clusters"],
        complete=whole["complete"],
        summary=_summary(database, whole, costs[None], missing=missing),
    )


def _place(database: Database, chosen: Sequence[ChosenCluster], most: int) -> None:
    """Makes the table of clusters, each with its place among the largest."""
    found = [(number, each, len(missing_shards(each))) for number, each in enumerate(chosen) if each.parts]
    database.execute(
        _CHOSEN,
        [
            [number for number, _, _ in found],
            [each.name for _, each, _ in found],
            [each.id for _, each, _ in found],
            [each.taken for _, each, _ in found],
            [each.of for _, each, _ in found],
            [missing for _, _, missing in found],
            [not missing and all(part.record.complete for part in each.parts) for _, each, missing in found],
        ],
    )
    database.execute(_CLUSTERS, [most + 1])


def _cluster_row(row: Mapping[str, Any], costs: Sequence[Cost], *, is_rest: bool) -> FleetRow:
    names = ("shards", "shards_missing", "nodes", "findings", "readiness_failed", *_COUNTED)
    numbers: dict[str, Any] = {name: row[name] for name in names}
    numbers |= {name: rounded(row[name]) for name in _KNOWN}
    return FleetRow(
        name=f"{row['clusters']:,} more" if is_rest else row["name"],
        clusters=row["clusters"],
        id="" if is_rest else row["id"],
        server="" if is_rest else row["server"] or "",
        version="" if is_rest else row["version"] or "",
        taken=row["taken"],
        complete=row["complete"],
        usage=fleet_usage(row, tuple(costs)),
        **numbers,
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


def _summary(database: Database, whole: Mapping[str, Any], costs: Sequence[Cost], *, missing: int) -> FleetSummary:
    """The headline numbers of all clusters; `missing` is the number of further clusters without a part."""
    (savings,), (exceptions,) = database.rows(_SAVINGS), database.rows(_EXCEPTIONS)
    saved = {row["currency"]: rounded(row["cost"]) or 0 for row in database.rows(_SAVED)}
    numbers: dict[str, Any] = {name: whole[name] for name in ("clusters", *_CLUSTERS_WITHOUT, *_COUNTED)}
    numbers |= {name: rounded(whole[name]) for name in _KNOWN}
    return FleetSummary(
        clusters_missing=missing,
        findings={row["name"]: row["number"] for row in database.rows(_OUTCOMES)},
        severities={row["name"]: row["number"] for row in database.rows(_SEVERITIES)},
        usage=fleet_usage(whole, tuple(costs)),
        savings=SavingSum(number=savings["number"], gpu_hours=rounded(savings["gpu_hours"]) or 0, costs=saved),
        exceptions_ending=exceptions["number"],
        **numbers,
    )


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
