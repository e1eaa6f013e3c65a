"""The embedded database of a merge, and its sums: rows of clusters and groups, and the headline numbers of a fleet."""

import contextlib
import re
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


def totals(database: Database, chosen: Sequence[ChosenCluster], *, most: int, missing: int) -> Totals:
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


def prepare(database: Database) -> None:
    """Makes the tables of rows that count once. Load all parts before."""
    database.set_names("about_absence", sorted(ABOUT_ABSENCE))
    database.set_names("about_workloads", sorted(ABOUT_WORKLOADS))
    database.set_names("proven_once", PROVEN_ONCE)
    for name in _PREPARATION:
        database.execute(name)


def group_tables(database: Database, *, most: int) -> tuple[FleetTable, ...]:
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
