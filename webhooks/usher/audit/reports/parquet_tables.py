"""The tables of an audit as Parquet, for data tools and for `usher report merge`. DuckDB writes them."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from usher import errors
from usher.audit.document import Audit
from usher.audit.reports import data_tables

_Write: TypeAlias = Callable[[Path, Path, Mapping[str, str]], None]
"""Writes the lines of JSON of a file as Parquet to another one, with the types of columns as SQL names them."""


def files(audit: Audit) -> Iterator[tuple[str, bytes]]:
    """File names and contents, one file a table, also for a table without rows.

    Raises:
        InputError: DuckDB is not installed, or has no room for its work.
    """
    try:
        with _database() as write, tempfile.TemporaryDirectory(prefix="gpu-usher-") as folder:
            for table in data_tables.TABLES:
                yield f"{table.name}.parquet", _parquet(write, table, audit, Path(folder))
    except OSError as error:
        raise errors.InputError(f"{tempfile.gettempdir()}: Parquet cannot be written: {error.strerror}") from None


@contextmanager
def _database() -> Iterator[_Write]:
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
    connection = duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False, "threads": 1}
    )

    def write(source: Path, target: Path, types: Mapping[str, str]) -> None:
        try:
            lines = connection.read_json(str(source), columns={**types}, format="newline_delimited")
            lines.write_parquet(str(target))
        except duckdb.Error as error:
            raise errors.InputError(f"the table {target.stem} cannot be written as Parquet: {error}") from None

    try:
        yield write
    finally:
        connection.close()


def _parquet(write: _Write, table: data_tables.Table, audit: Audit, folder: Path) -> bytes:
    source, target = folder / f"{table.name}.ndjson", folder / f"{table.name}.parquet"
    with source.open("wb") as stream:
        for row in table.rows(audit):
            # Half of a surrogate pair becomes a question mark: Parquet holds only whole characters.
            stream.write(json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n")
    write(source, target, {each.name: each.type.value for each in table.columns})
    return target.read_bytes()
