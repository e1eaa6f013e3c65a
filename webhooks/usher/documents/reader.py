"""Manifests: the text of a YAML or JSON file -> the objects that kubectl would send.

The text is read as in kubectl (k8s.io/cli-runtime, StreamVisitor): it is cut at the lines that start with ---, and a
text that starts like JSON is read as JSON first. If kubectl would guess, drop or round a value, usher refuses it.

msgspec decodes JSON whose values are known to be exact. The standard library decodes the rest. Both accept some text
that kubectl refuses (a key twice, half a surrogate pair, a number too large, any depth). Then usher reads the same text
again as events, so that the composer judges and places it like YAML.
"""

import bisect
import json
import math
from collections.abc import Iterator, Mapping
from json import JSONDecodeError
from typing import Final, NoReturn

import msgspec
import orjson
from msgspec import Struct

from usher import errors, memo, paths
from usher.documents import chunks, composing, plain

# Most manifests are read without YAML's events, whose library takes long to import.

_OPENING: Final = memo.pattern(r"[ \t\r\n]*[{\[\"]")
"""Starts a text that may be JSON."""

# Text that starts like this is meant as JSON, so errors name the JSON error. Other text in brackets may be YAML.
_MEANT_AS_JSON: Final = memo.pattern(r"\s*\{\s*[\"}]")

MAX_ERRORS: Final = 20
"""The most unusable documents of one file; usher does not read the rest of it."""


class Document(Struct, frozen=True, kw_only=True):
    """One document of a file or stream; `usher.documents.reader` knows where its values stand."""

    value: paths.Json
    """As kubectl sends it; no part of it is shared with another place."""
    source: str
    """File name or `<stdin>`."""
    index: int
    """Its number among the stream's documents that are not empty, from 0."""
    line: int
    """First line of its content, from 1."""
    chunk: chunks.Chunk
    """Its text; for YAML with the comments around it."""
    is_json: bool
    """Whether the text was read by JSON's rules."""


class Parsed(Struct, frozen=True):
    """The usable documents of a file, and why others are not usable."""

    documents: list[Document]
    errors: list[errors.ManifestError]


def parse(text: str | bytes, *, source: str) -> list[Document]:
    """The documents of a file. Empty ones (nothing, comments, null) are left out, `List` kinds stay unchanged.

    Raises:
        ManifestError: kubectl would refuse a document, or would change or drop a part of it without an error.
    """
    found = parse_each(text, source=source)
    if found.errors:
        raise found.errors[0]
    return found.documents


def parse_each(text: str | bytes, *, source: str, line: int = 1) -> Parsed:
    """The documents of a file, like `parse`, but with other documents beside an unusable one.

    The text may be a part of a file, which starts at `line`.
    """
    found, aliased = Parsed([], []), 0
    try:
        for chunk in chunks.split_documents(chunks.whole_file(text, source=source, line=line)):
            try:
                aliased = _add_documents(chunk, found.documents, aliased)
            except errors.ManifestError as error:
                found.errors.append(error)
                if len(found.errors) == MAX_ERRORS:
                    break
    except errors.ManifestError as error:
        found.errors.append(error)
    return found


def _add_documents(chunk: chunks.Chunk, documents: list[Document], aliased: int) -> int:
    """Adds the documents of a chunk to the earlier ones. Returns the aliased characters so far, the chunk included."""
    values = _json_values(chunk)
    if isinstance(values, list):
        found = [(each.value, each.chunk.line, each.chunk) for each in values]
    elif values is None and (plainly := _read_plain_document(chunk)) is not None:
        found = [(plainly.value, chunk.line + plainly.line, chunk)] if plainly.value is not None else []
    elif composed := _composed(chunk, aliased=aliased, not_json=values):
        found = [(composed.value, chunk.place(composed.start)[0], chunk)]
        aliased = composed.aliased
    else:
        return aliased
    for value, line, part in found:
        if len(documents) == chunks.MAX_DOCUMENTS:
            raise chunks.too_many_documents(part)
        if value is not None:
            documents.append(
                Document(
                    value=value,
                    source=part.source,
                    index=len(documents),
                    line=line,
                    chunk=part,
                    is_json=isinstance(values, list),
                )
            )
    return aliased


def trace(document: Document) -> "composing.Composed | None":
    """The document composed again, with the offsets of its values and keys in its chunk."""
    return composing.compose(document.chunk, event_source(document), traced=True)


def event_source(document: Document) -> "composing.EventSource":
    """The document as events, whose marks count the characters of its chunk."""
    if document.is_json:
        return json_event_source(document.chunk)
    import yaml

    source: composing.EventSource = yaml.CBaseLoader(document.chunk.text).get_event
    return source


def _json_values(chunk: chunks.Chunk) -> "list[JsonValue] | JSONDecodeError | None":
    if _OPENING.match(chunk.text) is None:
        return None

    try:
        values = decode_json(chunk)
    except JSONDecodeError as error:
        return error
    for each in values:
        each.chunk.check_size()
    return values


def _read_plain_document(chunk: chunks.Chunk) -> plain.Read | None:
    chunk.check_size()
    return plain.read(chunk.text)


def _composed(chunk: chunks.Chunk, *, aliased: int, not_json: JSONDecodeError | None) -> "composing.Composed | None":
    import yaml

    chunk.check_size()
    try:
        try:
            return composing.compose(chunk, yaml.CBaseLoader(chunk.text).get_event, aliased=aliased)
        except yaml.YAMLError as error:
            raise chunks.syntax_error(chunk, error) from None
    except errors.ManifestError:
        if not_json is not None and _MEANT_AS_JSON.match(chunk.text):
            raise chunk.refusal(f"not JSON: {not_json.msg}; correct it", offset=not_json.pos) from None
        raise


_SPACE: Final = memo.pattern(r"[ \t\r\n]*")
_SHORTEST_BEYOND_64_BITS: Final = len("9223372036854775808")
_HIGH_SURROGATE: Final = memo.pattern(r"\\u[dD][89a-fA-F]")
_TOKEN: Final = memo.pattern(
    r'[\s,:]*(?:(?P<open>[{\[])|(?P<close>[}\]])|(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<word>[^\s,:{}\[\]"]+))'
)


class JsonValue(Struct, frozen=True, kw_only=True):
    value: paths.Json
    chunk: chunks.Chunk
    """The text of this value alone."""


def decode_json(chunk: chunks.Chunk) -> list[JsonValue]:
    """The values of a stream, as in `{}{}` and JSON Lines.

    Raises:
        json.JSONDecodeError: not JSON (but perhaps YAML).
        ManifestError: kubectl would refuse the JSON, or would change or drop a part of it without an error.
    """
    text, values = chunk.text, list[JsonValue]()
    line, column, before = chunk.line, chunk.column, 0
    start = _after_space(text, 0)
    _check_first(chunk, start)
    while start < len(text):
        exact = _decode_exactly(text, start)
        value, end = _decode_one(chunk, start) if exact is None else exact
        line += text.count("\n", before, start)
        line_start = text.rfind("\n", before, start) + 1
        column = start - line_start + 1 if line_start else column + start - before
        part = chunks.Chunk(
            source=chunk.source, text=text[start:end], line=line, column=column, offset=chunk.offset + start
        )
        values.append(JsonValue(value=value, chunk=part))
        if len(values) > chunks.MAX_DOCUMENTS:
            raise chunks.too_many_documents(part)
        before, start = start, _after_space(text, end)
    return values


def _check_first(chunk: chunks.Chunk, start: int) -> None:
    """Raises ManifestError where the first value does not end within the size of a document.

    A dump of 50 MB that is one List would take 750 MB to decode, only to be refused.
    """
    if len(chunk.text) <= chunks.MAX_DOCUMENT_BYTES:
        return
    try:
        _DECODER.raw_decode(chunk.text[start : start + chunks.MAX_DOCUMENT_BYTES])
    except json.JSONDecodeError:
        chunk.check_size()
    except (errors.InputError, RecursionError):
        pass  # the code below names the reason


def json_event_source(chunk: chunks.Chunk, *, start: int = 0) -> composing.EventSource:
    """The events of the one value at `start` of a text that is JSON."""
    return _json_events(chunk, start).__next__


def _after_space(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _decode_exactly(text: str, start: int) -> tuple[paths.Json, int] | None:
    """The value at `start` with its end, if it is the whole rest of a text, or of its line in JSON Lines.

    None where that is not certain, or where kubectl could refuse or change the value: it is written again to see
    whether a key went missing, how deep it is, and whether each number is a small integer.
    """
    if start and text[start - 1] != "\n":
        return None  # it shares its line with an earlier value
    line_end = text.find("\n", start)
    rest = text if start == 0 else text[start : None if line_end < 0 else line_end]
    try:
        try:
            value = _EXACT_DECODER.decode(rest)
        except msgspec.DecodeError:
            if start or line_end < 0:
                return None
            rest = text[:line_end]  # the first of JSON Lines
            value = _EXACT_DECODER.decode(rest)
        written = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_STRICT_INTEGER)
    except (ValueError, TypeError, RecursionError):
        return None
    if written.count(b'"') != rest.count('"') or _QUOTE in rest or _DEEP in written or _HIGH_SURROGATE.search(rest):
        return None
    return value, start + len(rest.rstrip(_SPACES))


def _decode_one(chunk: chunks.Chunk, start: int) -> tuple[paths.Json, int]:
    try:
        value, end = _DECODER.raw_decode(chunk.text, start)
    except (errors.InputError, RecursionError):
        pass
    else:
        if not _is_too_deep(value) and not (
            _HIGH_SURROGATE.search(chunk.text, start, end) and _has_half_characters(value)
        ):
            return value, end
    composed = composing.compose(chunk, json_event_source(chunk, start=start), traced=True)
    if composed is None or composed.node is None:
        raise chunk.refusal("not JSON", offset=start)
    return composed.value, composed.node.end


def _mapping(pairs: list[tuple[str, paths.Json]]) -> dict[str, paths.Json]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise errors.InputError("a key stands twice")
    return mapping


def _integer(text: str) -> composing.Scalar:
    if len(text) < _SHORTEST_BEYOND_64_BITS:
        return int(text)
    if len(text) > _SHORTEST_BEYOND_64_BITS + 1:
        raise errors.InputError("beyond 64 bits")
    return composing.as_value(int(text), text)


def _float(text: str) -> composing.Scalar:
    return composing.as_value(float(text), text)


def _constant(text: str) -> NoReturn:
    raise json.JSONDecodeError(f"{text} is not JSON", text, 0)


def _not_exact(text: str) -> NoReturn:
    raise ValueError(f"{text} is not an integer")


_EXACT_DECODER: Final = msgspec.json.Decoder(float_hook=_not_exact)
_QUOTE: Final = "\\u0022"
"""Becomes a quotation mark that counts like a key that went missing."""
_DEEP: Final = b"\n" + b"  " * composing.MAX_DEPTH
_SPACES: Final = " \t\r\n"

_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_mapping, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def _is_too_deep(value: paths.Json) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(composing.MAX_DEPTH):
        if not level:
            return False
        level = [
            item
            for collection in level
            for item in (collection.values() if isinstance(collection, dict) else collection)
            if type(item) is dict or type(item) is list
        ]
    return bool(level)


def _has_half_characters(value: paths.Json) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _json_events(chunk: chunks.Chunk, start: int) -> Iterator[composing.Event]:
    from yaml import error as yaml_error
    from yaml import events

    depth = 0
    for match in _TOKEN.finditer(chunk.text, start):
        kind = match.lastgroup or ""
        lexeme = match[kind]
        begin, end = (yaml_error.Mark("", offset, 0, 0, None, 0) for offset in match.span(kind))
        if kind == "open":
            depth += 1
            opened = events.MappingStartEvent if lexeme == "{" else events.SequenceStartEvent
            yield opened(None, None, True, begin, end, flow_style=True)
        elif kind == "close":
            depth -= 1
            yield (events.MappingEndEvent if lexeme == "}" else events.SequenceEndEvent)(begin, end)
        elif kind == "text":
            yield events.ScalarEvent(None, None, (False, True), _text(chunk, lexeme, begin.index), begin, end)
        else:
            if lexeme[0] in "-0123456789" and math.isinf(float(lexeme)):
                raise chunk.refusal(
                    f"the number {lexeme[:40]} is too large; quote it if text is meant", offset=begin.index
                )
            yield events.ScalarEvent(None, None, (True, False), lexeme, begin, end)
        if not depth:
            break
    yield events.StreamEndEvent()


def _text(chunk: chunks.Chunk, lexeme: str, offset: int) -> str:
    text: str = json.loads(lexeme)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise chunk.refusal(
            "the text holds half a surrogate pair (\\ud8..); write both halves", offset=offset
        ) from None
    return text


_EXCERPT_WIDTH: Final = 160
_BLANKS: Final = " \t\r\n"
_CUT: Final = "…"
_LINE_FEED: Final = memo.pattern("\n")


class Span(Struct, frozen=True, kw_only=True):
    """A range of text; lines and columns count characters from 1, and the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Position(Span, frozen=True, kw_only=True):
    """The place of a value: for an alias the alias itself, for values within it the anchored text."""

    key: Span | None
    """Its key; None for items of a list and for the document itself."""


class Excerpt(Struct, frozen=True, kw_only=True):
    """One line of the source, with the range to underline."""

    line: int
    text: str
    """Without the line end; a long line is cut around the underlined part."""
    column: int
    """First character to underline, counted in `text` from 1."""
    end_column: int
    """The character after the last; at least one character is underlined."""


class Places(Mapping[str, Position]):
    """JSON Pointer -> Position, for every value of a document."""

    def __init__(self, document: Document) -> None:
        self._chunk = document.chunk
        self._breaks = [match.start() for match in _LINE_FEED.finditer(self._chunk.text)]
        composed = trace(document)
        self._nodes = _flat(composed.node) if composed is not None and composed.node is not None else {}

    def __getitem__(self, pointer: str) -> Position:
        node = self._nodes[pointer]
        span = self._span(node.start, node.end)
        key = self._span(*node.key) if node.key is not None else None
        return Position(line=span.line, column=span.column, end_line=span.end_line, end_column=span.end_column, key=key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def nearest(self, pointer: str) -> Position:
        """The position of a value; for a missing value, that of the innermost mapping or list that would hold it."""
        while pointer not in self._nodes:
            pointer = pointer.rpartition("/")[0]
        return self[pointer]

    def excerpt(self, span: Span) -> Excerpt:
        """The first line of a span."""
        number = span.line - self._chunk.line
        start = self._breaks[number - 1] + 1 if number else 0
        end = self._breaks[number] if number < len(self._breaks) else len(self._chunk.text)
        text = self._chunk.text[start:end].rstrip("\r")
        shift = self._chunk.column - 1 if not number else 0
        first = span.column - 1 - shift
        last = span.end_column - 1 - shift if span.end_line == span.line else len(text.rstrip(_BLANKS))
        return _cut(span.line, text, first, max(last, first + 1))

    def _span(self, start: int, end: int) -> Span:
        text = self._chunk.text
        while end > start and text[end - 1] in _BLANKS:
            end -= 1
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        return Span(line=line, column=column, end_line=end_line, end_column=end_column)

    def _place(self, offset: int) -> tuple[int, int]:
        number = bisect.bisect_left(self._breaks, offset)
        column = offset - self._breaks[number - 1] if number else offset + self._chunk.column
        return self._chunk.line + number, column


class WrittenPlaces:
    """The places of the keys and texts of a plainly written document, each in a line of its own."""

    def __init__(self, document: Document) -> None:
        self._line = document.chunk.line
        self._lines = None if document.is_json else plain.lines_of(document.chunk.text)

    def find(self, pointer: str, *, shows_value: bool) -> tuple[Span, Excerpt] | None:
        """The span of a value or of its key, with its line; None where only `Places` knows it."""
        found = self._lines.find(pointer) if self._lines is not None else None
        if found is None:
            return None
        # A null may have no text; then its key gives the place.
        columns = found.value if found.value and (shows_value or found.key is None) else found.key
        if columns is None:
            return None
        (start, end), line = columns, self._line + found.line
        span = Span(line=line, column=start + 1, end_line=line + found.goes_on, end_column=end + 1)
        return span, _cut(line, found.text, start, max(end, start + 1))


def _flat(root: composing.Node) -> dict[str, composing.Node]:
    nodes: dict[str, composing.Node] = {}
    pending = [(paths.ROOT, root)]
    while pending:
        pointer, node = pending.pop()
        nodes[pointer] = node
        children = node.children or {}
        items = children.items() if isinstance(children, dict) else enumerate(children)
        pending.extend((paths.join(pointer, key), child) for key, child in items)
    return nodes


def _cut(line: int, text: str, start: int, end: int) -> Excerpt:
    if len(text) > _EXCERPT_WIDTH:
        first = max(0, min(start - _EXCERPT_WIDTH // 4, len(text) - _EXCERPT_WIDTH))
        last = first + _EXCERPT_WIDTH
        before, after = _CUT if first else "", _CUT if last < len(text) else ""
        text = before + text[first:last] + after
        start, end = start - first + len(before), min(end, last) - first + len(before)
    return Excerpt(line=line, text=text, column=start + 1, end_column=end + 1)
