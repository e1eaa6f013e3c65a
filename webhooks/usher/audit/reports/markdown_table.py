"""One table of an audit in Markdown, cut to the room that the report has for it."""

from collections.abc import Iterable, Sequence
from typing import Final

from usher.dataclass import dataclass

ROWS: Final = 20
"""Rows that a table shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    """Cells in Markdown, worst first; each row has as many as the header."""
    total: tuple[str, ...] = ()
    """The last row, which stays when rows are cut; empty for no sum."""
    most: int = ROWS
    also: int = 0
    """Entries that are in no row."""

    def text(self, room: int) -> str:
        """The table in at most `room` characters, with the number of rows left out; empty if no row fits."""
        head = f"\n### {self.title}\n\n{_row(self.header)}{_row(['---'] * len(self.header))}"
        last = _row(self.total) if self.total else ""
        room -= size(head) + size(last) + size(_more(len(self.rows) + self.also))
        shown: list[str] = []
        for row in map(_row, self.rows[: self.most]):
            room -= size(row)
            if room < 0:
                break
            shown.append(row)
        if not shown:
            return ""
        more = len(self.rows) - len(shown) + self.also
        return f"{head}{''.join(shown)}{last}{_more(more) if more else ''}"


def size(text: str) -> int:
    """Characters, as UTF-16 counts them."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _more(number: int) -> str:
    return f"\nand {number:,} more\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
