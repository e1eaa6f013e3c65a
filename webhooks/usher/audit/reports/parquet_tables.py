"""The tables of an audit as Parquet, for data tools and for `usher report merge`. DuckDB writes them."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from usher import errors
from usher.audit.document import Audit
from usher.audit.reports import data_tables

if TYPE_CHECKING:
    import duckdb


def files(audit: Audit) -> Iterator[tuple[str, bytes]]:
    """File names and contents, one file a table, also for a table without rows.

    Raises:
        InputError: DuckDB is not installed, or has no room for its work.
    """
    connection = connect()
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-usher-") as folder:
            for table in data_tables.TABLES:
                yield f"{table.name}.parquet", _parquet(connection, table, audit, Path(folder))
    except OSError as error:
        raise errors.InputError(f"{tempfile.gettempdir()}: Parquet cannot be written: {error.strerror}") from None
    finally:
        connection.close()


def connect() -> "duckdb.DuckDBPyConnection":
    """A database in memory, which loads no extension from elsewhere.

    Raises:
        InputError: DuckDB is not installed.
    """
    try:
        import duckdb
    except ImportError:
        raise errors.InputError(
            "Parquet needs the library duckdb, which is not installed: pip install 'gpu-usher[report]'"
        ) from None
    # With one thread the rows keep their order, and the same audit gives the same bytes.
    return duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False, "threads": 1}
    )


def _parquet(connection: "duckdb.DuckDBPyConnection", table: data_tables.Table, audit: Audit, folder: Path) -> bytes:
    import duckdb

    source, target = folder / f"{table.name}.ndjson", folder / f"{table.name}.parquet"
    with source.open("wb") as stream:
        for row in table.rows(audit):
            # Half of a surrogate pair becomes a question mark: Parquet holds only whole characters.
            stream.write(json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n")
    types = {each.name: each.type.value for each in table.columns}
    try:
        connection.read_json(str(source), columns=types, format="newline_delimited").write_parquet(str(target))
    except duckdb.Error as error:
        raise errors.InputError(f"the table {table.name} cannot be written as Parquet: {error}") from None
    return target.read_bytes()
