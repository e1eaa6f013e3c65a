"""The tables of an audit document with their columns and types, written as CSV (RFC 4180) and as Parquet (by DuckDB).

And its numbers as metrics of Prometheus.

Every row begins with `cluster` and `taken`, so tables of many clusters can be put together. Within v1alpha1 columns may
be added at the end; they keep their names and meaning. Times are ISO 8601 in UTC, empty ones are null. Null is not
measured, never 0.

The other tables of a fleet are in its JSON document.
"""

import csv
import io
import json
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from types import NoneType
from typing import Any, Final, TextIO, TypeAlias, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from usher import errors
from usher.audit import document
from usher.audit.document import Audit, Group, GroupTable, Usage
from usher.audit.document.fleet_document import Fleet
from usher.check.formats import json_report, wording


class Type(StrEnum):
    """The types of columns, as SQL of DuckDB names them."""

    TEXT = "VARCHAR"
    FLAG = "BOOLEAN"
    WHOLE = "BIGINT"
    NUMBER = "DOUBLE"
    TEXTS = "VARCHAR[]"
    AMOUNTS = "MAP(VARCHAR, DOUBLE)"


_TIMES: Final = frozenset({"created", "waiting_since", "since", "measurement.start", "measurement.end"})
"""Texts that are null where they are empty."""

Value = str | bool | int | float | list[str] | dict[str, float] | None


class Column(Struct, frozen=True, kw_only=True):
    name: str
    type: Type
    at: str
    """Where the value stands in a row: attributes, and keys of mappings, joined by dots."""


class Table(Struct, frozen=True, kw_only=True):
    name: str
    """The name of its file, without the ending."""
    columns: tuple[Column, ...]
    parts: Callable[[Audit], Iterable[object]]
    """The parts of the document that are its rows."""

    def rows(self, audit: Audit) -> Iterator[dict[str, Value]]:
        """One mapping by column name for each row."""
        common: dict[str, Value] = {"cluster": audit.cluster.name, "taken": audit.taken}
        readers = [(each.name, _reader(each)) for each in self.columns[len(common) :]]
        for part in self.parts(audit):
            row = dict(common)
            for name, read in readers:
                row[name] = read(part)
            yield row


def _reader(column: Column) -> Callable[[Any], Value]:
    """Reads the value of a column from a row. Tables have millions of cells, so it is made once for each column."""
    read, convert, is_time = reader_of(column.at), _CONVERTED[column.type], column.at in _TIMES

    def converted(part: Any) -> Value:  # noqa: ANN401 - any part of the document
        found = read(part)
        return None if found is None or (is_time and not found) else convert(found)

    return converted


def reader_of(path: str) -> Callable[[Any], Any]:
    """Reads the value at a path in a part of a document: attributes, and keys of mappings, joined by dots.

    A missing key is 0; below a null everything is null.
    """
    steps = path.split(".")

    def read(part: Any) -> Any:  # noqa: ANN401 - any part of the document
        found = part
        for step in steps:
            if found is None:
                return None
            found = found.get(step, 0) if isinstance(found, dict) else getattr(found, step)
        return found

    return read


_CONVERTED: Final[dict[Type, Callable[[Any], Value]]] = {
    Type.TEXT: lambda value: value.isoformat() if isinstance(value, date) else str(value),
    Type.FLAG: bool,
    Type.WHOLE: lambda value: json_report.bounded(int(value)),
    Type.NUMBER: lambda value: float(value) if math.isfinite(value) else None,
    Type.TEXTS: lambda value: [str(each) for each in value],
    Type.AMOUNTS: lambda value: {str(key): float(each) for key, each in sorted(value.items())},
}

_TYPES: Final[dict[object, Type]] = {
    str: Type.TEXT,
    date: Type.TEXT,
    bool: Type.FLAG,
    int: Type.WHOLE,
    float: Type.NUMBER,
    tuple: Type.TEXTS,
    Mapping: Type.AMOUNTS,
}


def columns(row: type, paths: Iterable[str]) -> tuple[Column, ...]:
    """Columns with the types that the fields of the document have: `path`, or `name=path`.

    A column is named as the last field of its path, if it has no other name.
    """
    found = (each.rpartition("=") for each in paths)
    return tuple(
        Column(name=name or path.rpartition(".")[2], type=_type_of(row, path), at=path) for name, _, path in found
    )


def _type_of(row: type, path: str) -> Type:
    found: Any = row
    for step in path.split("."):
        hint = get_args(found)[1] if get_origin(found) is Mapping else _hints(found)[step]
        found = next(iter({*get_args(hint)} - {NoneType})) if NoneType in get_args(hint) else hint
    found = get_origin(found) or found
    return Type.TEXT if issubclass(found, StrEnum) else _TYPES[found]


_hints = lru_cache(maxsize=32)(get_type_hints)


class GroupRow(Struct, frozen=True, kw_only=True):
    """A row of usage, with the property of its table."""

    by: str
    name: str
    workloads: int
    usage: Usage
    group: Group


class _Described(Struct, frozen=True, forbid_unknown_fields=True):
    """A table as data_tables.yaml describes it."""

    row: str
    columns: tuple[str, ...]
    at: str = ""


_COMMON: Final = tuple(Column(name=name, type=Type.TEXT, at=name) for name in ("cluster", "taken"))


def _table(name: str, described: _Described) -> Table:
    row = GroupRow if described.row == GroupRow.__name__ else getattr(document, described.row)
    read = reader_of(described.at) if described.at else lambda audit: [audit]
    parts = _groups if row is GroupRow else read
    return Table(name=name, columns=(*_COMMON, *columns(row, described.columns)), parts=parts)


def _groups(audit: Audit) -> Iterator[GroupRow]:
    for table in audit.usage:
        for row in table.rows:
            yield GroupRow(by=table.by, name=row.name, workloads=row.workloads, usage=row.usage, group=row)


_FILE: Final = Path(__file__).with_name("data_tables.yaml")
TABLES: Final = tuple(
    _table(name, each) for name, each in msgspec.yaml.decode(_FILE.read_bytes(), type=dict[str, _Described]).items()
)

_FORMULA: Final = tuple("=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}")
"""Spreadsheets take a text that begins like this for a formula, after spaces too."""


def csv_files(audit: Audit) -> Iterator[tuple[str, bytes]]:
    """File names and contents, one file a table. Each has a row of column names, also where it has no other row."""
    for table in TABLES:
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow(each.name for each in table.columns)
        writer.writerows([cell(value) for value in row.values()] for row in table.rows(audit))
        yield f"{table.name}.csv", stream.getvalue().encode(errors="backslashreplace")


def cell(value: Value) -> str:
    """A value as a spreadsheet shows it, never as a formula."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _csv_number(value)
        case str():
            return _harmless(value)
        case list():
            return _harmless("; ".join(value))
        case _:
            return _harmless("; ".join(f"{key}={_csv_number(each)}" for key, each in value.items()))


def _csv_number(value: float) -> str:
    """Whole numbers without a fraction; no exponent, which spreadsheets of some languages read as a text."""
    return str(int(value)) if value == int(value) else f"{value:.6f}".rstrip("0")


def _harmless(text: str) -> str:
    """A text without control characters. An apostrophe, which spreadsheets do not show, keeps it from being a formula.

    Source: https://owasp.org/www-community/attacks/CSV_Injection
    """
    if text[:1].isalnum():
        return wording.printable(text)
    starts = text.lstrip().startswith(_FORMULA) or text.startswith(("\t", "\r", "\n"))
    return ("'" if starts else "") + wording.printable(text)


_FLEET_FIELDS: Final = (
    *("name", "id", "server", "version", "taken", "complete", "shards", "shards_missing", "nodes"),
    *("gpus", "gpus_allocatable", "gpus_allocated", "gpus_free", "gpus_waiting", "gpus_never", "gpus_half_started"),
    *("workloads", "workloads_never", "objects", "pods", "findings", "readiness_failed"),
)
_FLEET_USAGE: Final = ("allocated", "measured", "used", "idle", "activity", "memory_share", "not_priced")
_FLEET_COST: Final = ("currency", "cost_allocated", "cost_idle")


def write(fleet: Fleet, stream: TextIO, /) -> None:
    """Writes one row for each cluster and currency, and one for the sum of the clusters that have no row."""
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow((*_FLEET_FIELDS, *_FLEET_USAGE, *_FLEET_COST))
    for row in (*fleet.clusters, *([fleet.clusters_rest] if fleet.clusters_rest else [])):
        common = [
            *(getattr(row, field) for field in _FLEET_FIELDS),
            *(getattr(row.usage, field) for field in _FLEET_USAGE),
        ]
        costs = [[each.currency, each.allocated, each.idle] for each in row.usage.costs]
        writer.writerows([*map(cell, (*common, *money))] for money in costs or [[None, None, None]])


_Write: TypeAlias = Callable[[Path, Path, Mapping[str, str]], None]
"""Writes the lines of JSON of a file as Parquet to another one, with the types of columns as SQL names them."""


def parquet_files(audit: Audit) -> Iterator[tuple[str, bytes]]:
    """File names and contents, one file a table, also for a table without rows.

    Raises:
        InputError: DuckDB is not installed, or has no room for its work.
    """
    try:
        with _database() as write, tempfile.TemporaryDirectory(prefix="gpu-usher-") as folder:
            for table in TABLES:
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


def _parquet(write: _Write, table: Table, audit: Audit, folder: Path) -> bytes:
    source, target = folder / f"{table.name}.ndjson", folder / f"{table.name}.parquet"
    with source.open("wb") as stream:
        for row in table.rows(audit):
            # Half of a surrogate pair becomes a question mark: Parquet holds only whole characters.
            stream.write(json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n")
    write(source, target, {each.name: each.type.value for each in table.columns})
    return target.read_bytes()


_PREFIX: Final = "gpu_usher_audit_"
_GROUPS: Final = 50
"""The most groups of one property, rules that would have prevented something, and resources of accelerators."""
_OTHERS: Final = "(others)"
_UNASSIGNED: Final = "(unassigned)"
"""An empty label is the same as a missing one for Prometheus."""
_LONGEST: Final = 128
"""Characters of a label."""
_HOUR: Final = 3600
"""Seconds. Metrics have base units, so GPU-hours become GPU-seconds."""

Samples = Iterable[tuple[tuple[str, ...], float | None]]
"""Numbers by the values of labels."""


class _Metric(Struct, frozen=True, forbid_unknown_fields=True):
    """A metric as metrics.yaml describes it."""

    text: str
    labels: tuple[str, ...] = ()
    value: str = ""
    values: Mapping[str, str] = {}

    def samples(self, audit: Audit) -> Samples:
        if self.values:
            return _by({name: reader_of(path)(audit) for name, path in self.values.items()})
        found = reader_of(self.value)(audit)
        return _by(found) if self.labels else [((), found)]


@cache
def _metrics() -> Mapping[str, _Metric]:
    file = Path(__file__).with_name("metrics.yaml")
    return msgspec.yaml.decode(file.read_bytes(), type=dict[str, _Metric])


def write_metrics(audit: Audit, stream: TextIO, /) -> None:
    """Writes metrics for the textfile collector of the node exporter of Prometheus; promtool accepts them.

    The number of series is bounded: groups (teams, namespaces, products) beyond the first ones are one group together.
    What was not measured has no series.
    """
    import prometheus_client as prometheus

    registry = prometheus.CollectorRegistry()
    of = audit.cluster
    part = {name: value for name, value in (("audited_namespace", of.namespace), ("shard", of.shard)) if value}
    computed = dict((*_of_audit(audit), *_metrics_of_groups(audit), *_of_rules(audit)))
    for name, metric in _metrics().items():
        labels = ("cluster", *part, *metric.labels)
        gauge = prometheus.Gauge(f"{_PREFIX}{name}", metric.text, labels, registry=registry)
        for values, number in computed[name] if name in computed else metric.samples(audit):
            if number is not None:
                gauge.labels(*map(_label, (of.name, *part.values(), *values))).inc(number)
    stream.write(prometheus.generate_latest(registry).decode())


def _of_audit(audit: Audit) -> Iterator[tuple[str, Samples]]:
    found, measured = audit.summary, audit.measurement
    start, end = _seconds(measured.start), _seconds(measured.end)
    yield "timestamp_seconds", [((), _seconds(audit.taken))]
    yield "usage_measured", [((), None if measured.source == "none" else float(not measured.failures))]
    yield "window_seconds", [((), None if start is None or end is None else end - start)]
    yield (
        "accelerators",
        (
            ((each.resource, state), getattr(each, state))
            for each in audit.other_accelerators[:_GROUPS]
            for state in ("capacity", "usable", "allocated", "free", "waiting", "never")
        ),
    )
    usage = Usage(allocated=found.allocated, measured=found.measured, used=found.used, idle=found.idle)
    yield "gpu_seconds", _by(_times(usage) | {"not_priced": _in_seconds(found.not_priced)})
    parts = {name: getattr(found, f"cost_{name}") for name in ("allocated", "idle", "free", "out_of_use")}
    parts["savings"] = found.savings_cost
    yield "cost", (((found.currency, part), cost) for part, cost in parts.items())


def _metrics_of_groups(audit: Audit) -> Iterator[tuple[str, Samples]]:
    rows = [(table.by, name, usage) for table in audit.usage for name, usage in _bounded(table)]
    yield "group_gpus", (((by, name), each.gpus_now) for by, name, each in rows)
    yield (
        "group_gpu_seconds",
        (((by, name, state), value) for by, name, each in rows for state, value in _times(each).items()),
    )
    yield (
        "group_cost",
        (
            ((by, name, each.cost.currency, part), value)
            for by, name, each in rows
            if each.cost is not None
            for part, value in (("allocated", each.cost.allocated), ("idle", each.cost.idle))
        ),
    )


def _of_rules(audit: Audit) -> Iterator[tuple[str, Samples]]:
    """Rows do not add up, so those beyond the bound are left out. A rule that only warns prevents nothing."""
    rows = [each for each in audit.prevented if each.denies][:_GROUPS]
    yield "prevented_workloads", (((each.code,), each.workloads) for each in rows)
    hours = (
        (each.code, state, hours) for each in rows for state, hours in (("idle", each.idle), ("stuck", each.stuck))
    )
    yield "prevented_gpu_seconds", (((code, state), _in_seconds(number)) for code, state, number in hours)
    yield "prevented_cost", (((each.code, audit.summary.currency), each.cost) for each in rows)


def _bounded(table: GroupTable) -> Iterator[tuple[str, Usage]]:
    """The rows of a table by name; those beyond the bound have one name, under which they are summed."""
    for place, row in enumerate(table.rows):
        yield row.name or _UNASSIGNED if place < _GROUPS else _OTHERS, row.usage


def _times(usage: Usage) -> dict[str, float | None]:
    return {state: _in_seconds(getattr(usage, state)) for state in ("allocated", "measured", "used", "idle")}


def _in_seconds(hours: float | None) -> float | None:
    return None if hours is None else hours * _HOUR


def _by(values: Mapping[str, float | None] | Mapping[str, int]) -> Samples:
    return [((name,), value) for name, value in sorted(values.items())]


def _seconds(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _label(text: str) -> str:
    return wording.printable(text)[:_LONGEST]
