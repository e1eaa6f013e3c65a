"""The places of the values of a document in its text, for reports."""

import bisect
import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from usher import paths
from usher.documents import composing, reader

_EXCERPT_WIDTH: Final = 160
_BLANKS: Final = " \t\r\n"
_CUT: Final = "…"
_LINE_FEED: Final = re.compile("\n")


class Span(Struct, frozen=True, kw_only=True):
    """A range of text; lines and columns count characters from 1, and the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Position(Span, frozen=True, kw_only=True):
    """The place of a value: for an alias the alias itself, for values within it the anchored text."""

    key: Span | None
    """Its key; None for items of a list and for the document itself."""


class Excerpt(Struct, frozen=True, kw_only=True):
    """One line of the source, with the range to underline."""

    line: int
    text: str
    """Without the line end; a long line is cut around the underlined part."""
    column: int
    """First character to underline, counted in `text` from 1."""
    end_column: int
    """The character after the last; at least one character is underlined."""


class Places(Mapping[str, Position]):
    """JSON Pointer -> Position, for every value of a document."""

    def __init__(self, document: reader.Document) -> None:
        self._chunk = document.chunk
        self._breaks = [match.start() for match in _LINE_FEED.finditer(self._chunk.text)]
        composed = reader.trace(document)
        self._nodes = _flat(composed.node) if composed is not None and composed.node is not None else {}

    def __getitem__(self, pointer: str) -> Position:
        node = self._nodes[pointer]
        span = self._span(node.start, node.end)
        key = self._span(*node.key) if node.key is not None else None
        return Position(line=span.line, column=span.column, end_line=span.end_line, end_column=span.end_column, key=key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def nearest(self, pointer: str) -> Position:
        """The position of a value; for a missing value, that of the innermost mapping or list that would hold it."""
        while pointer not in self._nodes:
            pointer = pointer.rpartition("/")[0]
        return self[pointer]

    def excerpt(self, span: Span) -> Excerpt:
        """The first line of a span."""
        number = span.line - self._chunk.line
        start = self._breaks[number - 1] + 1 if number else 0
        end = self._breaks[number] if number < len(self._breaks) else len(self._chunk.text)
        text = self._chunk.text[start:end].rstrip("\r")
        shift = self._chunk.column - 1 if not number else 0
        first = span.column - 1 - shift
        last = span.end_column - 1 - shift if span.end_line == span.line else len(text.rstrip(_BLANKS))
        return _cut(span.line, text, first, max(last, first + 1))

    def _span(self, start: int, end: int) -> Span:
        text = self._chunk.text
        while end > start and text[end - 1] in _BLANKS:
            end -= 1
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        return Span(line=line, column=column, end_line=end_line, end_column=end_column)

    def _place(self, offset: int) -> tuple[int, int]:
        number = bisect.bisect_left(self._breaks, offset)
        column = offset - self._breaks[number - 1] if number else offset + self._chunk.column
        return self._chunk.line + number, column


def _flat(root: composing.Node) -> dict[str, composing.Node]:
    nodes: dict[str, composing.Node] = {}
    pending = [(paths.ROOT, root)]
    while pending:
        pointer, node = pending.pop()
        nodes[pointer] = node
        children = node.children or {}
        items = children.items() if isinstance(children, dict) else enumerate(children)
        pending.extend((paths.join(pointer, key), child) for key, child in items)
    return nodes


def _cut(line: int, text: str, start: int, end: int) -> Excerpt:
    if len(text) > _EXCERPT_WIDTH:
        first = max(0, min(start - _EXCERPT_WIDTH // 4, len(text) - _EXCERPT_WIDTH))
        last = first + _EXCERPT_WIDTH
        before, after = _CUT if first else "", _CUT if last < len(text) else ""
        text = before + text[first:last] + after
        start, end = start - first + len(before), min(end, last) - first + len(before)
    return Excerpt(line=line, text=text, column=start + 1, end_column=end + 1)
