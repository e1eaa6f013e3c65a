"""The embedded database of a merge. It only reads files of its own folder, and loads no extensions."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from usher import errors
from usher.audit.reports import data_tables
from usher.audit.store.part_selection import CopiedTable

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
