"""Merges the parts of audits in an embedded database: the sums of a fleet, and the largest things of each kind."""

import contextlib
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors
from usher.audit.document import Cost, Severity, fleet_document
from usher.audit.document.fleet_document import FleetRow, FleetSummary, FleetTable, FleetUsage, GroupRow, SavingSum
from usher.audit.document_entries import ABOUT_ABSENCE, ABOUT_WORKLOADS
from usher.audit.reports import data_tables
from usher.audit.store import audit_parts, earlier_audits, part_stores
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


_SQL: Final = Path(__file__).with_name("fleet.sql").read_text(encoding="utf-8")
_STATEMENTS: Final = dict(re.findall(r"^-- name: (\w+)$(.*?);$", _SQL, re.MULTILINE | re.DOTALL))
"""The statements of fleet.sql by their names."""


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

    def set_names(self, variable: str, names: Iterable[str]) -> None:
        """Gives names to a variable of the statements."""
        self._connection.execute(f"SET VARIABLE {variable} = ?::VARCHAR[]", [[*names]])

    def execute(self, name: str, values: Sequence[object] = ()) -> None:
        """Runs a statement of fleet.sql."""
        self._connection.execute(_STATEMENTS[name], list(values))

    def rows(self, name: str, values: Sequence[object] = ()) -> list[dict[str, Any]]:
        """The rows of a query of fleet.sql, by the names of its columns.

        Raises:
            InputError: the disk or the memory of the merge is too small.
        """
        import duckdb

        try:
            found = self._connection.execute(_STATEMENTS[name], list(values))
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


def _totals(database: Database, chosen: Sequence[ChosenCluster], *, most: int, missing: int) -> Totals:
    """The rows of the `most` largest clusters, and all sums; `missing` is the number of clusters without a part."""
    _place(database, chosen, most)
    costs = defaultdict[int | None, list[Cost]](list)
    for row in database.rows("cluster_costs"):
        costs[row["place"]].append(cost_of_row(row))
    by_place = {row["place"]: row for row in database.rows("cluster_sums")}
    of_fleet = by_place.pop(None)
    rows = {place: _cluster_row(row, costs[place], is_rest=place > most) for place, row in by_place.items()}
    rest = rows.pop(most + 1, None)
    return Totals(
        rows=tuple(rows.values()),
        rest=rest,
        clusters=of_fleet["clusters"],
        complete=of_fleet["complete"],
        summary=_summary(database, of_fleet, costs[None], missing=missing),
    )


def _place(database: Database, chosen: Sequence[ChosenCluster], most: int) -> None:
    """Makes the table of clusters, each with its place among the largest."""
    found = [(number, each, len(missing_shards(each))) for number, each in enumerate(chosen) if each.parts]
    database.execute(
        "chosen",
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
    database.execute("clusters", [most + 1])


def _cluster_row(row: Mapping[str, Any], costs: Sequence[Cost], *, is_rest: bool) -> FleetRow:
    fields = {**rounded_numbers(row), "usage": fleet_usage(row, tuple(costs))}
    if is_rest:
        return FleetRow(**{**fields, "name": f"{row['clusters']:,} more", "id": "", "server": "", "version": ""})
    return FleetRow(**{**fields, "server": row["server"] or "", "version": row["version"] or ""})


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


def rounded_numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row as fields of a document."""
    return {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in row.items()}


def _summary(database: Database, of_fleet: Mapping[str, Any], costs: Sequence[Cost], *, missing: int) -> FleetSummary:
    """The headline numbers of all clusters; `missing` is the number of further clusters without a part."""
    (savings,), (exceptions,) = database.rows("savings_sum"), database.rows("exceptions")
    saved = {row["currency"]: rounded(row["cost"]) or 0 for row in database.rows("saved_money")}
    return FleetSummary(
        **{
            **rounded_numbers(of_fleet),
            "clusters_missing": missing,
            "findings": {row["name"]: row["number"] for row in database.rows("outcomes")},
            "severities": {row["name"]: row["number"] for row in database.rows("severities")},
            "usage": fleet_usage(of_fleet, tuple(costs)),
            "savings": SavingSum(number=savings["number"], gpu_hours=rounded(savings["gpu_hours"]) or 0, costs=saved),
            "exceptions_ending": exceptions["number"],
        }
    )


GROUPED_BY: Final = ("team", "product", "capacityType", "priority")
"""The groups that mean the same in all clusters. Namespaces and queues do not."""

_PREPARATION: Final = ("present", "kept_findings", "kept_readiness", "teams_of_workloads", "teams_of_findings")
"""The statements that make rows count once, in their order."""

PROVEN_ONCE: Final = ("ai-operator",)
"""Items of the checklist that one workload proves: they pass if they pass in one shard."""


def _prepare(database: Database) -> None:
    """Makes the tables of rows that count once. Load all parts before."""
    database.set_names("about_absence", sorted(ABOUT_ABSENCE))
    database.set_names("about_workloads", sorted(ABOUT_WORKLOADS))
    database.set_names("proven_once", PROVEN_ONCE)
    for name in _PREPARATION:
        database.execute(name)


def _group_tables(database: Database, *, most: int) -> tuple[FleetTable, ...]:
    """The tables with rows, each with the `most` largest groups and the sum of the rest."""
    found = (_group_table(database, by, most) for by in GROUPED_BY)
    return tuple(each for each in found if each.rows)


def _group_table(database: Database, by: str, most: int) -> FleetTable:
    database.execute("ranked_groups", [most + 1, by])
    costs = defaultdict[int, list[Cost]](list)
    for row in database.rows("group_costs", [by]):
        costs[row["place"]].append(cost_of_row(row))
    findings = {row["place"]: row["findings"] for row in database.rows("group_findings")} if by == "team" else None
    rows, rest = [], None
    for row in database.rows("groups", [by]):
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


_MOST_CODES: Final = 500
_MOST_PLACES: Final = 5
_SEVERITIES: Final = {each.value: place for place, each in enumerate(Severity)}


def finding_codes(
    database: Database, chosen: Sequence[ChosenCluster], before: Mapping[str, int]
) -> tuple[fleet_document.CodeRow, ...]:
    """Findings by code, the worst first; `before` has the numbers of an earlier document."""
    places = defaultdict[str, list[tuple[str, int]]](list)
    for row in database.rows("places", [_MOST_PLACES]):
        places[row["code"]].append((chosen[row["cluster"]].name, row["findings"]))
    severities = list(_SEVERITIES)
    return tuple(
        fleet_document.CodeRow(
            **rounded_numbers(row),
            severity=Severity(severities[row["worst"] - 1]) if row["worst"] else Severity.LOW,
            before=before.get(row["code"]),
            where=tuple(places[row["code"]]),
        )
        for row in database.rows("codes", [severities, _MOST_CODES])
    )


def idle_workloads(
    database: Database, chosen: Sequence[ChosenCluster], *, most: int
) -> tuple[fleet_document.IdleWorkload, ...]:
    """The workloads with the most idle GPU-hours."""
    return tuple(
        fleet_document.IdleWorkload(**_with_cluster(row, chosen)) for row in database.rows("idle_workloads", [most])
    )


def accelerator_rows(database: Database, *, most: int) -> tuple[fleet_document.AcceleratorRow, ...]:
    """Accelerators other than GPUs, the largest number first."""
    return tuple(fleet_document.AcceleratorRow(**rounded_numbers(row)) for row in database.rows("accelerators", [most]))


def largest_savings(
    database: Database, chosen: Sequence[ChosenCluster], *, most: int
) -> tuple[fleet_document.FleetSaving, ...]:
    """The largest savings that count in the sum."""
    return tuple(
        fleet_document.FleetSaving(**_with_cluster(row, chosen)) for row in database.rows("largest_savings", [most])
    )


def _with_cluster(row: Mapping[str, Any], chosen: Sequence[ChosenCluster]) -> dict[str, Any]:
    """The fields of a row, with the name of its cluster."""
    return {**rounded_numbers(row), "cluster": chosen[row["cluster"]].name}


def readiness_rows(database: Database, chosen: Sequence[ChosenCluster]) -> tuple[fleet_document.ReadinessRow, ...]:
    """The items of the checklist; first those that fail in the most clusters."""
    standings = defaultdict[str, dict[str, int]](dict)
    failing, titles = dict[str, tuple[str, ...]](), dict[str, tuple[str, str]]()
    for row in database.rows("readiness"):
        standings[row["id"]][row["standing"]] = row["clusters"]
        titles.setdefault(row["id"], (row["area"], row["title"]))
        if row["standing"] == "fail":
            failing[row["id"]] = tuple(chosen[each].name for each in row["some"])
    order = sorted(standings, key=lambda each: (-standings[each].get("fail", 0), each))
    return tuple(
        fleet_document.ReadinessRow(
            id=each,
            area=titles[each][0],
            title=titles[each][1],
            standings=dict(sorted(standings[each].items())),
            failing=failing.get(each, ()),
        )
        for each in order
    )


class Limits(Struct, frozen=True, kw_only=True):
    """How large the document and the merge may become."""

    clusters: int = 1000
    groups: int = 200
    """The most rows of each table of groups."""
    objects: int = 100
    """The most idle workloads, and the most savings."""
    problems: int = 500
    memory: str = "512MB"
    """Memory of the database; it uses the disk beyond that."""


def merge(
    folders: Sequence[str], *, version: str, earlier: Sequence[fleet_document.Fleet] = (), limits: Limits | None = None
) -> fleet_document.Fleet:
    """The document of all parts below some folders.

    Args:
        folders: paths, or URLs that fsspec knows.
        earlier: documents of earlier merges, for the trend.
        limits: the bounds of the document.

    Raises:
        InputError: a folder cannot be read or has no parts, no part is usable, or a library is not installed.
    """
    bounds = limits or Limits()
    opened = [part_stores.store_at(each) for each in folders]
    records = audit_parts.gathered_records(opened)
    chosen = audit_parts.select_parts(records.found, version=version)
    absent = audit_parts.missing_clusters(audit_parts.read_cluster_lists(opened), chosen.clusters)
    with (
        tempfile.TemporaryDirectory(prefix="gpu-usher-") as name,
        contextlib.closing(Database(Path(name).resolve(), memory=bounds.memory)) as database,
    ):
        clusters, damaged = _loaded(database, chosen.clusters, opened, Path(name).resolve())
        problems = [*absent, *records.problems, *damaged, *chosen.problems]
        if not any(each.parts for each in clusters):
            first = f"; the first: {problems[0].reason}" if problems else ""
            raise errors.InputError(f"{', '.join(each.place for each in opened)}: no usable part of an audit{first}")
        return _document(database, clusters, problems, version=version, earlier=earlier, bounds=bounds)


def _loaded(
    database: Database, clusters: Sequence[ChosenCluster], folders: Sequence[part_stores.Store], folder: Path
) -> tuple[list[ChosenCluster], list[fleet_document.FleetProblem]]:
    """The clusters with the parts that could be loaded."""
    usable, problems, numbers = [], list[fleet_document.FleetProblem](), count()
    for number, cluster in enumerate(clusters):
        kept = []
        for part in cluster.parts:
            store = folders[part.store]
            try:
                copied = list(audit_parts.copied_tables(part, store, folder, numbers, wanted=KEPT))
                database.load(copied, cluster=number, shard=part.record.shard)
            except ValueError as error:
                place = "/".join(filter(None, (store.place, part.folder)))
                problems.append(audit_parts.damaged_part(cluster.name, place, str(error)))
            else:
                kept.append(part)
        usable.append(replace(cluster, parts=tuple(kept)))
    return usable, problems


def _document(  # noqa: PLR0913 - all parts of the document by name
    database: Database,
    clusters: Sequence[ChosenCluster],
    problems: Sequence[fleet_document.FleetProblem],
    *,
    version: str,
    earlier: Sequence[fleet_document.Fleet],
    bounds: Limits,
) -> fleet_document.Fleet:
    _prepare(database)
    before = earlier_audits.newest_fleet(earlier)
    codes = {} if before is None else {each.code: each.findings for each in before.findings}
    taken = [part.record.taken for each in clusters for part in each.parts]
    absent = sum(each.kind is fleet_document.ProblemKind.ABSENT for each in problems)
    totals = _totals(database, clusters, most=bounds.clusters, missing=absent)
    document = fleet_document.Fleet(
        version=version,
        taken=max(taken),
        oldest=min(taken),
        complete=totals.complete and totals.clusters == len(clusters) and not absent,
        problems=tuple(problems[: bounds.problems]),
        problems_left_out=max(0, len(problems) - bounds.problems),
        summary=totals.summary,
        clusters=earlier_audits.compared_clusters(totals.rows, before),
        clusters_rest=totals.rest,
        tables=_group_tables(database, most=bounds.groups),
        other_accelerators=accelerator_rows(database, most=bounds.groups),
        findings=finding_codes(database, clusters, codes),
        idle_workloads=idle_workloads(database, clusters, most=bounds.objects),
        savings=largest_savings(database, clusters, most=bounds.objects),
        readiness=readiness_rows(database, clusters),
    )
    there = {each.id or each.name: each.name for each in clusters if each.parts}
    return document.model_copy(update={"trend": earlier_audits.fleet_trend(document, there, earlier)})
