"""Tables of an audit in Markdown: a hostile name changes nothing of the page, and a long one is cut."""

from collections.abc import Iterable, Sequence
from typing import Final

from usher.audit.document import Subject
from usher.audit.reports import entry_words
from usher.check.formats import markdown
from usher.dataclass import dataclass

_MAX_TEXT: Final = 400
"""Characters of one text, so that one name cannot fill the report."""


_WORD: Final = 40
"""Characters at the end of a cut text in which a space is looked for, so that it ends with a whole word."""


def prose(text: str, *, empty: str | None = None) -> str:
    """A text as it is; `empty` in the place of one without characters, where it is given."""
    return empty if empty is not None and not text else markdown.prose(_shortened(text))


def code(text: str) -> str:
    """A name in a span of code."""
    # A bar ends a cell, within a span of code too.
    return markdown.code(_shortened(text)).replace("|", "\\|")


def object_code(value: Subject) -> str:
    """`Job ml-research/bert` in a span of code."""
    return code(entry_words.subject(value))


def _shortened(text: str) -> str:
    if len(text) <= _MAX_TEXT:
        return text
    kept = text[: _MAX_TEXT - 1]
    place = kept.rfind(" ", _MAX_TEXT - _WORD)
    return f"{kept[:place] if place > 0 else kept}…"


ROWS: Final = 20
"""Rows that a table shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownTable:
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
