"""The tables of an audit, and the clusters of a fleet, as CSV (RFC 4180), which a spreadsheet shows and never executes.

The other tables of a fleet are in its JSON document.
"""

import csv
import io
from collections.abc import Iterator
from typing import Final, TextIO

from usher.audit.document import Audit
from usher.audit.document.fleet import Fleet, FleetRow
from usher.audit.reports import data_tables
from usher.check.formats import wording

_FORMULA: Final = tuple("=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}")
"""Spreadsheets take a text that begins like this for a formula, after spaces too."""


def files(audit: Audit) -> Iterator[tuple[str, bytes]]:
    """File names and contents, one file a table. Each has a row of column names, also where it has no other row."""
    for table in data_tables.TABLES:
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow(each.name for each in table.columns)
        writer.writerows([cell(value) for value in row.values()] for row in table.rows(audit))
        yield f"{table.name}.csv", stream.getvalue().encode(errors="backslashreplace")


def cell(value: data_tables.Value) -> str:
    """A value as a spreadsheet shows it, never as a formula."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _number(value)
        case str():
            return _harmless(value)
        case list():
            return _harmless("; ".join(value))
        case _:
            return _harmless("; ".join(f"{key}={_number(each)}" for key, each in value.items()))


def _number(value: float) -> str:
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
        writer.writerows([*map(cell, (*common, *money))] for money in _money_of(row))


def _money_of(row: FleetRow) -> list[tuple[str | float | None, ...]]:
    return [(each.currency, each.allocated, each.idle) for each in row.usage.costs] or [(None, None, None)]
