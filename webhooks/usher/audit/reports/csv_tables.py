"""The tables of an audit as CSV (RFC 4180), which a spreadsheet shows and never executes."""

import csv
import io
from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit
from usher.audit.reports import columns, typed_columns
from usher.reports import wording

_FORMULA: Final = tuple("=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}")
"""Spreadsheets take a text that begins like this for a formula, after spaces too."""


def files(audit: Audit) -> Iterator[tuple[str, bytes]]:
    """File names and contents, one file a table. Each has a row of column names, also where it has no other row."""
    for table in columns.TABLES:
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow(each.name for each in table.columns)
        writer.writerows([cell(value) for value in row.values()] for row in table.rows(audit))
        yield f"{table.name}.csv", stream.getvalue().encode(errors="backslashreplace")


def cell(value: typed_columns.Value) -> str:
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
