"""One YAML document -> the value that kubectl sends, built from libyaml's events in one pass.

go-yaml v2's rules (`decode.go`) hold for aliases and merge keys too: a merge key overrides the keys before it and is
overridden by the keys after it. An aliased value is copied, so that changing one place changes no other.
"""

from collections.abc import Callable
from typing import Any, Final

from yaml import events

from usher import errors, paths
from usher.dataclass import dataclass
from usher.documents import chunks, frames, scalars, syntax

MAX_DEPTH: Final = 128
MAX_ALIASED: Final = 4 * 2**20
"""Characters that the aliases of one file may stand for, aliases within aliases counted each time."""

EventSource = Callable[[], events.Event | None]
"""Gives the next event of a document at each call, as `CParser.get_event` does."""

_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_COLLECTION_TAGS: Final = {dict: "tag:yaml.org,2002:map", list: "tag:yaml.org,2002:seq"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    value: paths.Json
    start: int
    """Offset of the value's first character."""
    aliased: int
    """The aliased characters that count towards MAX_ALIASED, this document included."""
    node: frames.Node | None
    """Only when traced."""


def compose(chunk: chunks.Chunk, next_event: EventSource, *, aliased: int = 0, traced: bool = False) -> Composed | None:
    """The value of a document, None if it is empty; `aliased` counts the aliased characters of earlier documents.

    Raises:
        ManifestError: kubectl would refuse the document, or would change or drop a part of it without an error.
        yaml.YAMLError: not YAML, from the event source.
    """
    composer = _Composer(chunk, aliased=aliased, traced=traced)
    handlers: dict[type, Callable[[Any], None]] = {
        events.ScalarEvent: composer.scalar,
        events.AliasEvent: composer.alias,
        events.MappingStartEvent: composer.mapping,
        events.SequenceStartEvent: composer.sequence,
        events.MappingEndEvent: composer.close,
        events.SequenceEndEvent: composer.close,
        events.DocumentStartEvent: composer.document,
    }
    while type(event := next_event()) is not events.StreamEndEvent:
        if handle := handlers.get(type(event)):
            handle(event)
    return composer.composed()


class _Composer:
    def __init__(self, chunk: chunks.Chunk, *, aliased: int, traced: bool) -> None:
        self._chunk = chunk
        self._aliased = aliased
        self._traced = traced
        self._anchors: dict[str, frames.Anchor] = {}
        self._root: list[paths.Json] = []
        self._node = frames.Node(0, 0, []) if traced else None
        self._start = 0
        self._frames = [frames.Frame(self._root, start=0, aliased=0, node=self._node)]

    def composed(self) -> Composed | None:
        if not self._root:
            return None
        nodes = self._node.children if self._node is not None else None
        node = nodes[0] if isinstance(nodes, list) else None
        return Composed(value=self._root[0], start=self._start, aliased=self._aliased, node=node)

    def document(self, event: events.DocumentStartEvent) -> None:
        if self._root:
            reason = "kubectl ends lines at line feeds only and would drop this document; save the file with line feeds"
            raise self._refusal(reason, event)

    def scalar(self, event: events.ScalarEvent) -> None:
        text, tag, frame = event.value, event.tag, self._frames[-1]
        value: scalars.Scalar = text
        if tag is not None and not (frame.due and text == "<<" and tag == _MERGE_TAG):
            try:
                value = scalars.resolve_tagged(text, tag=tag)
            except errors.InputError as error:
                raise self._refusal(str(error), event) from None
        elif event.implicit[0] and text[:1] in scalars.HINTS:
            value = scalars.resolve(text)
        node = frames.Node(*frames.span(event)) if self._traced else None
        if event.anchor is not None:
            self._anchors[event.anchor] = anchor = frames.Anchor(value, node)
            start, end = frames.span(event)
            anchor.text, anchor.cost = text, max(end - start, 1)
        if len(self._frames) == 1:
            self._start, _ = frames.span(event)
        if frame.due and text == "<<" and (event.implicit[0] or tag == _MERGE_TAG):
            frame.due, frame.merging = False, True
        else:
            self._put(value, text, node, event)

    def alias(self, event: events.AliasEvent) -> None:
        anchor, frame = self._anchors.get(event.anchor or ""), self._frames[-1]
        if anchor is None:
            reason = f"no &{event.anchor} stands before this alias; define it, or quote the value if text is meant"
            raise self._refusal(reason, event)
        if anchor.cost is None:
            raise self._refusal(f"the value of &{event.anchor} contains itself; write it out", event)
        self._aliased += anchor.cost
        if self._aliased > MAX_ALIASED:
            reason = f"the aliases of this file stand for more than {MAX_ALIASED // 2**20} MiB; write the values out"
            raise self._refusal(reason, event)
        node = frames.Node(*frames.span(event), anchor.node.children) if anchor.node is not None else None
        if not isinstance(anchor.value, dict | list):
            self._put(anchor.value, anchor.text, node, event)
        elif frame.due:
            raise self._no_key(event)
        elif frame.merging and isinstance(anchor.value, list):
            raise self._no_merge(event)
        else:
            self._place(self._copied(anchor.value, len(self._frames), event), node, event)

    def mapping(self, event: events.MappingStartEvent) -> None:
        self._open(event, {})

    def sequence(self, event: events.SequenceStartEvent) -> None:
        self._open(event, [])

    def close(self, event: events.CollectionEndEvent) -> None:
        frame = self._frames.pop()
        if frame.anchor is not None or frame.node is not None:
            start, end = frames.span(event)
            if frame.anchor is not None:
                frame.anchor.cost = end - frame.start + self._aliased - frame.aliased
            if frame.node is not None and end > start:  # else it has no closing bracket
                frame.node.end = end
        self._place(frame.value, frame.node, event)

    def _open(self, event: events.CollectionStartEvent, value: frames.Collection) -> None:
        if self._frames[-1].due:
            raise self._no_key(event)
        self._check_depth(len(self._frames), event)
        if event.tag is not None and event.tag != _COLLECTION_TAGS[type(value)]:
            reason = f"the tag {scalars.short(event.tag)} does not belong on a list or mapping; remove it"
            raise self._refusal(reason, event)
        start, end = frames.span(event)
        node = frames.Node(start, end, {} if isinstance(value, dict) else []) if self._traced else None
        frame = frames.Frame(value, start=start, aliased=self._aliased, node=node)
        if event.anchor is not None:
            self._anchors[event.anchor] = frame.anchor = frames.Anchor(value, node)
        if len(self._frames) == 1:
            self._start = start
        self._frames.append(frame)

    def _put(self, scalar: scalars.Scalar, text: str, node: frames.Node | None, event: events.NodeEvent) -> None:
        """Uses a scalar as the key that is due, or else as a value."""
        frame = self._frames[-1]
        key, value = text, scalar
        if type(scalar) is not str:
            try:
                if frame.due:
                    key = scalars.as_key(scalar, text)
                else:
                    value = scalars.as_value(scalar, text)
            except errors.InputError as error:
                raise self._refusal(str(error), event) from None
        elif frame.due:
            key = scalar
        if not frame.due:
            self._place(value, node, event)
        elif key in frame.keys:
            line, _ = self._chunk.place(frames.span(frame.keys[key])[0])
            raise self._refusal(f"the key {key!r} stands twice in one mapping, first on line {line}; keep one", event)
        else:
            frame.keys[key] = event
            frame.key, frame.due = key, False

    def _place(self, value: paths.Json, node: frames.Node | None, event: events.Event) -> None:
        frame = self._frames[-1]
        if not frame.merging:
            frame.place(value, node)
        elif not frame.merge(value, node):
            raise self._no_merge(event)

    def _copied(self, value: paths.Json, depth: int, event: events.Event) -> paths.Json:
        """A copy for a place at that depth; MAX_DEPTH bounds the recursion."""
        if not isinstance(value, dict | list):
            return value
        self._check_depth(depth, event)
        if isinstance(value, list):
            return [self._copied(item, depth + 1, event) for item in value]
        return {key: self._copied(item, depth + 1, event) for key, item in value.items()}

    def _check_depth(self, depth: int, event: events.Event) -> None:
        if depth > MAX_DEPTH:
            raise self._refusal(f"nested deeper than {MAX_DEPTH} levels; flatten it", event)

    def _no_key(self, event: events.Event) -> errors.ManifestError:
        start, end = frames.span(event)
        template = syntax.unrendered(self._chunk, start, end)
        return template or self._refusal("a key is a list or a mapping; quote it if text is meant", event)

    def _no_merge(self, event: events.Event) -> errors.ManifestError:
        return self._refusal("<< takes a mapping or a list of mappings; quote the key if text is meant", event)

    def _refusal(self, reason: str, event: events.Event) -> errors.ManifestError:
        return self._chunk.refusal(reason, offset=frames.span(event)[0])
