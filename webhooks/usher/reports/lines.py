"""Lines on a terminal or in a log: labels in one column, texts in another.

Data goes in as `rich.text.Text`, never as markup.
"""

import os
from collections.abc import Sequence
from typing import Final, NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from usher.reports import wording
from usher.scan import findings

LOG_WIDTH: Final = 120
"""Columns where no terminal says how many there are."""

_CUT: Final = "…"


class Lines:
    """A stream with a width, coloured or not."""

    def __init__(self, stream: TextIO, *, color: bool, width: int | None = None) -> None:
        if width is None and not stream.isatty() and "COLUMNS" not in os.environ:
            width = LOG_WIDTH
        self._console = Console(
            file=stream,
            color_system="standard" if color else None,
            force_terminal=color,
            no_color=not color,
            width=width,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
            legacy_windows=False,
        )

    @property
    def width(self) -> int:
        return max(self._console.width, 40)

    def write(self, line: Text | str = "") -> None:
        text = Text(line) if isinstance(line, str) else line
        text.rstrip()
        if wording.harmless(text.plain) != text.plain:
            text = Text(wording.harmless(text.plain))
        self._console.print(text)

    def wrapped(self, text: str, *, first: Text, rest: str, style: str = "") -> None:
        """Words broken over lines at the width: the first after `first`, the others after `rest`."""
        room = max(self.width - max(cell_len(first.plain), cell_len(rest)), 20)
        broken = Text(wording.printable(text)).wrap(self._console, room)
        for number, part in enumerate(broken):
            start = first if number == 0 else Text(rest, style="dim")
            self.write(Text.assemble(start, (part.plain, style)))


def fitted(excerpt: findings.Excerpt, *, width: int) -> tuple[str, str, str]:
    """A source line as what stands before, in and after the underlined part, escaped and no wider than `width`."""
    text = excerpt.text
    before, marked, after = (
        wording.printable(part.replace("\t", "    "))
        for part in (
            text[: excerpt.column - 1],
            text[excerpt.column - 1 : excerpt.end_column - 1],
            text[excerpt.end_column - 1 :],
        )
    )
    marked = _head(marked, max(width // 2, width - cell_len(before) - cell_len(after)))
    before = _tail(before, width - max(cell_len(marked), 1))
    return before, marked, _head(after, width - cell_len(before) - max(cell_len(marked), 1))


def _head(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) >= width:
        text = text[:-1]
    return text + _CUT if width > 0 else ""


def _tail(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) >= width:
        text = text[1:]
    return _CUT + text if width > 0 else ""


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
