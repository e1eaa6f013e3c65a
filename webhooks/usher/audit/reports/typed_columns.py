"""Columns with types, and the rows that they make of the parts of an audit document."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, Final

from usher.audit.document import Audit
from usher.dataclass import dataclass
from usher.reports import json_shape


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    name: str
    type: Type
    at: str
    """Where the value stands in a row: attributes, and keys of mappings, joined by dots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
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
    steps, convert, is_time = column.at.split("."), _AS[column.type], column.at in _TIMES

    def read(part: Any) -> Value:  # noqa: ANN401 - any part of the document
        found = part
        for step in steps:
            if found is None:
                return None
            found = found.get(step, 0) if isinstance(found, dict) else getattr(found, step)
        return None if found is None or (is_time and not found) else convert(found)

    return read


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def _whole(value: int) -> int | None:
    return json_shape.bounded(int(value))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _amounts(value: Mapping[str, float]) -> dict[str, float]:
    return {str(key): float(each) for key, each in sorted(value.items())}


_AS: Final[dict[Type, Callable[[Any], Value]]] = {
    Type.TEXT: _text,
    Type.FLAG: bool,
    Type.WHOLE: _whole,
    Type.NUMBER: _number,
    Type.TEXTS: lambda value: [str(each) for each in value],
    Type.AMOUNTS: _amounts,
}


def columns(kind: Type, paths: str, *, prefix: str = "") -> tuple[Column, ...]:
    """Columns of one type: each is named as the last attribute of its path."""
    return tuple(Column(name=prefix + each.rpartition(".")[2], type=kind, at=each) for each in paths.split())
