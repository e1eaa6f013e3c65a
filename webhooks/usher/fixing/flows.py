"""Edits inside brackets of YAML and JSON, and values that fit on one line."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from usher import paths
from usher.fixing import edits, rendering
from usher.fixing.edits import Edit
from usher.fixing.rendering import Style
from usher.fixing.syntax import Entry, Node, Sort

_COMMA: Final = re.compile(r"(?:\s|#[^\n]*)*,")
_WIDEST: Final = 8


def replaced(entry: Entry, after: paths.Json, text: str, style: Style) -> list[Edit]:
    """Replaces a scalar or an empty collection by a value on one line, with the old quote."""
    node = entry.value
    if style.is_json:
        return [Edit(start=node.start, end=node.end, text=_json(after, text, node.start, style))]
    is_bare = node.body == node.end
    quote = node.style if node.style in {'"', "'"} else style.quote if is_bare else ""
    written = rendering.flow(after, replace(style, quote=quote))
    if node.sort is Sort.ALIAS:
        return [Edit(start=node.start, end=node.end, text=written)]
    if "!" in text[node.start : node.body]:
        # The tag belongs to the old value.
        anchor = f"&{node.anchor} " if node.anchor else ""
        return [Edit(start=node.start, end=node.end, text=anchor + written)]
    return [Edit(start=node.body, end=node.end, text=" " * is_bare + written)]


def with_keys(node: Node, added: paths.Object, doomed: Collection[Entry], text: str, style: Style) -> list[Edit]:
    """Adds keys behind the last entry of a mapping in brackets."""
    if doomed:
        raise edits.RefusedError(node.start, "keys in brackets would go while others come; change it by hand")
    last = node.entries[-1]
    key = last.key
    if key is not None:
        between = text[key.end : last.value.start]
        style = replace(style, colon=":" if between == ":" else ": ", key_quote=key.style)
    style = _spaced(node, text, style)
    written = []
    for name, value in added.items():
        start = rendering.scalar(name, quote=style.key_quote) if not style.is_json else rendering.as_json(name, style)
        written.append(f"{start}{style.colon}{_inline(value, text, last.start, style, node)}")
    return _behind(node, len(node.entries) - 1, written, text, style)


def with_items(node: Node, place: int, items: Sequence[paths.Json], text: str, style: Style) -> list[Edit]:
    """Adds items to a list in brackets, behind the one at a position."""
    if place < 0:
        raise edits.RefusedError(node.start, "an item would stand before the first one; change it by hand")
    style = _spaced(node, text, style)
    written = [_inline(item, text, node.entries[place].start, style, node) for item in items]
    return _behind(node, place, written, text, style)


def without(node: Node, doomed: Collection[Entry], text: str) -> list[Edit]:
    """Removes entries with their commas."""
    entries = node.entries
    if len(doomed) == len(entries):
        edits.check_no_comment(text, node.body, node.end)
        return [Edit(start=node.body, end=node.end, text="{}" if node.sort is Sort.MAPPING else "[]")]
    first = next(index for index, entry in enumerate(entries) if entry not in doomed)
    found = []
    if first:
        found.append(Edit(start=entries[0].start, end=entries[first].start, text=""))
    found += [
        Edit(start=entries[index - 1].end, end=entries[index].end, text="")
        for index in range(first + 1, len(entries))
        if entries[index] in doomed
    ]
    for edit in found:
        edits.check_no_comment(text, edit.start, edit.end)
    return found


def _behind(node: Node, place: int, written: Sequence[str], text: str, style: Style) -> list[Edit]:
    entry = node.entries[place]
    comma = _COMMA.match(text, entry.end)
    position = edits.line_end(text, comma.end() if comma else entry.end)
    rest = text[comma.end() if comma else entry.end : position].strip()
    # The rest of the line would come between. Then the new entries go on the same line too.
    has_line = edits.starts_line(text, entry.start) and "\n" in text[node.body : entry.start]
    if not has_line or not (not rest or rest.startswith("#")):
        start = "," + style.comma[1:]
        return [Edit(start=entry.end, end=entry.end, text="".join(start + each for each in written))]
    margin = edits.end_of_line(text, entry.start) + text[edits.line_start(text, entry.start) : entry.start]
    lines = ",".join(margin + each for each in written)
    if comma:
        return [Edit(start=position, end=position, text=lines + ",")]
    return [Edit(start=entry.end, end=entry.end, text=","), Edit(start=position, end=position, text=lines)]


def _spaced(node: Node, text: str, style: Style) -> Style:
    """The style with the blanks after commas as in the brackets."""
    if len(node.entries) < 2:
        return replace(style, comma="," if style.is_json and style.colon == ":" else ", ")
    between = text[node.entries[-2].end : node.entries[-1].start]
    return replace(style, comma="," if between == "," else ", ")


def _inline(value: paths.Json, text: str, start: int, style: Style, node: Node) -> str:
    if style.is_json and "\n" in text[node.body : node.end] and edits.starts_line(text, start):
        return _json(value, text, start, style)
    return rendering.flow(value, style)


def _json(value: paths.Json, text: str, start: int, style: Style) -> str:
    """JSON on several lines if the text around has a line for each entry, else on one line."""
    if rendering.is_inline(value) or not edits.line_start(text, start):
        return rendering.flow(value, style)
    line = text[edits.line_start(text, start) : start]
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    step = _step_of_json(text)
    written = rendering.as_json(value, replace(style, colon=": "), indent=step)
    return (edits.end_of_line(text, start) + margin).join(written.split("\n"))


def _step_of_json(text: str) -> int:
    """The indentation of the first line after the opening bracket."""
    _, _, rest = text.partition("\n")
    columns = len(rest) - len(rest.lstrip(" "))
    return columns if 0 < columns <= _WIDEST else 2
