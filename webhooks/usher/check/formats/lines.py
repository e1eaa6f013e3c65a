"""Writes lines and tables to a terminal or a log. It takes data as `rich.text.Text`, never as markup."""

import os
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from usher.check import findings
from usher.check.formats import wording

LOG_WIDTH: Final = 120
"""Columns of a stream that is not a terminal."""

_CUT: Final = "…"

_WIDEST_LABEL: Final = 36
"""Columns of the widest label with which others are aligned. A longer label has its own line."""

_GAP: Final = 2

_UNLIMITED: Final = 10_000
"""Columns for a table: people cannot read or copy a name that is cut or broken."""


class Row(NamedTuple):
    """A label and its text, not escaped yet. A row without a label continues the one before it."""

    label: str
    text: str = ""
    indent: int = 2

    @property
    def start(self) -> str:
        return " " * self.indent + wording.printable(self.label)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raises the error to the caller. rich would end the process with 1, the exit code for findings."""
        raise  # noqa: PLE0704 - called while the BrokenPipeError is handled


class Lines:
    """A stream with a width, coloured or not."""

    def __init__(self, stream: TextIO, *, color: bool, width: int | None = None) -> None:
        if width is None and not stream.isatty() and "COLUMNS" not in os.environ:
            width = LOG_WIDTH
        self._stream, self._color = stream, color
        self._written: set[str] = set()
        self._console = _Console(
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

    def once(self, text: str) -> str:
        """The text; empty where an earlier call had it."""
        if text in self._written:
            return ""
        self._written.add(text)
        return text

    def write(self, line: Text | str = "") -> None:
        text = Text(line) if isinstance(line, str) else line
        text.rstrip()
        if wording.harmless(text.plain) != text.plain:
            text = Text(wording.harmless(text.plain))
        if self._color:
            self._console.print(text)
        else:
            # The same bytes in a tenth of the time: a report has thousands of lines.
            self._stream.write(f"{text.plain}\n")

    def wrapped(self, text: str, *, first: Text, rest: str, style: str = "") -> None:
        """Writes text wrapped to the width: the first line after `first`, the others after `rest`."""
        room = max(self.width - max(cell_len(first.plain), cell_len(rest)), 20)
        broken = Text(_foldable(wording.printable(text), room)).wrap(self._console, room)
        for number, part in enumerate(broken):
            start = first if number == 0 else Text(rest, style="dim")
            self.write(Text.assemble(start, (part.plain, style)))

    def labelled(self, rows: Sequence[Row]) -> None:
        """Writes labels and texts in two columns. Only texts wrap; a table of rich would also wrap long labels."""
        widths = [cell_len(row.start) for row in rows if row.text]
        column = max((width for width in widths if width <= _WIDEST_LABEL), default=0) + _GAP
        for row in rows:
            start = row.start
            if not row.text or cell_len(start) > _WIDEST_LABEL:
                self.write(start)
                start = ""
            if row.text:
                self.wrapped(row.text, first=Text(start + " " * (column - cell_len(start))), rest=" " * column)

    def table(
        self, headers: Sequence[str], rows: Iterable[Sequence[str]], *, right: Collection[str] = (), indent: int = 0
    ) -> None:
        """Writes columns as wide as their texts, which it escapes; the columns in `right` align to the right."""
        table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
        for header in headers:
            table.add_column(header, justify="right" if header in right else "left", no_wrap=True)
        for row in rows:
            table.add_row(*(Text(wording.printable(cell)) for cell in row))
        options = self._console.options.update(max_width=_UNLIMITED)
        for segments in self._console.render_lines(table, options, pad=False):
            texts = ((segment.text, segment.style or "") for segment in segments)
            self.write(Text.assemble(" " * indent, *texts))


def _foldable(text: str, room: int) -> str:
    """The text with line ends in words wider than the room, after a dot or a slash if there is one."""
    return " ".join(word if cell_len(word) <= room else _folded(word, room) for word in text.split(" "))


def _folded(word: str, room: int) -> str:
    parts = []
    while cell_len(word) > room:
        head = word[:room]
        while cell_len(head) > room:
            head = head[:-1]
        place = max(head.rfind("."), head.rfind("/"), head.rfind("[") - 1) + 1
        place = place if place > room // 2 else len(head)
        parts.append(word[:place])
        word = word[place:]
    return "\n".join([*parts, word])


def fitted(excerpt: findings.Excerpt, *, width: int) -> tuple[str, str, str]:
    """A source line in three parts: before, in and after the underlined part. Escaped, and no wider than `width`."""
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
