"""Edits of a text, and new text in the style of the text around it."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from usher import memo, paths
from usher.documents import composing


class NodeType(Enum):
    MAPPING = auto()
    LIST = auto()
    SCALAR = auto()
    ALIAS = auto()


class Node(Struct, frozen=True, kw_only=True):
    """A value as written; offsets count the characters of the chunk, the end is exclusive."""

    sort: NodeType
    start: int
    """Start, with its anchor and tag."""
    body: int
    """Start without anchor and tag."""
    end: int
    """The end after its last character. A block collection ends with its last value, before any comments
    that follow.
    """
    style: str = ""
    """The quote or block indicator of a scalar."""
    flow: bool = False
    """Whether the collection is in brackets."""
    anchor: str = ""
    """The name of its anchor, or the one that the alias names."""
    entries: "tuple[Entry, ...]" = ()
    shared: bool = False
    """Whether an alias of the document refers to it, or to the anchor that this alias names."""


class Entry(Struct, frozen=True, kw_only=True):
    """An item of a list, or a key of a mapping with its value."""

    value: Node
    key: Node | None = None
    name: str = ""
    """The key as kubectl sends it."""
    merges: bool = False
    """Whether the key is `<<`: then the entries of its value belong to the mapping."""

    @property
    def start(self) -> int:
        return self.value.start if self.key is None else self.key.start

    @property
    def end(self) -> int:
        return self.value.end if self.key is None else max(self.key.end, self.value.end)


_COMMENT: Final = memo.pattern(r"[ \t]*#")
_ONLY_DASHES: Final = memo.pattern(r"[ ]*(?:-[ ]+)*")


class Edit(Struct, frozen=True, kw_only=True):
    """Replaces a range of the old text; offsets count characters."""

    start: int
    end: int
    text: str


class RefusedError(Exception):
    """A change that cannot be written here. The planner turns it into a `Refusal`, so it never leaves this package."""

    def __init__(self, offset: int, reason: str, *, anchor: str = "") -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason
        self.anchor = anchor
        """The anchor whose text is in the way because several places share it."""


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The new text. Edits at one place keep their order.

    Raises:
        RefusedError: two edits overlap.
    """
    parts, position = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if edit.start < position:
            raise RefusedError(edit.start, "two changes meet in one place")
        parts += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*parts, text[position:]])


def line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """The offset of the line end after an offset; for CR LF, of the CR."""
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    return end - 1 if end > offset and text[end - 1] == "\r" else end


def next_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def without_lines(text: str, start: int, end: int) -> Edit:
    """Removes the lines from one offset to another.

    It removes the line end before them and keeps their own, so that new lines can still follow the removed ones.
    """
    first, last = line_start(text, start), line_end(text, end)
    if not first:
        return Edit(start=0, end=next_line(text, end), text="")
    before = first - 2 if text[first - 2 : first] == "\r\n" else first - 1
    return Edit(start=before, end=last, text="")


def end_of_line(text: str, offset: int) -> str:
    """The line end in use at an offset: of its own line, else of the first line."""
    end = text.find("\n", max(offset - 1, 0))
    if end < 0 or end == len(text) - 1:
        # The reader adds a line feed to a last line without a line end.
        end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def column(text: str, offset: int) -> int:
    """Characters from the start of the line, from 0."""
    return offset - line_start(text, offset)


def starts_line(text: str, offset: int, *, after_dashes: bool = False) -> bool:
    """Whether only blanks precede an offset in its line; with `after_dashes`, also dashes of lists."""
    before = text[line_start(text, offset) : offset]
    return bool(_ONLY_DASHES.fullmatch(before)) if after_dashes else not before.strip(" ")


def before_blanks(text: str, offset: int) -> int:
    """The offset of the first blank in the row of blanks before an offset."""
    while offset and text[offset - 1] in " \t":
        offset -= 1
    return offset


def check_no_comment(text: str, start: int, end: int) -> None:
    """Raises RefusedError if a range to be removed may hold a comment."""
    if "#" in text[start:end]:
        raise RefusedError(start, "a comment may stand between what would go; change it by hand")


def after_comments(text: str, end: int, *, margin: int) -> int:
    """The end of the line at an offset, or of the last comment below it that belongs to a collection at a column.

    A comment belongs to the collection if it is directly below, at its column or to the right. But if the next content
    starts at the comment's column, the comment belongs to that content.
    """
    position = line_end(text, end)
    following = _next_content(text, next_line(text, end))
    found = next_line(text, end)
    while found < len(text) and _COMMENT.match(text, found):
        at = _indentation(text, found)
        if at < margin or at <= following:
            break
        position = line_end(text, found)
        found = next_line(text, found)
    return position


def _indentation(text: str, start: int) -> int:
    line = text[start : line_end(text, start)]
    return len(line) - len(line.lstrip(" "))


def _next_content(text: str, start: int) -> int:
    """The column of the next line that is neither blank nor a comment; -1 at the end of the document."""
    while start < len(text):
        line = text[start : line_end(text, start)].lstrip(" \t")
        if line and not line.startswith("#"):
            return -1 if line.startswith("...") else _indentation(text, start)
        start = next_line(text, start)
    return -1


_ORDER: Final = ("name", "key", "operator", "value", "values", "effect")
# Every YAML parser reads this as text if `composing.resolve_scalar` does, also in brackets.
_PLAIN: Final = memo.pattern(r"[A-Za-z0-9_./$(+-](?:[A-Za-z0-9_./$()+=@%~^-]|:(?=[A-Za-z0-9_./]))*")
# Dates, times and numbers in base 60, which parsers other than kubectl's read as numbers.
_LIKE_A_NUMBER: Final = memo.pattern(r"[-+.]?[0-9][0-9_:.TtZz+-]*|[-.+]+|0o[0-7]+|-.*")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Style(Struct, frozen=True, kw_only=True):
    """The style of new text, taken from the text around it."""

    step: int = 2
    """Columns from a key to the keys of its mapping."""
    dash: int = 0
    """Columns from a key to the dashes of its list."""
    gap: int = 1
    """Blanks after a dash."""
    quote: str = ""
    """Quote of texts that do not need one; `key_quote` is the quote of keys."""
    key_quote: str = ""
    colon: str = ": "
    comma: str = ", "
    is_json: bool = False


def render_scalar(value: paths.Json, *, quote: str = "") -> str:
    """A value as one line of YAML that kubectl reads as the same value.

    Args:
        value: a text, number, truth value or null, or an empty mapping or list.
        quote: the preferred quote of a text: `"`, `'`, or empty for plain text.
    """
    if not isinstance(value, str):
        return json.dumps(value)
    if not quote and _is_plain(value):
        return value
    if quote == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return '"' + "".join(_escaped(each) for each in value) + '"'


def render_block(value: paths.Json, style: Style) -> list[str]:
    """The lines of a value, without indentation."""
    if isinstance(value, dict) and value:
        return [line for key in ordered_keys(value) for line in render_entry(key, value[key], style)]
    if isinstance(value, list) and value:
        return [line for item in value for line in render_item(item, style)]
    return [render_scalar(value, quote=style.quote)]


def render_entry(key: str, value: paths.Json, style: Style) -> list[str]:
    """The lines of a key and its value."""
    start = render_scalar(key, quote=style.key_quote) + ":"
    if isinstance(value, str) and _suits_lines(value):
        chomping = "" if value.endswith("\n") else "-"
        return [f"{start} |{chomping}", *indented(value.removesuffix("\n").split("\n"), style.step)]
    lines = render_block(value, style)
    if not isinstance(value, dict | list) or not value:
        return [f"{start} {lines[0]}"]
    return [start, *indented(lines, style.step if isinstance(value, dict) else style.dash)]


def render_item(value: paths.Json, style: Style) -> list[str]:
    """The lines of an item with its dash."""
    first, *rest = render_block(value, style)
    return [f"-{' ' * style.gap}{first}", *indented(rest, style.gap + 1)]


def indented(lines: list[str], columns: int) -> list[str]:
    return [" " * columns + line if line else "" for line in lines]


def render_flow(value: paths.Json, style: Style) -> str:
    """The value on one line, with brackets."""
    if style.is_json:
        return render_json(value, style)
    if isinstance(value, dict):
        pairs = (
            f"{render_scalar(key, quote=style.key_quote)}{style.colon}{render_flow(value[key], style)}"
            for key in ordered_keys(value)
        )
        return "{" + style.comma.join(pairs) + "}"
    if isinstance(value, list):
        return "[" + style.comma.join(render_flow(item, style) for item in value) + "]"
    return render_scalar(value, quote=style.quote)


def render_json(value: paths.Json, style: Style, *, indent: int | None = None) -> str:
    """The value as JSON; with `indent` over several lines, the first without indentation."""
    separators = ("," if indent is not None else style.comma, style.colon)
    return json.dumps(_with_ordered_keys(value), ensure_ascii=False, indent=indent, separators=separators)


def ordered_keys(value: paths.Object) -> list[str]:
    return sorted(value, key=key_rank)


def key_rank(key: str) -> tuple[int, str]:
    """A sort key for the keys of a new mapping: the usual order of manifests, because engines differ in theirs."""
    return _ORDER.index(key) if key in _ORDER else len(_ORDER), key


def _with_ordered_keys(value: paths.Json) -> paths.Json:
    if isinstance(value, dict):
        return {key: _with_ordered_keys(value[key]) for key in ordered_keys(value)}
    return [_with_ordered_keys(item) for item in value] if isinstance(value, list) else value


def _is_plain(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or _LIKE_A_NUMBER.fullmatch(text):
        return False
    return composing.resolve_scalar(text) == text and isinstance(composing.resolve_scalar(text), str)


def _suits_lines(text: str) -> bool:
    """Whether a text reads best as a literal block, which keeps it exactly."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1
        and bool(lines[0])
        and lines[0][0] not in " \t#-"
        and bool(lines[-1])
        and all(line.isprintable() and line == line.rstrip() for line in lines)
    )


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def is_inline(value: paths.Json) -> bool:
    """Whether a value needs no lines of its own in block style."""
    return not isinstance(value, dict | list) or not value


T = TypeVar("T")

_SPACED_COLON: Final = memo.pattern(r'":\s')
_SPACED_COMMA: Final = memo.pattern(r",\s")
_WIDEST: Final = 8
"""Columns. A wider step is a hand-drawn table and not a style."""


def style_of_document(root: Node, text: str, *, is_json: bool) -> Style:
    """The most common style of a document; kubectl's if the document does not show one."""
    steps, dashes, quotes = Counter[int](), Counter[int](), Counter[str]()
    for parent, entry in _pairs(root):
        value = entry.value
        if value.sort is NodeType.SCALAR and value.style in {"", '"', "'"} and value.end > value.body:
            quotes[value.style] += 1
        if parent.sort is not NodeType.MAPPING or parent.flow or value.flow or not value.entries:
            continue
        columns = _column(value, text) - column(text, entry.start)
        if value.sort is NodeType.MAPPING and 0 < columns <= _WIDEST:
            steps[columns] += 1
        elif value.sort is NodeType.LIST and 0 <= columns <= _WIDEST:
            dashes[columns] += 1
    quote = _most_common(quotes, "")
    return Style(
        step=_most_common(steps, 2),
        dash=_most_common(dashes, 0),
        quote=quote if quotes[quote] * 2 > quotes.total() else "",
        colon=":" if is_json and not _SPACED_COLON.search(text) else ": ",
        comma="," if is_json and not _SPACED_COMMA.search(text) else ", ",
        is_json=is_json,
    )


def style_of_list(node: Node, text: str, style: Style) -> Style:
    """The style with the gap after dashes that the items of a list have."""
    dash = dash_of(node.entries[-1], text)
    gap = node.entries[-1].start - dash - 1
    same_line = "\n" not in text[dash : node.entries[-1].start]
    return replace(style, gap=gap if same_line and 0 < gap <= _WIDEST else 1)


def style_of_keys(node: Node, style: Style) -> Style:
    """The style with the quote of the existing keys of a mapping."""
    key = node.entries[-1].key if node.entries else None
    return replace(style, key_quote=key.style if key is not None and key.style in {'"', "'"} else "")


def style_of_siblings(node: Node, text: str, style: Style) -> Style:
    """The style with the dash column of the other lists in the mapping."""
    for entry in node.entries:
        if entry.value.sort is NodeType.LIST and not entry.value.flow:
            columns = _column(entry.value, text) - column(text, entry.start)
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
        start = line_start(text, position)
        bare = text[start:position].partition("#")[0].rstrip(" \t\r\n")
        if bare.endswith("-"):
            return start + len(bare) - 1
        if bare or not start:
            raise RefusedError(entry.start, "its dash stands in another place than usher expects")
        position = start - 1


def _column(node: Node, text: str) -> int:
    """The column of the keys or dashes of a block collection; -1 where unknown."""
    if node.sort is NodeType.MAPPING:
        return column(text, node.entries[0].start)
    try:
        return column(text, dash_of(node.entries[0], text))
    except RefusedError:
        return -1


def _pairs(node: Node) -> Iterator[tuple[Node, Entry]]:
    pending = [node]
    while pending:
        parent = pending.pop()
        for entry in parent.entries:
            yield parent, entry
            pending.append(entry.value)


def _most_common(counted: Counter[T], default: T) -> T:
    return counted.most_common(1)[0][0] if counted else default
