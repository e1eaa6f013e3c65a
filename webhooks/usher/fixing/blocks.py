"""Edits of indented mappings and lists. New lines have the indentation of their neighbours."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from usher import paths
from usher.fixing import edits, rendering, styles
from usher.fixing.edits import Edit
from usher.fixing.rendering import Style
from usher.fixing.syntax import Entry, Node, Sort

_COLON: Final = re.compile(r"[ \t]*:")


def with_keys(node: Node, added: paths.Object, doomed: Collection[Entry], text: str, style: Style) -> list[Edit]:
    """Adds keys below the last remaining entry of a mapping, in its column."""
    kept = [entry for entry in node.entries if entry not in doomed]
    if not kept:
        raise edits.RefusedError(node.start, "all keys of the mapping would change; change it by hand")
    margin = edits.column(text, node.entries[0].start)
    style = styles.of_siblings(node, text, styles.of_keys(node, style))
    lines = [line for key, value in added.items() for line in rendering.entry(key, value, style)]
    return [_below(text, kept[-1].end, lines, margin=margin)]


def with_items(node: Node, place: int, items: Sequence[paths.Json], text: str, style: Style) -> list[Edit]:
    """Adds items to a list after a position, in the column of the dashes."""
    if place < 0:
        raise edits.RefusedError(node.start, "an item would stand before the first one; change it by hand")
    margin = edits.column(text, styles.dash_of(node.entries[-1], text))
    style = styles.of_list(node, text, style)
    lines = [line for item in items for line in rendering.item_of_list(item, style)]
    return [_below(text, node.entries[place].end, lines, margin=margin)]


def replaced(parent: Node, entry: Entry, after: paths.Json, text: str, style: Style) -> list[Edit]:
    """Replaces null, {} or [] by a mapping or a list with entries."""
    node = entry.value
    if parent.sort is Sort.LIST:
        margin = edits.column(text, styles.dash_of(entry, text)) + 2
        if node.start == node.body:
            return [_in_item(node, after, text, style)]
    else:
        if not edits.starts_line(text, entry.start, after_dashes=True):
            raise edits.RefusedError(entry.start, "its key does not begin a line; change it by hand")
        style = styles.of_siblings(parent, text, styles.of_keys(parent, style))
        margin = edits.column(text, entry.start) + (style.step if isinstance(after, dict) else style.dash)
    lines = rendering.indented(rendering.block(after, style), margin)
    end = edits.line_end(text, node.end)
    start = edits.before_blanks(text, node.body) if node.body < node.end else node.body
    return [
        Edit(start=start, end=node.end, text=""),
        Edit(start=end, end=end, text=edits.end_of_line(text, end) + _joined(text, end, lines)),
    ]


def _in_item(node: Node, after: paths.Json, text: str, style: Style) -> Edit:
    """The edit for a mapping or list that begins after the dash of its item."""
    is_bare = node.body == node.end
    margin = edits.column(text, node.body) + is_bare
    lines = _joined(text, node.end, rendering.indented(rendering.block(after, style), margin))
    return Edit(start=node.body, end=node.end, text=" " * is_bare + lines.lstrip(" "))


def without(node: Node, doomed: Sequence[Entry], text: str) -> list[Edit]:
    """Removes some entries with their lines; comments on their own lines stay."""
    found: list[Edit] = []
    position = -1
    for index, entry in enumerate(node.entries):
        if entry not in doomed or entry.start < position:
            continue
        start = entry.start if node.sort is Sort.MAPPING else styles.dash_of(entry, text)
        if edits.starts_line(text, start):
            found.append(edits.without_lines(text, start, entry.end))
            continue
        kept = next((each for each in node.entries[index:] if each not in doomed), None)
        if kept is None or not edits.starts_line(text, start, after_dashes=True):
            raise edits.RefusedError(start, "it does not begin a line; change it by hand")
        position = kept.start if node.sort is Sort.MAPPING else styles.dash_of(kept, text)
        edits.check_no_comment(text, start, position)
        found.append(Edit(start=start, end=position, text=""))
    return found


def emptied(node: Node, entry: Entry, text: str) -> list[Edit]:
    """Replaces all entries by {} or []."""
    empty = "{}" if node.sort is Sort.MAPPING else "[]"
    edits.check_no_comment(text, node.body, node.end)
    header = text[entry.start : node.body]
    colon = _COLON.match(text, entry.key.end) if entry.key is not None else None
    if colon is None or "\n" not in header or node.start != node.body:
        if node.sort is Sort.LIST or node.start != node.body:
            raise edits.RefusedError(node.start, "its last entry would go; change it by hand")
        return [Edit(start=node.body, end=node.end, text=empty)]
    return [
        Edit(start=colon.end(), end=colon.end(), text=f" {empty}"),
        edits.without_lines(text, node.body, node.end),
    ]


def _below(text: str, end: int, lines: Sequence[str], *, margin: int) -> Edit:
    position = edits.after_comments(text, end, margin=margin)
    indented = rendering.indented(list(lines), margin)
    return Edit(
        start=position, end=position, text=edits.end_of_line(text, position) + _joined(text, position, indented)
    )


def _joined(text: str, offset: int, lines: Sequence[str]) -> str:
    return edits.end_of_line(text, offset).join(lines)
