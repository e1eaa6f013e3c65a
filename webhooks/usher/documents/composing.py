"""One YAML document -> the value that kubectl sends, built from libyaml's events in one pass.

go-yaml v2's rules (`decode.go`) hold for aliases and merge keys too: a merge key overrides the keys before it and is
overridden by the keys after it. An aliased value is copied, so that changing one place changes no other.

The rules are those of go.yaml.in/yaml/v2 (`resolve.go`), then of sigs.k8s.io/yaml (keys become strings, numbers go
through JSON) and of sigs.k8s.io/json (a JSON number is an int64 if it reads as one, else a float64). They are YAML 1.1
with exceptions: `y` and `on` are true and `0777` is octal, but `1:30` and dates are text, and so is a float too large.
"""

import base64
import math
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

from usher import errors, memo, paths
from usher.documents import chunks

Event = Any
"""An event of libyaml (yaml.events), which plainly written files do without."""
Collection = dict[str, paths.Json] | list[paths.Json]


class Node:
    """The places of a value and its key: offsets into the chunk, with exclusive ends."""

    __slots__ = ("children", "end", "key", "start")

    def __init__(self, start: int, end: int, children: "dict[str, Node] | list[Node] | None" = None) -> None:
        self.start = start
        self.end = end
        self.children = children
        self.key: tuple[int, int] | None = None


class Anchor:
    """The value of an alias."""

    __slots__ = ("cost", "node", "text", "value")

    def __init__(self, value: paths.Json, node: Node | None) -> None:
        self.value = value
        """A scalar as resolved, not yet as key or value."""
        self.node = node
        self.text = ""
        """A scalar as written."""
        self.cost: int | None = None
        """How many characters the alias stands for; None while the value is open."""


class Frame:
    """An open mapping or list. A mapping waits for a key, for the value of `key`, or for that of `<<`."""

    __slots__ = ("aliased", "anchor", "due", "key", "keys", "merging", "node", "start", "value")

    def __init__(self, value: Collection, *, start: int, aliased: int, node: Node | None) -> None:
        self.value = value
        self.start = start
        self.aliased = aliased
        """The aliased characters up to the start of this frame."""
        self.node = node
        self.anchor: Anchor | None = None
        self.due = type(value) is dict
        self.merging = False
        self.key = ""
        self.keys: dict[str, Event] = {}
        """The keys written here, without merged keys."""

    def place(self, value: paths.Json, node: Node | None) -> None:
        """Puts an item into the list, or the value of the key into the mapping."""
        container = self.value
        if isinstance(container, list):
            container.append(value)
        else:
            container[self.key] = value
            self.due = True
        if node is None or self.node is None:
            return
        self.node.end = node.end
        if isinstance(self.node.children, list):
            self.node.children.append(node)
        elif self.node.children is not None:
            node.key = span(self.keys[self.key])
            self.node.children[self.key] = node

    def merge(self, value: paths.Json, node: Node | None) -> bool:
        """Puts the value of a `<<` into the mapping; False if it is neither a mapping nor a list of mappings.

        Later values win, written or merged. In a list of mappings the earlier item wins.
        """
        parts = value if isinstance(value, list) else [value]
        for part in reversed(parts):
            if not isinstance(part, dict) or not isinstance(self.value, dict):
                return False
            self.value.update(part)
        if node is not None and self.node is not None and isinstance(self.node.children, dict):
            self.node.end = node.end
            for item in reversed(node.children) if isinstance(node.children, list) else [node]:
                if isinstance(item.children, dict):
                    self.node.children.update(item.children)
        self.due, self.merging = True, False
        return True


def span(event: Event) -> tuple[int, int]:
    """Offsets of an event's text; the types allow events without marks, but the parsers always set them."""
    start, end = event.start_mark, event.end_mark
    return start.index if start else 0, end.index if end else 0


Scalar = str | int | float | bool | None
"""The value as go-yaml resolves it: an int may be a uint64, a float infinite or not a number."""

SCALAR_HINTS: Final = frozenset(["", *"0123456789+-.~yYnNtTfFoO"])
"""A plain scalar is text unless it starts with one of these (`resolveTable`); "" stands for the empty scalar."""

SCALAR_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}
"""Plain scalars that are neither text nor numbers in digits."""
_NUMERIC: Final = frozenset("0123456789+-.")
_INTEGER: Final = memo.pattern(r"[-+]?(?:0[bB][01]+|0[oO][0-7]+|0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]{0,19})")
_FLOAT: Final = memo.pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOT_FLOAT: Final = memo.pattern(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_SIGN_AFTER_BINARY_PREFIX: Final = memo.pattern(r"0b[-+][01]+")
_BASE64: Final = memo.pattern(r"[A-Za-z0-9+/]*={0,2}")
_BASES: Final = {"0b": 2, "0o": 8, "0x": 16}
_INT64: Final = range(-(2**63), 2**63)
_UINT64: Final = range(2**64)
_LONGEST_QUOTE: Final = 40

_TAG: Final = "tag:yaml.org,2002:"
_TAGGED: Final[dict[str, tuple[type, ...]]] = {
    _TAG + "null": (type(None),),
    _TAG + "bool": (bool,),
    _TAG + "int": (int,),
    _TAG + "float": (int, float),
}


def resolve_scalar(text: str) -> Scalar:
    """A plain scalar without a tag."""
    if text in SCALAR_WORDS:
        return SCALAR_WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    number = _dot_float(text) if text[0] == "." else _number(text.replace("_", ""))
    return text if number is None else number


def resolve_tagged(text: str, *, tag: str) -> Scalar:
    """A scalar with an explicit tag, in any style.

    Raises:
        InputError: the text is not of that type, or the tag is not one of !!str, !!int, !!bool, !!float, !!null,
            !!binary.
    """
    if tag == _TAG + "str":
        return text
    if tag == _TAG + "binary":
        return _binary(text)
    if tag not in _TAGGED:
        raise errors.InputError(f"the tag {short_tag(tag)} has no meaning in a manifest; remove it")
    value = resolve_scalar(text)
    if type(value) not in _TAGGED[tag] or (tag == _TAG + "float" and type(value) is int and value not in _INT64):
        raise errors.InputError(f"{_quoted(text)} is not a {short_tag(tag)}; remove the tag or correct the value")
    return float(value) if tag == _TAG + "float" and isinstance(value, int) else value


def short_tag(tag: str) -> str:
    """A tag as people write it, safe to print: `!!int`."""
    name = "!!" + tag.removeprefix(_TAG) if tag.startswith(_TAG) else tag
    return name if name.isprintable() else repr(name)


def as_value(scalar: Scalar, text: str) -> Scalar:
    """The JSON value that kubectl sends for a resolved scalar; `text` is how it was written.

    Raises:
        InputError: JSON lacks the number, or the whole number would be sent rounded.
    """
    if type(scalar) is float:
        if not math.isfinite(scalar):
            raise errors.InputError(f"{_quoted(text)} is a number that JSON does not have; quote it if text is meant")
        number = _through_json(scalar)
        return number if type(number) is int else _unrounded(scalar, text)
    if type(scalar) is int and scalar not in _INT64:
        return _unrounded(float(scalar), str(scalar))
    return scalar


def as_key(scalar: Scalar, text: str) -> str:
    """The key that kubectl sends for a resolved scalar (`convertToJSONableObject`): `1.10` becomes `1.1`, `on` `true`.

    Raises:
        InputError: kubectl would refuse the key.
    """
    if isinstance(scalar, str):
        return scalar
    if scalar is None:
        raise errors.InputError("a key is null; quote it or remove it")
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    if isinstance(scalar, int):
        if scalar not in _INT64:
            raise errors.InputError(f"the key {_quoted(text)} is a number beyond 64 bits; quote it")
        return str(scalar)
    return _single_precision(scalar)


def _number(text: str) -> int | float | None:
    """The number in a text by Go's ParseInt and ParseUint with base 0, then ParseFloat; without underscores."""
    if _INTEGER.fullmatch(text):
        digits = text.lstrip("+-")
        if base := _BASES.get(digits[:2].lower()):
            integer = int(digits[2:], base)
        else:
            integer = int(digits, 8 if digits[0] == "0" else 10)
        if text[0] == "-":
            integer = -integer
        if integer in _INT64 or (text[0] not in "+-" and integer in _UINT64):
            return integer
    if _FLOAT.fullmatch(text):
        return _finite(text)
    if _SIGN_AFTER_BINARY_PREFIX.fullmatch(text):
        integer = int(text[2:], 2)  # noqa: FURB166 - base 0 takes no sign after the prefix
        return integer if integer in _INT64 else None
    return None


def _dot_float(text: str) -> float | None:
    return _finite(text) if _DOT_FLOAT.fullmatch(text) else None


def _finite(text: str) -> float | None:
    """The number of ParseFloat; None if the number is too large, so that go-yaml keeps it as text."""
    number = float(text)
    return number if math.isfinite(number) else None


def _through_json(number: float) -> int | float:
    """The number after JSON: Go writes a float64 without exponent below 1e21, and reads whole ones as int64."""
    if not number.is_integer() or abs(number) >= 1e21:
        return number
    integer = int(number) if abs(number) < 2**53 else int(Decimal(repr(number)))
    return integer if integer in _INT64 else number


def _unrounded(number: float, text: str) -> float:
    digits = text.replace("_", "").removeprefix("+").removeprefix("-").lstrip("0")
    if digits.isdecimal() and int(digits) != abs(number):
        raise errors.InputError(f"{_quoted(text)} does not fit into 64 bits and would be sent as {number!r}; quote it")
    return number


def _quoted(text: str) -> str:
    return repr(text) if len(text) <= _LONGEST_QUOTE else repr(text[:_LONGEST_QUOTE]) + "..."


def _binary(text: str) -> str:
    """The text of !!binary. Raises InputError for bytes that are not UTF-8, which Go would replace by U+FFFD."""
    encoded = text.replace("\n", "").replace("\r", "")
    if not _BASE64.fullmatch(encoded) or len(encoded) % 4:
        raise errors.InputError("the !!binary value is not base64; correct it")
    try:
        return base64.b64decode(encoded).decode()
    except UnicodeDecodeError:
        raise errors.InputError("the !!binary value is not UTF-8 text; leave it in base64 without the tag") from None


def _single_precision(number: float) -> str:
    """The text of strconv.FormatFloat(number, 'g', -1, 32), as sigs.k8s.io/yaml writes keys."""
    if math.isnan(number):
        return ".nan"
    try:
        rounded = _float32(number)
    except OverflowError:
        rounded = math.copysign(math.inf, number)
    if math.isinf(rounded):
        return ".inf" if rounded > 0 else "-.inf"
    text = next(text for digits in range(9) if _float32(float(text := f"{rounded:.{digits}e}")) == rounded)
    exponent = int(text.partition("e")[2])
    return text if exponent < -4 or exponent >= 6 else f"{Decimal(text):f}"


def _float32(number: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


MAX_DEPTH: Final = 128
MAX_ALIASED: Final = 4 * 2**20
"""Characters that the aliases of one file may stand for, aliases within aliases counted each time."""

EventSource = Callable[[], Event | None]
"""Gives the next event of a document at each call, as `CParser.get_event` does."""

_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_COLLECTION_TAGS: Final = {dict: "tag:yaml.org,2002:map", list: "tag:yaml.org,2002:seq"}


class Composed(Struct, frozen=True, kw_only=True):
    value: paths.Json
    start: int
    """Offset of the value's first character."""
    aliased: int
    """The aliased characters that count towards MAX_ALIASED, this document included."""
    node: Node | None
    """Only when traced."""


def compose(chunk: chunks.Chunk, next_event: EventSource, *, aliased: int = 0, traced: bool = False) -> Composed | None:
    """The value of a document, None if it is empty; `aliased` counts the aliased characters of earlier documents.

    Raises:
        ManifestError: kubectl would refuse the document, or would change or drop a part of it without an error.
        yaml.YAMLError: not YAML, from the event source.
    """
    from yaml import events

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
        self._anchors: dict[str, Anchor] = {}
        self._root: list[paths.Json] = []
        self._node = Node(0, 0, []) if traced else None
        self._start = 0
        self._frames = [Frame(self._root, start=0, aliased=0, node=self._node)]

    def composed(self) -> Composed | None:
        if not self._root:
            return None
        nodes = self._node.children if self._node is not None else None
        node = nodes[0] if isinstance(nodes, list) else None
        return Composed(value=self._root[0], start=self._start, aliased=self._aliased, node=node)

    def document(self, event: Event) -> None:
        if self._root:
            reason = "kubectl ends lines at line feeds only and would drop this document; save the file with line feeds"
            raise self._refusal(reason, event)

    def scalar(self, event: Event) -> None:
        text, tag, frame = event.value, event.tag, self._frames[-1]
        value: Scalar = text
        if tag is not None and not (frame.due and text == "<<" and tag == _MERGE_TAG):
            try:
                value = resolve_tagged(text, tag=tag)
            except errors.InputError as error:
                raise self._refusal(str(error), event) from None
        elif event.implicit[0] and text[:1] in SCALAR_HINTS:
            value = resolve_scalar(text)
        node = Node(*span(event)) if self._traced else None
        if event.anchor is not None:
            self._anchors[event.anchor] = anchor = Anchor(value, node)
            start, end = span(event)
            anchor.text, anchor.cost = text, max(end - start, 1)
        if len(self._frames) == 1:
            self._start, _ = span(event)
        if frame.due and text == "<<" and (event.implicit[0] or tag == _MERGE_TAG):
            frame.due, frame.merging = False, True
        else:
            self._put(value, text, node, event)

    def alias(self, event: Event) -> None:
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
        node = Node(*span(event), anchor.node.children) if anchor.node is not None else None
        if not isinstance(anchor.value, dict | list):
            self._put(anchor.value, anchor.text, node, event)
        elif frame.due:
            raise self._no_key(event)
        elif frame.merging and isinstance(anchor.value, list):
            raise self._no_merge(event)
        else:
            self._place(self._copied(anchor.value, len(self._frames), event), node, event)

    def mapping(self, event: Event) -> None:
        self._open(event, {})

    def sequence(self, event: Event) -> None:
        self._open(event, [])

    def close(self, event: Event) -> None:
        frame = self._frames.pop()
        if frame.anchor is not None or frame.node is not None:
            start, end = span(event)
            if frame.anchor is not None:
                frame.anchor.cost = end - frame.start + self._aliased - frame.aliased
            if frame.node is not None and end > start:  # else it has no closing bracket
                frame.node.end = end
        self._place(frame.value, frame.node, event)

    def _open(self, event: Event, value: Collection) -> None:
        if self._frames[-1].due:
            raise self._no_key(event)
        self._check_depth(len(self._frames), event)
        if event.tag is not None and event.tag != _COLLECTION_TAGS[type(value)]:
            reason = f"the tag {short_tag(event.tag)} does not belong on a list or mapping; remove it"
            raise self._refusal(reason, event)
        start, end = span(event)
        node = Node(start, end, {} if isinstance(value, dict) else []) if self._traced else None
        frame = Frame(value, start=start, aliased=self._aliased, node=node)
        if event.anchor is not None:
            self._anchors[event.anchor] = frame.anchor = Anchor(value, node)
        if len(self._frames) == 1:
            self._start = start
        self._frames.append(frame)

    def _put(self, scalar: Scalar, text: str, node: Node | None, event: Event) -> None:
        """Uses a scalar as the key that is due, or else as a value."""
        frame = self._frames[-1]
        key, value = text, scalar
        if type(scalar) is not str:
            try:
                if frame.due:
                    key = as_key(scalar, text)
                else:
                    value = as_value(scalar, text)
            except errors.InputError as error:
                raise self._refusal(str(error), event) from None
        elif frame.due:
            key = scalar
        if not frame.due:
            self._place(value, node, event)
        elif key in frame.keys:
            line, _ = self._chunk.place(span(frame.keys[key])[0])
            raise self._refusal(f"the key {key!r} stands twice in one mapping, first on line {line}; keep one", event)
        else:
            frame.keys[key] = event
            frame.key, frame.due = key, False

    def _place(self, value: paths.Json, node: Node | None, event: Event) -> None:
        frame = self._frames[-1]
        if not frame.merging:
            frame.place(value, node)
        elif not frame.merge(value, node):
            raise self._no_merge(event)

    def _copied(self, value: paths.Json, depth: int, event: Event) -> paths.Json:
        """A copy for a place at that depth; MAX_DEPTH bounds the recursion."""
        if not isinstance(value, dict | list):
            return value
        self._check_depth(depth, event)
        if isinstance(value, list):
            return [self._copied(item, depth + 1, event) for item in value]
        return {key: self._copied(item, depth + 1, event) for key, item in value.items()}

    def _check_depth(self, depth: int, event: Event) -> None:
        if depth > MAX_DEPTH:
            raise self._refusal(f"nested deeper than {MAX_DEPTH} levels; flatten it", event)

    def _no_key(self, event: Event) -> errors.ManifestError:
        start, end = span(event)
        template = chunks.template_error(self._chunk, start, end)
        return template or self._refusal("a key is a list or a mapping; quote it if text is meant", event)

    def _no_merge(self, event: Event) -> errors.ManifestError:
        return self._refusal("<< takes a mapping or a list of mappings; quote the key if text is meant", event)

    def _refusal(self, reason: str, event: Event) -> errors.ManifestError:
        return self._chunk.refusal(reason, offset=span(event)[0])
