"""Plans the edits that give the text of a document another value, and lists the changes that cannot be written."""

import contextlib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import paths
from usher.check.fix import syntax, text_edits
from usher.check.fix.text_edits import Edit, Entry, Node, NodeType, Style
from usher.documents import reader

_COLON: Final = re.compile(r"[ \t]*:")


def add_block_keys(node: Node, added: paths.Object, doomed: Collection[Entry], text: str, style: Style) -> list[Edit]:
    """Adds keys below the last remaining entry of a mapping, in its column."""
    kept = [entry for entry in node.entries if entry not in doomed]
    if not kept:
        raise text_edits.RefusedError(node.start, "all keys of the mapping would change; change it by hand")
    margin = text_edits.column(text, node.entries[0].start)
    style = text_edits.style_of_siblings(node, text, text_edits.style_of_keys(node, style))
    lines = [line for key, value in added.items() for line in text_edits.render_entry(key, value, style)]
    return [_below(text, kept[-1].end, lines, margin=margin)]


def add_block_items(node: Node, place: int, items: Sequence[paths.Json], text: str, style: Style) -> list[Edit]:
    """Adds items to a list after a position, in the column of the dashes."""
    if place < 0:
        raise text_edits.RefusedError(node.start, "an item would stand before the first one; change it by hand")
    margin = text_edits.column(text, text_edits.dash_of(node.entries[-1], text))
    style = text_edits.style_of_list(node, text, style)
    lines = [line for item in items for line in text_edits.render_item(item, style)]
    return [_below(text, node.entries[place].end, lines, margin=margin)]


def replace_with_block(parent: Node, entry: Entry, after: paths.Json, text: str, style: Style) -> list[Edit]:
    """Replaces null, {} or [] by a mapping or a list with entries."""
    node = entry.value
    if parent.sort is NodeType.LIST:
        margin = text_edits.column(text, text_edits.dash_of(entry, text)) + 2
        if node.start == node.body:
            return [_edit_in_item(node, after, text, style)]
    else:
        if not text_edits.starts_line(text, entry.start, after_dashes=True):
            raise text_edits.RefusedError(entry.start, "its key does not begin a line; change it by hand")
        style = text_edits.style_of_siblings(parent, text, text_edits.style_of_keys(parent, style))
        margin = text_edits.column(text, entry.start) + (style.step if isinstance(after, dict) else style.dash)
    lines = text_edits.indented(text_edits.render_block(after, style), margin)
    end = text_edits.line_end(text, node.end)
    start = text_edits.before_blanks(text, node.body) if node.body < node.end else node.body
    return [
        Edit(start=start, end=node.end, text=""),
        Edit(start=end, end=end, text=text_edits.end_of_line(text, end) + _join_lines(text, end, lines)),
    ]


def _edit_in_item(node: Node, after: paths.Json, text: str, style: Style) -> Edit:
    """The edit for a mapping or list that begins after the dash of its item."""
    is_bare = node.body == node.end
    margin = text_edits.column(text, node.body) + is_bare
    lines = _join_lines(text, node.end, text_edits.indented(text_edits.render_block(after, style), margin))
    return Edit(start=node.body, end=node.end, text=" " * is_bare + lines.lstrip(" "))


def remove_block_entries(node: Node, doomed: Sequence[Entry], text: str) -> list[Edit]:
    """Removes some entries with their lines; comments on their own lines stay."""
    found: list[Edit] = []
    position = -1
    for index, entry in enumerate(node.entries):
        if entry not in doomed or entry.start < position:
            continue
        start = entry.start if node.sort is NodeType.MAPPING else text_edits.dash_of(entry, text)
        if text_edits.starts_line(text, start):
            found.append(text_edits.without_lines(text, start, entry.end))
            continue
        kept = next((each for each in node.entries[index:] if each not in doomed), None)
        if kept is None or not text_edits.starts_line(text, start, after_dashes=True):
            raise text_edits.RefusedError(start, "it does not begin a line; change it by hand")
        position = kept.start if node.sort is NodeType.MAPPING else text_edits.dash_of(kept, text)
        text_edits.check_no_comment(text, start, position)
        found.append(Edit(start=start, end=position, text=""))
    return found


def empty_block(node: Node, entry: Entry, text: str) -> list[Edit]:
    """Replaces all entries by {} or []."""
    empty = "{}" if node.sort is NodeType.MAPPING else "[]"
    text_edits.check_no_comment(text, node.body, node.end)
    header = text[entry.start : node.body]
    colon = _COLON.match(text, entry.key.end) if entry.key is not None else None
    if colon is None or "\n" not in header or node.start != node.body:
        if node.sort is NodeType.LIST or node.start != node.body:
            raise text_edits.RefusedError(node.start, "its last entry would go; change it by hand")
        return [Edit(start=node.body, end=node.end, text=empty)]
    return [
        Edit(start=colon.end(), end=colon.end(), text=f" {empty}"),
        text_edits.without_lines(text, node.body, node.end),
    ]


def _below(text: str, end: int, lines: Sequence[str], *, margin: int) -> Edit:
    position = text_edits.after_comments(text, end, margin=margin)
    indented = text_edits.indented(list(lines), margin)
    return Edit(
        start=position,
        end=position,
        text=text_edits.end_of_line(text, position) + _join_lines(text, position, indented),
    )


def _join_lines(text: str, offset: int, lines: Sequence[str]) -> str:
    return text_edits.end_of_line(text, offset).join(lines)


_COMMA: Final = re.compile(r"(?:\s|#[^\n]*)*,")
_WIDEST: Final = 8


def replace_inline(entry: Entry, after: paths.Json, text: str, style: Style) -> list[Edit]:
    """Replaces a scalar or an empty collection by a value on one line, with the old quote."""
    node = entry.value
    if style.is_json:
        return [Edit(start=node.start, end=node.end, text=_json(after, text, node.start, style))]
    is_bare = node.body == node.end
    quote = node.style if node.style in {'"', "'"} else style.quote if is_bare else ""
    written = text_edits.render_flow(after, replace(style, quote=quote))
    if node.sort is NodeType.ALIAS:
        return [Edit(start=node.start, end=node.end, text=written)]
    if "!" in text[node.start : node.body]:
        # The tag belongs to the old value.
        anchor = f"&{node.anchor} " if node.anchor else ""
        return [Edit(start=node.start, end=node.end, text=anchor + written)]
    return [Edit(start=node.body, end=node.end, text=" " * is_bare + written)]


def add_flow_keys(node: Node, added: paths.Object, doomed: Collection[Entry], text: str, style: Style) -> list[Edit]:
    """Adds keys behind the last entry of a mapping in brackets."""
    if doomed:
        raise text_edits.RefusedError(node.start, "keys in brackets would go while others come; change it by hand")
    last = node.entries[-1]
    key = last.key
    if key is not None:
        between = text[key.end : last.value.start]
        style = replace(style, colon=":" if between == ":" else ": ", key_quote=key.style)
    style = _spaced(node, text, style)
    written = []
    for name, value in added.items():
        start = (
            text_edits.render_scalar(name, quote=style.key_quote)
            if not style.is_json
            else text_edits.render_json(name, style)
        )
        written.append(f"{start}{style.colon}{_inline(value, text, last.start, style, node)}")
    return _insert_after(node, len(node.entries) - 1, written, text, style)


def add_flow_items(node: Node, place: int, items: Sequence[paths.Json], text: str, style: Style) -> list[Edit]:
    """Adds items to a list in brackets, behind the one at a position."""
    if place < 0:
        raise text_edits.RefusedError(node.start, "an item would stand before the first one; change it by hand")
    style = _spaced(node, text, style)
    written = [_inline(item, text, node.entries[place].start, style, node) for item in items]
    return _insert_after(node, place, written, text, style)


def remove_flow_entries(node: Node, doomed: Collection[Entry], text: str) -> list[Edit]:
    """Removes entries with their commas."""
    entries = node.entries
    if len(doomed) == len(entries):
        text_edits.check_no_comment(text, node.body, node.end)
        return [Edit(start=node.body, end=node.end, text="{}" if node.sort is NodeType.MAPPING else "[]")]
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
        text_edits.check_no_comment(text, edit.start, edit.end)
    return found


def _insert_after(node: Node, place: int, written: Sequence[str], text: str, style: Style) -> list[Edit]:
    entry = node.entries[place]
    comma = _COMMA.match(text, entry.end)
    position = text_edits.line_end(text, comma.end() if comma else entry.end)
    rest = text[comma.end() if comma else entry.end : position].strip()
    # The rest of the line would come between. Then the new entries go on the same line too.
    has_line = text_edits.starts_line(text, entry.start) and "\n" in text[node.body : entry.start]
    if not has_line or not (not rest or rest.startswith("#")):
        start = "," + style.comma[1:]
        return [Edit(start=entry.end, end=entry.end, text="".join(start + each for each in written))]
    margin = text_edits.end_of_line(text, entry.start) + text[text_edits.line_start(text, entry.start) : entry.start]
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
    if style.is_json and "\n" in text[node.body : node.end] and text_edits.starts_line(text, start):
        return _json(value, text, start, style)
    return text_edits.render_flow(value, style)


def _json(value: paths.Json, text: str, start: int, style: Style) -> str:
    """JSON on several lines if the text around has a line for each entry, else on one line."""
    if text_edits.is_inline(value) or not text_edits.line_start(text, start):
        return text_edits.render_flow(value, style)
    line = text[text_edits.line_start(text, start) : start]
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    step = _step_of_json(text)
    written = text_edits.render_json(value, replace(style, colon=": "), indent=step)
    return (text_edits.end_of_line(text, start) + margin).join(written.split("\n"))


def _step_of_json(text: str) -> int:
    """The indentation of the first line after the opening bracket."""
    _, _, rest = text.partition("\n")
    columns = len(rest) - len(rest.lstrip(" "))
    return columns if 0 < columns <= _WIDEST else 2


class Refusal(Struct, frozen=True, kw_only=True):
    """A change that cannot be written."""

    pointer: str
    """Pointer in the document."""
    line: int
    """Line in the file, from 1, of the text in the way."""
    reason: str
    sites: tuple[str, ...] = ()
    """If shared text is in the way, the places that share it. It could change if all of them wanted the same."""


class Plan(Struct, frozen=True, kw_only=True):
    edits: tuple[text_edits.Edit, ...]
    """Offsets count the characters of the document's chunk."""
    refusals: tuple[Refusal, ...]


def plan(document: reader.Document, wanted: paths.Json) -> Plan:
    """The edits that turn the text of a document into the wanted value. Refused changes are not among the edits."""
    root, text = syntax.tree(document), document.chunk.text
    style = text_edits.style_of_document(root, text, is_json=document.is_json)
    planner = _Planner(document, style, shared=syntax.shared(root, wanted))
    planner.change(root, document.value, wanted, paths.ROOT, slot=None)
    return Plan(edits=tuple(planner.edits), refusals=tuple(planner.refusals))


class _Planner:
    def __init__(self, document: reader.Document, style: text_edits.Style, *, shared: syntax.Shared) -> None:
        self._document = document
        self._shared = shared
        self._text = document.chunk.text
        self._style = style
        self.edits: list[text_edits.Edit] = []
        self.refusals: list[Refusal] = []

    def change(
        self, node: Node, before: paths.Json, after: paths.Json, pointer: str, *, slot: tuple[Node, Entry] | None
    ) -> None:
        """Plans one value; `slot` is the collection and the entry that hold it."""
        if syntax.is_same_value(before, after) or (node.sort is NodeType.ALIAS and node.anchor in self._shared.agreed):
            return
        with self._refusing(pointer):
            if text_edits.is_inline(before) and (node.sort is not NodeType.ALIAS or text_edits.is_inline(after)):
                self._replace(node, after, slot)
                return
            self._check_own(node)
            if isinstance(before, dict) and isinstance(after, dict):
                self._mapping(node, before, after, pointer, slot)
            elif isinstance(before, list) and isinstance(after, list):
                self._list(node, before, after, pointer, slot)
            else:
                raise text_edits.RefusedError(
                    node.start, "a mapping or list would become something else; change it by hand"
                )

    def _replace(self, node: Node, after: paths.Json, slot: tuple[Node, Entry] | None) -> None:
        if slot is None:
            raise text_edits.RefusedError(node.start, "the whole document would change; change it by hand")
        if node.sort is not NodeType.ALIAS:
            self._check_own(node)
        parent, entry = slot
        if parent.flow or text_edits.is_inline(after):
            self.edits += replace_inline(entry, after, self._text, self._style)
        else:
            self.edits += replace_with_block(parent, entry, after, self._text, self._style)

    def _mapping(
        self, node: Node, before: paths.Object, after: paths.Object, pointer: str, slot: tuple[Node, Entry] | None
    ) -> None:
        written = self._written(node)
        removed = [key for key in before if key not in after]
        added = {key: after[key] for key in text_edits.ordered_keys(after) if key not in before}
        for key in [key for key in before if key in after and not syntax.is_same_value(before[key], after[key])]:
            with self._refusing(below := paths.join(pointer, key)):
                entry = self._entry(node, written, key)
                self.change(entry.value, before[key], after[key], below, slot=(node, entry))
        for key in list(removed):
            if (renamed := _new_name(before[key], added)) is not None:
                removed.remove(key)
                del added[renamed]
                with self._refusing(paths.join(pointer, key)):
                    self.edits += self._renamed(self._entry(node, written, key), renamed)
        doomed: list[Entry] = []
        for key in removed:
            with self._refusing(paths.join(pointer, key)):
                doomed.append(self._removable(self._entry(node, written, key)))
        if added:
            with self._refusing(*(paths.join(pointer, key) for key in added)):
                self._check_line(node)
                add = add_flow_keys if node.flow else add_block_keys
                self.edits += add(node, added, doomed, self._text, self._style)
        self._remove(node, doomed, slot, paths.join(pointer, *removed[:1]))

    def _list(
        self,
        node: Node,
        before: list[paths.Json],
        after: list[paths.Json],
        pointer: str,
        slot: tuple[Node, Entry] | None,
    ) -> None:
        steps = syntax.align_lists(before, after)
        doomed: list[Entry] = []
        new: dict[int, list[paths.Json]] = {}
        last = -1
        for old, place in steps:
            if old is None and place is not None:
                new.setdefault(last, []).append(after[place])
            elif old is not None:
                entry, below = node.entries[old], paths.join(pointer, old)
                if place is not None:
                    last = old
                    self.change(entry.value, before[old], after[place], below, slot=(node, entry))
                else:
                    with self._refusing(below):
                        doomed.append(self._removable(entry))
        for place, items in new.items():
            with self._refusing(paths.join(pointer, place + 1), pointer + "/-"):
                add = add_flow_items if node.flow else add_block_items
                self.edits += add(node, place, items, self._text, self._style)
        self._remove(node, doomed, slot, pointer)

    def _remove(self, node: Node, doomed: Sequence[Entry], slot: tuple[Node, Entry] | None, pointer: str) -> None:
        if not doomed:
            return
        with self._refusing(pointer):
            if node.flow:
                self.edits += remove_flow_entries(node, doomed, self._text)
            elif len(doomed) < len(node.entries):
                self.edits += remove_block_entries(node, doomed, self._text)
            elif slot is not None:
                self.edits += empty_block(node, slot[1], self._text)
            else:
                raise text_edits.RefusedError(node.start, "the document would become empty; change it by hand")

    def _renamed(self, entry: Entry, name: str) -> list[text_edits.Edit]:
        key = entry.key
        if key is None or key.anchor or key.sort is not NodeType.SCALAR:
            raise text_edits.RefusedError(entry.start, "its key is an anchor or an alias; write it out")
        quote = '"' if self._style.is_json else key.style
        return [text_edits.Edit(start=key.start, end=key.end, text=text_edits.render_scalar(name, quote=quote))]

    def _written(self, node: Node) -> dict[str, Entry]:
        """The effective entries in the mapping itself: a merge key overrides those before it."""
        merged = max((entry.start for entry in node.entries if entry.merges), default=-1)
        return {entry.name: entry for entry in node.entries if not entry.merges and entry.start > merged}

    def _entry(self, node: Node, written: dict[str, Entry], key: str) -> Entry:
        if key not in written:
            raise text_edits.RefusedError(node.start, "a merge key (<<) gives the value; write it out here")
        return written[key]

    def _removable(self, entry: Entry) -> Entry:
        for anchored in syntax.anchors(entry.value):
            self._check_own(anchored)
        return entry

    def _check_own(self, node: Node) -> None:
        if node.anchor in self._shared.agreed:
            return
        if node.sort is NodeType.ALIAS:
            reason = f"the alias *{node.anchor} gives the value, and a change at its anchor would change other places"
            raise text_edits.RefusedError(node.start, f"{reason}; write the value out here", anchor=node.anchor)
        if node.shared:
            reason = f"other places take the value of the anchor &{node.anchor}, and a change would change them too"
            raise text_edits.RefusedError(node.start, f"{reason}; write the value out there", anchor=node.anchor)

    def _check_line(self, node: Node) -> None:
        if node.entries and not node.flow:
            start = node.entries[0].start
            if not text_edits.starts_line(self._text, start, after_dashes=True):
                raise text_edits.RefusedError(start, "its first key does not begin a line; change it by hand")

    @contextlib.contextmanager
    def _refusing(self, *pointers: str) -> Iterator[None]:
        try:
            yield
        except text_edits.RefusedError as refused:
            line, _ = self._document.chunk.place(refused.offset)
            sites = self._shared.sites.get(refused.anchor, ())
            self.refusals += [Refusal(pointer=each, line=line, reason=refused.reason, sites=sites) for each in pointers]


def _new_name(value: paths.Json, added: paths.Object) -> str | None:
    """The single new key with the value of a removed one, which means that the key was renamed; else None."""
    found = [key for key, new in added.items() if syntax.is_same_value(value, new)]
    return found[0] if len(found) == 1 else None
