"""The syntax of one document with its places, anchors that values share, and the old items of a changed list.

`documents` gives values, which copy the anchor for each alias. An edit must know which text is an alias.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from yaml import events

from usher import paths
from usher.check.fix.text_edits import Entry, Node, NodeType
from usher.documents import composing, reader

MERGE: Final = "<<"

_PROPERTIES: Final = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:[ \t\r\n]+(?:#[^\n]*)?)*)+")
_BLOCK_STYLES: Final = ("|", ">")
_KEEP: Final = re.compile(r"[|>][0-9]?\+|[|>]\+")


class _Open:
    """A collection whose end was not read yet."""

    __slots__ = ("entries", "event", "key", "name")

    def __init__(self, event: events.CollectionStartEvent | None) -> None:
        self.event = event
        self.entries = list[Entry]()
        self.key: Node | None = None
        self.name = ""

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.event, events.MappingStartEvent)

    def put(self, node: Node, event: events.Event) -> None:
        if not self.is_mapping:
            self.entries.append(Entry(value=node))
        elif self.key is None:
            self.key, self.name = node, _name(event)
        else:
            merges = self.name == MERGE and not self.key.style
            self.entries.append(Entry(key=self.key, name=self.name, value=node, merges=merges))
            self.key = None


def tree(document: reader.Document) -> Node:
    """The syntax of a document that the reader accepted."""
    text, stack = document.chunk.text, [_Open(None)]
    aliased = _aliased(document)
    for event in _events(document):
        if isinstance(event, events.CollectionStartEvent):
            stack.append(_Open(event))
        elif isinstance(event, events.CollectionEndEvent):
            opened = stack.pop()
            stack[-1].put(_collection(opened, event, text, aliased), event)
        elif isinstance(event, events.NodeEvent):
            stack[-1].put(_leaf(event, text, aliased), event)
    return stack[0].entries[0].value


def anchors(node: Node) -> Iterator[Node]:
    """The values at and below a node to which aliases refer."""
    if node.shared and node.sort is not NodeType.ALIAS:
        yield node
    for entry in node.entries:
        yield from anchors(entry.value)
        if entry.key is not None:
            yield from anchors(entry.key)


def _events(document: reader.Document) -> Iterator[events.Event]:
    next_event = reader.event_source(document)
    while type(event := next_event()) is not events.StreamEndEvent and event is not None:
        yield event


def _aliased(document: reader.Document) -> frozenset[str]:
    if document.is_json or "*" not in document.chunk.text:
        return frozenset()
    return frozenset(event.anchor or "" for event in _events(document) if isinstance(event, events.AliasEvent))


def _leaf(event: events.NodeEvent, text: str, aliased: frozenset[str]) -> Node:
    start, end = composing.span(event)
    anchor = event.anchor or ""
    if isinstance(event, events.AliasEvent):
        return Node(sort=NodeType.ALIAS, start=start, body=start, end=end, anchor=anchor, shared=True)
    style = str(getattr(event, "style", None) or "")
    body = min(_body(event, text), end)
    if style in _BLOCK_STYLES:
        end = _end_of_block(text, body, end)
    return Node(
        sort=NodeType.SCALAR, start=start, body=body, end=end, style=style, anchor=anchor, shared=anchor in aliased
    )


def _collection(opened: _Open, event: events.CollectionEndEvent, text: str, aliased: frozenset[str]) -> Node:
    begun: Any = opened.event
    start, _ = composing.span(begun)
    flow = bool(begun.flow_style)
    end = composing.span(event)[1] if flow else opened.entries[-1].end
    anchor = begun.anchor or ""
    return Node(
        sort=NodeType.MAPPING if opened.is_mapping else NodeType.LIST,
        start=start,
        body=_body(begun, text),
        end=end,
        flow=flow,
        anchor=anchor,
        entries=tuple(opened.entries),
        shared=anchor in aliased,
    )


def _body(event: events.NodeEvent, text: str) -> int:
    start, _ = composing.span(event)
    if event.anchor is None and getattr(event, "tag", None) is None:
        return start
    properties = _PROPERTIES.match(text, start)
    return properties.end() if properties else start


def _end_of_block(text: str, start: int, end: int) -> int:
    """The end of a block scalar: its last line of text, or its last blank line if it keeps blank lines."""
    # libyaml includes the indentation of the next line in the scalar.
    content = text[start:end].rstrip(" ")
    if _KEEP.match(content):
        return start + len(content.removesuffix("\n").removesuffix("\r"))
    return start + len(content.rstrip("\r\n"))


def _name(event: events.Event) -> str:
    """The key as kubectl sends it; the reader has accepted it."""
    if not isinstance(event, events.ScalarEvent):
        return ""
    if event.tag is not None:
        return composing.as_key(composing.resolve_tagged(event.value, tag=event.tag), event.value)
    if event.implicit[0]:
        return composing.as_key(composing.resolve_scalar(event.value), event.value)
    return event.value


def is_same_value(one: paths.Json, other: paths.Json) -> bool:
    """Whether two values are the same in JSON. Python also calls True and 1 equal."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(is_same_value(value, other[key]) for key, value in one.items())
        )
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(is_same_value, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


AlignedItems = tuple[int | None, int | None]
"""Positions of an item in the old and the new list: (3, 4) is kept or changed, (3, None) removed, (None, 4) new."""


def align_lists(before: list[paths.Json], after: list[paths.Json]) -> list[AlignedItems]:
    """How the old list becomes the new one, in the order of the new list."""
    first = 0
    while first < min(len(before), len(after)) and is_same_value(before[first], after[first]):
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and is_same_value(before[-1 - last], after[-1 - last]):
        last += 1
    steps: list[AlignedItems] = [(index, index) for index in range(first)]
    old, new = list(range(first, len(before) - last)), list(range(first, len(after) - last))
    steps += _middle(before, after, old, new)
    return [*steps, *((len(before) - each, len(after) - each) for each in range(last, 0, -1))]


def _middle(before: list[paths.Json], after: list[paths.Json], old: list[int], new: list[int]) -> list[AlignedItems]:
    if len(old) > len(new):
        pairs = _embedded([after[index] for index in new], [before[index] for index in old])
        return [(index, None if pairs[place] is None else new[pairs[place] or 0]) for place, index in enumerate(old)]
    pairs = _embedded([before[index] for index in old], [after[index] for index in new])
    return [(None if pairs[place] is None else old[pairs[place] or 0], index) for place, index in enumerate(new)]


def _embedded(few: list[paths.Json], many: list[paths.Json]) -> list[int | None]:
    """The partner among `few` for each of `many`, in order: by similarity, or else one by one from the first."""
    pairs: list[int | None] = []
    partner = 0
    for item in many:
        if partner < len(few) and _match_by_name(few[partner], item):
            pairs.append(partner)
            partner += 1
        else:
            pairs.append(None)
    if partner == len(few):
        return pairs
    return [index if index < len(few) else None for index in range(len(many))]


def _match_by_name(one: paths.Json, other: paths.Json) -> bool:
    if isinstance(one, dict) and isinstance(other, dict) and isinstance(one.get("name"), str):
        return one["name"] == other.get("name")
    return is_same_value(one, other)


_MISSING = object()


class Shared(Struct, frozen=True, kw_only=True):
    """The anchors of a document, by name."""

    agreed: frozenset[str]
    """Anchors that one value defines, and whose aliases all become the value that it becomes."""
    sites: Mapping[str, tuple[str, ...]]
    """The pointers to the places with the value. It lacks anchors that a merge key names, because a merge key takes
    only single keys.
    """


def shared(root: Node, wanted: paths.Json) -> Shared:
    """The anchors whose places agree, from comparing the wanted values of all places of each anchor."""
    values: defaultdict[str, list[object]] = defaultdict(list)
    sites: defaultdict[str, list[str]] = defaultdict(list)
    defined: Counter[str] = Counter()
    unfit: set[str] = set()
    pending: list[tuple[Node, object, str]] = [(root, wanted, paths.ROOT)]
    while pending:
        node, value, pointer = pending.pop()
        if node.shared:
            defined[node.anchor] += node.sort is not NodeType.ALIAS
            values[node.anchor].append(value)
            sites[node.anchor].append(pointer)
        for number, entry in enumerate(node.entries):
            if entry.merges:
                unfit.update(_names(entry))
            else:
                key = number if entry.key is None else entry.name
                pending.append((entry.value, _below(value, key), paths.join(pointer, key)))
            if entry.key is not None and entry.key.shared:
                unfit.add(entry.key.anchor)
    found = {name: tuple(each) for name, each in sites.items() if defined[name] == 1 and name not in unfit}
    return Shared(agreed=frozenset(name for name in found if _are_same(values[name])), sites=found)


def _are_same(values: list[object]) -> bool:
    first = values[0]
    return all(
        first is not _MISSING and each is not _MISSING and is_same_value(first, each)  # type: ignore[arg-type]  # JSON
        for each in values
    )


def _below(value: object, key: str | int) -> object:
    if isinstance(value, dict):
        return value.get(key, _MISSING)
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return value[key]
    return _MISSING


def _names(entry: Entry) -> Iterator[str]:
    """The anchors whose keys a merge key takes."""
    if entry.value.anchor:
        yield entry.value.anchor
    for each in entry.value.entries:
        yield from _names(each)
