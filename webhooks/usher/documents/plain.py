"""Plainly written manifests, read line by line: the same value as the exact reader, in a fraction of its time.

Most manifests use a small part of YAML, where a line means the same in any context: block mappings and lists, scalars
and flow collections on one line, literal blocks. Only this part is read here. For any other line, or one that kubectl
would refuse, this reader gives up, and the exact reader (`composing`) takes the whole document with its errors. Tests
compare both on corpora, on traps, and on changed bytes.

This module reads only lines that mean the same in any context; for others the caller uses the exact reader
(`composing`).
"""

import contextlib
import enum
import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from msgspec import Struct

from usher import errors, memo, paths
from usher.documents import composing

_LINE: Final = memo.pattern(
    r"""( *)(- +)?(?:([A-Za-z_/][A-Za-z0-9_./-]{0,250}|"[A-Za-z_/][A-Za-z0-9_./* -]{0,250}"):(?= |$))? *(.*)"""
)
_PLAIN_START: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.+$(=~\\^;")
_QUOTED: Final = {'"': memo.pattern(r'"([^"\\]*)"(?: +#.*)?'), "'": memo.pattern(r"'([^']*)'(?: +#.*)?")}
_ENDINGS: Final = {"|": "\n", "|-": ""}
_COMMENT: Final = memo.pattern(r" +(?:#.*)?|")

_WORD: Final = r"(?:[A-Za-z0-9_/.]|-(?=[A-Za-z0-9_/.-]))[A-Za-z0-9_/.=*@-]*"
_ENDS: Final = r"(?:(: )|(?=[ ,\]}]))"
_FLOW: Final = memo.pattern(rf""" *(?:([\[{{\]}},])|"([^"\\]*)"{_ENDS}|'([^']*)'{_ENDS}|({_WORD}){_ENDS})""")
_MAX_FLOW_DEPTH: Final = 20

_LONGEST_KEPT: Final = 200


class Doubt(Exception):  # noqa: N818 - no error: the exact reader decides
    """The text leaves the part of YAML that this module reads."""


class Holds(enum.Enum):
    """The content after the key or the dash of a line."""

    NOTHING = enum.auto()
    """A blank line or a comment, without key and dash."""
    NO_VALUE = enum.auto()
    """No value on this line; it may follow on the next lines."""
    SCALAR = enum.auto()
    FLOW = enum.auto()
    """The text of a list or a mapping."""
    LITERAL = enum.auto()
    """The mark of a literal block; the value is the ending of its text."""


ParsedLine = tuple[int, int, str, Holds, Any]
"""Column; width of the dash and the spaces behind it, or 0; key, or an empty text; kind of value; value."""


def parse_line(text: str) -> ParsedLine:
    """The parts of a line. The last thousands of short lines are remembered, because manifests repeat their lines.

    Raises:
        Doubt: it may mean something else, or more lines may belong to it.
        InputError: kubectl would refuse it.
    """
    return _remembered(text) if len(text) < _LONGEST_KEPT else _parse_line(text)


def _parse_line(text: str) -> ParsedLine:
    found = _LINE.match(text)
    if found is None:
        raise Doubt
    spaces, dash, key, rest = found.groups()
    empty = not rest or rest[0] == "#"
    if key is None and (dash is None or empty):
        if dash is not None or not empty:
            raise Doubt
        return 0, 0, "", Holds.NOTHING, None
    if key is None:
        key = ""
    elif key[0] == '"':
        key = key[1:-1]
    if key in composing.SCALAR_WORDS and key:
        raise Doubt
    holds, value = (Holds.NO_VALUE, None) if empty else _parse_value(rest.rstrip(" "))
    return len(spaces), len(dash or ""), key, holds, value


_remembered: Final = functools.lru_cache(maxsize=8192)(_parse_line)


def _parse_value(text: str) -> tuple[Holds, paths.Json]:
    first = text[0]
    if first in _PLAIN_START or (first == "-" and text[1:2] not in {"", " "}):
        return Holds.SCALAR, _resolved((text[: text.index(" #")] if " #" in text else text).rstrip(" "))
    if quotes := _QUOTED.get(first):
        if quoted := quotes.fullmatch(text):
            return Holds.SCALAR, quoted[1]
    elif first in "[{":
        return Holds.FLOW, text
    elif (ending := _ENDINGS.get(text)) is not None:
        return Holds.LITERAL, ending
    raise Doubt


def parse_flow(text: str) -> paths.Json:
    """The value of a flow collection up to the end of its line; always a new one.

    Raises:
        Doubt: it may mean something else, or more lines may belong to it.
        InputError: kubectl would refuse it.
    """
    found, end = _collection(text, 1, text[0], 0)
    if not _COMMENT.fullmatch(text, end):
        raise Doubt
    return found


def _resolved(text: str) -> composing.Scalar:
    if ": " in text or text[-1] == ":":
        raise Doubt
    if text[0] not in composing.SCALAR_HINTS:
        return text
    return composing.as_value(composing.resolve_scalar(text), text)


def _collection(text: str, at: int, opened: str, depth: int) -> tuple[paths.Json, int]:
    """A flow list or mapping, and the offset behind it. Each entry has a value, and a comma only before the next."""
    if depth > _MAX_FLOW_DEPTH:
        raise Doubt
    close = "]" if opened == "[" else "}"
    items, entries = list[paths.Json](), dict[str, paths.Json]()
    if (token := _token(text, at))[1] == close:
        return (items if opened == "[" else entries), token.end()
    while True:
        key, found, at = _entry(text, at, depth, keyed=opened == "{")
        if opened == "[":
            items.append(found)
        elif key in entries or key in composing.SCALAR_WORDS:
            raise Doubt
        else:
            entries[key] = found
        token = _token(text, at)
        at = token.end()
        if token[1] == close:
            return (items if opened == "[" else entries), at
        if token[1] != ",":
            raise Doubt


def _entry(text: str, at: int, depth: int, *, keyed: bool) -> tuple[str, paths.Json, int]:
    key = ""
    if keyed:
        token = _token(text, at)
        key, at = next((each for each in (token[2], token[4], token[6]) if each is not None), ""), token.end()
        if not token[token.lastindex or 0].startswith(": ") or type(composing.resolve_scalar(key or "~")) is not str:
            raise Doubt
    token = _token(text, at)
    if token[1] is not None:
        if token[1] not in "[{":
            raise Doubt
        found, at = _collection(text, token.end(), token[1], depth + 1)
        return key, found, at
    if token[3] or token[5] or token[7]:
        raise Doubt
    if token[6] is not None:
        return key, _resolved(token[6]), token.end()
    return key, token[2] if token[2] is not None else token[4], token.end()


def _token(text: str, at: int) -> re.Match[str]:
    found = _FLOW.match(text, at)
    if found is None:
        raise Doubt
    return found


_MAX_DEPTH: Final = 100
"""Less depth than the exact reader allows."""

# Tabs, other line ends, byte order marks and control characters: what they mean depends on where they stand.
# The characters that are not here would be a set that takes 10 ms to compile.
_UNDOUBTED: Final = b"\n" + bytes(range(0x20, 0x7F))
_DOUBTFUL: Final = memo.pattern("[\x00-\t\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


class Read(Struct, frozen=True):
    """A document that was read: its value, or None if the text has only comments."""

    value: paths.Object | None
    line: int
    """Line of its first key, from 0."""


def read(text: str) -> Read | None:
    """The value of one document; None if its meaning is in doubt."""
    # Without a last line feed, a literal block at the end lacks it too.
    if not text.endswith("\n") or _is_doubtful(text):
        return None
    lines = text.split("\n")
    number = len(lines)
    before = _FORMS.get(number)
    if before is not None:
        with contextlib.suppress(Doubt, errors.InputError):  # its lines may have other meanings
            if (alike := before.read(lines)) is not None:
                return alike
    try:
        found = _Document(lines).read()
    except (Doubt, errors.InputError):
        return None
    if number <= _LONGEST_FORM:
        if len(_FORMS) >= _MOST_FORMS:
            _FORMS.clear()
        _FORMS[number] = _Form(lines)
    return found


def _is_doubtful(text: str) -> bool:
    # Nearly all documents are ASCII, where this takes a fraction of the pattern's time.
    if text.isascii():
        return bool(text.encode().translate(None, _UNDOUBTED))
    return _DOUBTFUL.search(text) is not None


_LONGEST_FORM: Final = 300
_MOST_FORMS: Final = 64


class _Form:
    """The lines of a document that was read. One that differs from it in some values alone is read from these lines.

    Programs write thousands of documents of one form.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._read: Read | None = None
        self._text = b""
        """Its value as JSON."""
        self._places: Mapping[int, tuple[str | int, ...]] = {}
        """By the number of a line, the keys and indexes that lead to its value."""

    def read(self, lines: Sequence[str]) -> Read | None:
        """The value of a document with as many lines; None if it has another form.

        Raises:
            Doubt: a line means nothing in this form.
            InputError: kubectl would refuse a line in this form.
        """
        if self._read is None:
            self._learn()
        if self._read is None or not self._text:
            return None
        places, found = self._places, list[tuple[tuple[str | int, ...], paths.Json]]()
        for number, (line, before) in enumerate(zip(lines, self._lines, strict=True)):
            if line == before:
                continue
            if number not in places or (parsed := parse_line(line))[:4] != parse_line(before)[:4]:
                return None
            *_, holds, value = parsed
            if holds not in _ON_ONE_LINE:
                return None
            found.append((places[number], parse_flow(value) if holds is Holds.FLOW else value))
        result = orjson.loads(self._text)
        for (*above, last), value in found:
            holder = result
            for step in above:
                holder = holder[step]
            holder[last] = value
        return Read(result, self._read.line)

    def _learn(self) -> None:
        document = _Document(self._lines)
        self._read, places = document.read(), document.places
        if self._read.value is None:
            return
        ways = dict[int, tuple[str | int, ...]]()
        pending: list[tuple[Any, tuple[str | int, ...]]] = [(self._read.value, ())]
        while pending:
            value, way = pending.pop()
            ways[id(value)] = way
            entries = value.items() if isinstance(value, dict) else enumerate(value)
            pending.extend((each, (*way, key)) for key, each in entries if isinstance(each, dict | list))
        self._places = {number: (*ways[id(holder)], key) for number, (holder, key) in places.items()}
        try:
            text = orjson.dumps(self._read.value)
        except orjson.JSONEncodeError:  # an integer beyond 64 bits
            return
        self._text = text if orjson.loads(text) == self._read.value else b""


_ON_ONE_LINE: Final = frozenset({Holds.SCALAR, Holds.FLOW})

_FORMS: Final[dict[int, _Form]] = {}
"""The last document of each number of lines."""


class _Document:
    """The lines of a document, and the collections that are open where the next line starts."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self.places: dict[int, tuple[paths.Object | list[paths.Json], str | int]] = {}
        """By the number of a line, the collection that holds its value, and the key or index of the value there."""
        self._next = 0
        self._root: paths.Object = {}
        # Column and value of each open collection. A key without a value yet may open one.
        self._columns = [-1]
        self._open: list[paths.Object | list[paths.Json]] = [self._root]
        self._due: tuple[paths.Object, str] | None = (self._root, "")

    def read(self) -> Read:
        first, lines, count, parsed, places = -1, self._lines, len(self._lines), parse_line, self.places
        while self._next < count:
            number = self._next
            column, width, key, holds, value = parsed(lines[number])
            self._next += 1
            if holds is Holds.NOTHING:
                continue
            if first < 0:
                first = number
            if holds is Holds.FLOW:
                value = parse_flow(value)
            elif holds is Holds.LITERAL:
                value = self._literal(value, column + width if key else column)
            if not key:
                items = self._list(column)
                places[number] = items, len(items)
                items.append(value)
                continue
            mapping = self._entry(column, width) if width else self._mapping(column)
            if key in mapping:
                raise Doubt
            mapping[key] = value
            places[number] = mapping, key
            if holds is Holds.NO_VALUE:
                self._due = (mapping, key)
        value = self._root.get("")
        if first >= 0 and not isinstance(value, dict):
            raise Doubt
        return Read(value if isinstance(value, dict) else None, first)

    def _mapping(self, column: int) -> paths.Object:
        """The mapping whose keys are in that column."""
        if column > self._columns[-1]:
            mapping: paths.Object = {}
            self._add(column, mapping)
            return mapping
        self._due = None
        while self._columns[-1] > column or (self._columns[-1] == column and type(self._open[-1]) is list):
            self._columns.pop()
            self._open.pop()
        found = self._open[-1]
        if self._columns[-1] != column or type(found) is not dict:
            raise Doubt
        return found

    def _list(self, column: int) -> list[paths.Json]:
        """The list whose dashes are in that column, which may be the column of its key."""
        if column > self._columns[-1] or (column == self._columns[-1] and self._due is not None):
            items: list[paths.Json] = []
            self._add(column, items)
            return items
        self._due = None
        while self._columns[-1] > column:
            self._columns.pop()
            self._open.pop()
        found = self._open[-1]
        if self._columns[-1] != column or type(found) is not list:
            raise Doubt
        return found

    def _entry(self, column: int, width: int) -> paths.Object:
        """A new mapping in a list, with its first key on the line of the dash."""
        entry: paths.Object = {}
        self._list(column).append(entry)
        self._columns.append(column + width)
        self._open.append(entry)
        return entry

    def _add(self, column: int, value: paths.Object | list[paths.Json]) -> None:
        """Opens a collection, as the value of the key before it."""
        if self._due is None or len(self._columns) > _MAX_DEPTH:
            raise Doubt
        mapping, key = self._due
        mapping[key] = value
        self._due = None
        self._columns.append(column)
        self._open.append(value)

    def _literal(self, ending: str, column: int) -> str:
        """The lines of a literal block, which are indented more than the collection in `column` that holds it."""
        lines, start = self._lines, self._next
        indent = len(lines[start]) - len(lines[start].lstrip(" ")) if start < len(lines) else 0
        if indent <= column or indent == len(lines[start]):
            raise Doubt
        margin, found = " " * indent, list[str]()
        while self._next < len(lines):
            line = lines[self._next]
            if line.startswith(margin):
                found.append(line[indent:])
            elif not line.strip(" "):
                found.append("")
            else:
                break
            self._next += 1
        while not found[-1]:
            found.pop()
        return "\n".join(found) + ending


class Written(Struct, frozen=True):
    """Where a key and its value stand in a line; columns count from 0, the end is the one after the last."""

    line: int
    """From 0."""
    text: str
    """The line."""
    key: tuple[int, int] | None
    """None for an element of a list."""
    value: tuple[int, int] | None
    """None for a value in other lines. An element that is a mapping of several lines ends behind its first line."""
    goes_on: bool = False
    """Whether the value has more lines."""


class Lines:
    """The places of a plainly written document, found at a fraction of the cost of the exact reader."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Reads the lines.

        Raises:
            Doubt: as for any line.
            InputError: kubectl would refuse a line.
        """
        self._lines = lines
        document = _Document(lines)
        self._value = document.read().value
        self._numbers = {(id(holder), key): number for number, (holder, key) in document.places.items()}

    def find(self, pointer: str) -> Written | None:
        """The place of a key or an element; None where it is not alone in a line."""
        steps = paths.split(pointer) or [""]
        holder: Any = self._value
        element: Any = None
        above, below = None, len(steps)
        try:
            for depth, step in enumerate(steps, 1):
                key = int(step) if isinstance(holder, list) else step
                number = self._numbers.get((id(holder), key))
                if number is not None:
                    above, below = number, depth
                element = holder = holder[key]
            if above is not None and (found := _in_line(above, self._lines[above], steps[below:])) is not None:
                return found
            # The first key of an element stands behind its dash, and each other key in a line of its own.
            number = self._numbers[id(element), next(iter(element))] if len(element) > 1 else None
        except (Doubt, LookupError, TypeError, ValueError):
            return None
        if number is None or (found := _in_line(number, self._lines[number], ())) is None or found.key is None:
            return None
        return Written(number, found.text, None, (found.key[0], len(found.text.rstrip(" "))), goes_on=True)


def _in_line(number: int, line: str, steps: Sequence[str]) -> Written | None:
    """The place of the value of a line, or of one in its flow collection; None where the value is in other lines."""
    found = _LINE.match(line)
    if found is None:
        return None
    rest, key, start = found[4], None if found[3] is None else found.span(3), found.start(4)
    if rest[:1] in _FLOWS:
        return _in_flow(number, line, start, steps) if steps else Written(number, line, key, _flow_at(line, start))
    if steps:
        return None
    value = None
    if rest and rest[0] != "#" and _parse_value(rest.rstrip(" "))[0] is Holds.SCALAR:
        quoted = _QUOTED[rest[0]].match(rest) if rest[0] in _QUOTED else None
        text = rest[: quoted.end(1) + 1] if quoted is not None else rest.partition(" #")[0].rstrip(" ")
        value = start, start + len(text)
    return Written(number, line, key, value)


_FLOWS: Final = frozenset({"[", "{"})


def _flow_at(line: str, start: int) -> tuple[int, int]:
    return start, _collection(line, start + 1, line[start], 0)[1]


def _in_flow(number: int, line: str, start: int, steps: Sequence[str]) -> Written:
    """The place of a value in the flow collection that starts in a line that was read."""
    key = None
    for step in steps:
        keyed, at = line[start] == "{", start + 1
        for index in itertools.count():
            if keyed:
                token = _token(line, at)
                name, key, at = token[2] or token[4] or token[6] or "", _span(token), token.end()
            token = _token(line, at)
            start, end = (token.start(1), token.end(1)) if token[1] else _span(token)
            if step == (name if keyed else str(index)):
                break
            at = _token(line, _flow_at(line, start)[1] if token[1] else token.end()).end()
        key = key if keyed else None
    return Written(number, line, key, _flow_at(line, start) if token[1] else (start, end))


def _span(token: re.Match[str]) -> tuple[int, int]:
    """The columns of a scalar, with its quotes."""
    group = 6 if token[6] is not None else 2 if token[2] is not None else 4
    quotes = group != 6
    return token.start(group) - quotes, token.end(group) + quotes


def lines_of(text: str) -> Lines | None:
    """The places of a document; None if its meaning is in doubt."""
    if not text.endswith("\n") or _is_doubtful(text):
        return None
    with contextlib.suppress(Doubt, errors.InputError):
        return Lines(text.split("\n"))
    return None
