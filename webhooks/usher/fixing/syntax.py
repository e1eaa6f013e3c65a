"""The syntax of one document: each mapping, list, text and alias as written, with its place.

`documents` gives values, which copy the anchor for each alias. An edit must know which text is an alias.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, Final

from yaml import events

from usher.dataclass import dataclass
from usher.documents import composing, reader

MERGE: Final = "<<"

_PROPERTIES: Final = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:[ \t\r\n]+(?:#[^\n]*)?)*)+")
_BLOCK_STYLES: Final = ("|", ">")
_KEEP: Final = re.compile(r"[|>][0-9]?\+|[|>]\+")


class Sort(Enum):
    MAPPING = auto()
    LIST = auto()
    SCALAR = auto()
    ALIAS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value as written; offsets count the characters of the chunk, the end is exclusive."""

    sort: Sort
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
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
    if node.shared and node.sort is not Sort.ALIAS:
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
        return Node(sort=Sort.ALIAS, start=start, body=start, end=end, anchor=anchor, shared=True)
    style = str(getattr(event, "style", None) or "")
    body = min(_body(event, text), end)
    if style in _BLOCK_STYLES:
        end = _end_of_block(text, body, end)
    return Node(sort=Sort.SCALAR, start=start, body=body, end=end, style=style, anchor=anchor, shared=anchor in aliased)


def _collection(opened: _Open, event: events.CollectionEndEvent, text: str, aliased: frozenset[str]) -> Node:
    begun: Any = opened.event
    start, _ = composing.span(begun)
    flow = bool(begun.flow_style)
    end = composing.span(event)[1] if flow else opened.entries[-1].end
    anchor = begun.anchor or ""
    return Node(
        sort=Sort.MAPPING if opened.is_mapping else Sort.LIST,
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
