"""Finds the style of a document, how its author indents and quotes, so that new lines look like the old ones."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypeVar

from usher.fixing import edits, rendering
from usher.fixing.syntax import Entry, Node, Sort

T = TypeVar("T")

_SPACED_COLON: Final = re.compile(r'":\s')
_SPACED_COMMA: Final = re.compile(r",\s")
_WIDEST: Final = 8
"""Columns. A wider step is a hand-drawn table and not a style."""


def of_document(root: Node, text: str, *, is_json: bool) -> rendering.Style:
    """The most common style of a document; kubectl's if the document does not show one."""
    steps, dashes, quotes = Counter[int](), Counter[int](), Counter[str]()
    for parent, entry in _pairs(root):
        value = entry.value
        if value.sort is Sort.SCALAR and value.style in {"", '"', "'"} and value.end > value.body:
            quotes[value.style] += 1
        if parent.sort is not Sort.MAPPING or parent.flow or value.flow or not value.entries:
            continue
        columns = _column(value, text) - edits.column(text, entry.start)
        if value.sort is Sort.MAPPING and 0 < columns <= _WIDEST:
            steps[columns] += 1
        elif value.sort is Sort.LIST and 0 <= columns <= _WIDEST:
            dashes[columns] += 1
    quote = _most(quotes, "")
    return rendering.Style(
        step=_most(steps, 2),
        dash=_most(dashes, 0),
        quote=quote if quotes[quote] * 2 > quotes.total() else "",
        colon=":" if is_json and not _SPACED_COLON.search(text) else ": ",
        comma="," if is_json and not _SPACED_COMMA.search(text) else ", ",
        is_json=is_json,
    )


def of_list(node: Node, text: str, style: rendering.Style) -> rendering.Style:
    """The style with the gap after dashes that the items of a list have."""
    dash = dash_of(node.entries[-1], text)
    gap = node.entries[-1].start - dash - 1
    same_line = "\n" not in text[dash : node.entries[-1].start]
    return replace(style, gap=gap if same_line and 0 < gap <= _WIDEST else 1)


def of_keys(node: Node, style: rendering.Style) -> rendering.Style:
    """The style with the quote of the existing keys of a mapping."""
    key = node.entries[-1].key if node.entries else None
    return replace(style, key_quote=key.style if key is not None and key.style in {'"', "'"} else "")


def of_siblings(node: Node, text: str, style: rendering.Style) -> rendering.Style:
    """The style with the dash column of the other lists in the mapping."""
    for entry in node.entries:
        if entry.value.sort is Sort.LIST and not entry.value.flow:
            columns = _column(entry.value, text) - edits.column(text, entry.start)
            if 0 <= columns <= _WIDEST:
                return replace(style, dash=columns)
    return style


def dash_of(entry: Entry, text: str) -> int:
    """The offset of the dash of an item of a block list.

    Raises:
        RefusedError: something other than blanks is between the dash and the item.
    """
    position = entry.start
    while True:
        start = edits.line_start(text, position)
        bare = text[start:position].partition("#")[0].rstrip(" \t\r\n")
        if bare.endswith("-"):
            return start + len(bare) - 1
        if bare or not start:
            raise edits.RefusedError(entry.start, "its dash stands in another place than usher expects")
        position = start - 1


def _column(node: Node, text: str) -> int:
    """The column of the keys or dashes of a block collection; -1 where unknown."""
    if node.sort is Sort.MAPPING:
        return edits.column(text, node.entries[0].start)
    try:
        return edits.column(text, dash_of(node.entries[0], text))
    except edits.RefusedError:
        return -1


def _pairs(node: Node) -> Iterator[tuple[Node, Entry]]:
    pending = [node]
    while pending:
        parent = pending.pop()
        for entry in parent.entries:
            yield parent, entry
            pending.append(entry.value)


def _most(counted: Counter[T], default: T) -> T:
    return counted.most_common(1)[0][0] if counted else default
