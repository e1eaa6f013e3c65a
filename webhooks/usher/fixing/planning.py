"""Plans the edits that give the text of a document another value, and lists the changes that cannot be written."""

import contextlib
from collections.abc import Iterator, Sequence

from usher import paths
from usher.dataclass import dataclass
from usher.documents import reader
from usher.fixing import alignment, blocks, edits, flows, rendering, sharing, styles, syntax
from usher.fixing.syntax import Entry, Node, Sort


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A change that cannot be written."""

    pointer: str
    """Pointer in the document."""
    line: int
    """Line in the file, from 1, of the text in the way."""
    reason: str
    sites: tuple[str, ...] = ()
    """If shared text is in the way, the places that share it. It could change if all of them wanted the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    edits: tuple[edits.Edit, ...]
    """Offsets count the characters of the document's chunk."""
    refusals: tuple[Refusal, ...]


def plan(document: reader.Document, wanted: paths.Json) -> Plan:
    """The edits that turn the text of a document into the wanted value. Refused changes are not among the edits."""
    root, text = syntax.tree(document), document.chunk.text
    style = styles.of_document(root, text, is_json=document.is_json)
    planner = _Planner(document, style, shared=sharing.shared(root, wanted))
    planner.change(root, document.value, wanted, paths.ROOT, slot=None)
    return Plan(edits=tuple(planner.edits), refusals=tuple(planner.refusals))


class _Planner:
    def __init__(self, document: reader.Document, style: rendering.Style, *, shared: sharing.Shared) -> None:
        self._document = document
        self._shared = shared
        self._text = document.chunk.text
        self._style = style
        self.edits: list[edits.Edit] = []
        self.refusals: list[Refusal] = []

    def change(
        self, node: Node, before: paths.Json, after: paths.Json, pointer: str, *, slot: tuple[Node, Entry] | None
    ) -> None:
        """Plans one value; `slot` is the collection and the entry that hold it."""
        if alignment.same(before, after) or (node.sort is Sort.ALIAS and node.anchor in self._shared.agreed):
            return
        with self._refusing(pointer):
            if rendering.is_inline(before) and (node.sort is not Sort.ALIAS or rendering.is_inline(after)):
                self._replace(node, after, slot)
                return
            self._check_own(node)
            if isinstance(before, dict) and isinstance(after, dict):
                self._mapping(node, before, after, pointer, slot)
            elif isinstance(before, list) and isinstance(after, list):
                self._list(node, before, after, pointer, slot)
            else:
                raise edits.RefusedError(node.start, "a mapping or list would become something else; change it by hand")

    def _replace(self, node: Node, after: paths.Json, slot: tuple[Node, Entry] | None) -> None:
        if slot is None:
            raise edits.RefusedError(node.start, "the whole document would change; change it by hand")
        if node.sort is not Sort.ALIAS:
            self._check_own(node)
        parent, entry = slot
        if parent.flow or rendering.is_inline(after):
            self.edits += flows.replaced(entry, after, self._text, self._style)
        else:
            self.edits += blocks.replaced(parent, entry, after, self._text, self._style)

    def _mapping(
        self, node: Node, before: paths.Object, after: paths.Object, pointer: str, slot: tuple[Node, Entry] | None
    ) -> None:
        written = self._written(node)
        removed = [key for key in before if key not in after]
        added = {key: after[key] for key in rendering.ordered(after) if key not in before}
        for key in [key for key in before if key in after and not alignment.same(before[key], after[key])]:
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
                add = flows.with_keys if node.flow else blocks.with_keys
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
        steps = alignment.of_lists(before, after)
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
                add = flows.with_items if node.flow else blocks.with_items
                self.edits += add(node, place, items, self._text, self._style)
        self._remove(node, doomed, slot, pointer)

    def _remove(self, node: Node, doomed: Sequence[Entry], slot: tuple[Node, Entry] | None, pointer: str) -> None:
        if not doomed:
            return
        with self._refusing(pointer):
            if node.flow:
                self.edits += flows.without(node, doomed, self._text)
            elif len(doomed) < len(node.entries):
                self.edits += blocks.without(node, doomed, self._text)
            elif slot is not None:
                self.edits += blocks.emptied(node, slot[1], self._text)
            else:
                raise edits.RefusedError(node.start, "the document would become empty; change it by hand")

    def _renamed(self, entry: Entry, name: str) -> list[edits.Edit]:
        key = entry.key
        if key is None or key.anchor or key.sort is not Sort.SCALAR:
            raise edits.RefusedError(entry.start, "its key is an anchor or an alias; write it out")
        quote = '"' if self._style.is_json else key.style
        return [edits.Edit(start=key.start, end=key.end, text=rendering.scalar(name, quote=quote))]

    def _written(self, node: Node) -> dict[str, Entry]:
        """The effective entries in the mapping itself: a merge key overrides those before it."""
        merged = max((entry.start for entry in node.entries if entry.merges), default=-1)
        return {entry.name: entry for entry in node.entries if not entry.merges and entry.start > merged}

    def _entry(self, node: Node, written: dict[str, Entry], key: str) -> Entry:
        if key not in written:
            raise edits.RefusedError(node.start, "a merge key (<<) gives the value; write it out here")
        return written[key]

    def _removable(self, entry: Entry) -> Entry:
        for anchored in syntax.anchors(entry.value):
            self._check_own(anchored)
        return entry

    def _check_own(self, node: Node) -> None:
        if node.anchor in self._shared.agreed:
            return
        if node.sort is Sort.ALIAS:
            reason = f"the alias *{node.anchor} gives the value, and a change at its anchor would change other places"
            raise edits.RefusedError(node.start, f"{reason}; write the value out here", anchor=node.anchor)
        if node.shared:
            reason = f"other places take the value of the anchor &{node.anchor}, and a change would change them too"
            raise edits.RefusedError(node.start, f"{reason}; write the value out there", anchor=node.anchor)

    def _check_line(self, node: Node) -> None:
        if node.entries and not node.flow:
            start = node.entries[0].start
            if not edits.starts_line(self._text, start, after_dashes=True):
                raise edits.RefusedError(start, "its first key does not begin a line; change it by hand")

    @contextlib.contextmanager
    def _refusing(self, *pointers: str) -> Iterator[None]:
        try:
            yield
        except edits.RefusedError as refused:
            line, _ = self._document.chunk.place(refused.offset)
            sites = self._shared.sites.get(refused.anchor, ())
            self.refusals += [Refusal(pointer=each, line=line, reason=refused.reason, sites=sites) for each in pointers]


def _new_name(value: paths.Json, added: paths.Object) -> str | None:
    """The single new key with the value of a removed one, which means that the key was renamed; else None."""
    found = [key for key, new in added.items() if alignment.same(value, new)]
    return found[0] if len(found) == 1 else None
