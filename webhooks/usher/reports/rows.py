"""Labels in one column, what they say in another."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from usher.reports import wording
from usher.reports.lines import Lines

_WIDEST: Final = 36
"""Columns of the widest label that others are aligned with; a longer one has its line to itself."""

_GAP: Final = 2


class Row(NamedTuple):
    """Neither the label nor the text is escaped; a row without a label goes on with the one before it."""

    label: str
    text: str = ""
    indent: int = 2

    @property
    def start(self) -> str:
        return " " * self.indent + wording.printable(self.label)


def write(rows: Sequence[Row], lines: Lines) -> None:
    widths = [cell_len(row.start) for row in rows if row.text]
    column = max((width for width in widths if width <= _WIDEST), default=0) + _GAP
    for row in rows:
        start = row.start
        if not row.text or cell_len(start) > _WIDEST:
            lines.write(start)
            start = ""
        if row.text:
            lines.wrapped(row.text, first=Text(start + " " * (column - cell_len(start))), rest=" " * column)
