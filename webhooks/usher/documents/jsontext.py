"""JSON as kubectl reads it: one value or several in a row, by JSON's rules where they differ from YAML's.

The standard library decodes. It accepts some text that kubectl refuses (a key twice, half a surrogate pair, a number
too large, any depth). Then usher reads the same text again as events, so that the composer judges and places it like
YAML.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Final, NoReturn

from yaml import error as yaml_error
from yaml import events

from usher import errors, paths
from usher.dataclass import dataclass
from usher.documents import chunks, composing, scalars

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SHORTEST_BEYOND_64_BITS: Final = len("9223372036854775808")
_HIGH_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN: Final = re.compile(
    r'[\s,:]*(?:(?P<open>[{\[])|(?P<close>[}\]])|(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<word>[^\s,:{}\[\]"]+))'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    value: paths.Json
    chunk: chunks.Chunk
    """The text of this value alone."""


def decode(chunk: chunks.Chunk) -> list[Value]:
    """The values of a stream, as in `{}{}` and JSON Lines.

    Raises:
        json.JSONDecodeError: not JSON (but perhaps YAML).
        ManifestError: kubectl would refuse the JSON, or would change or drop a part of it without an error.
    """
    text, values = chunk.text, list[Value]()
    line, column, before = chunk.line, chunk.column, 0
    start = _after_space(text, 0)
    _check_first(chunk, start)
    while start < len(text):
        value, end = _one(chunk, start)
        line += text.count("\n", before, start)
        line_start = text.rfind("\n", before, start) + 1
        column = start - line_start + 1 if line_start else column + start - before
        part = chunks.Chunk(
            source=chunk.source, text=text[start:end], line=line, column=column, offset=chunk.offset + start
        )
        values.append(Value(value=value, chunk=part))
        if len(values) > chunks.MAX_DOCUMENTS:
            raise chunks.too_many(part)
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


def event_source(chunk: chunks.Chunk, *, start: int = 0) -> composing.EventSource:
    """The events of the one value at `start` of a text that is JSON."""
    return _events(chunk, start).__next__


def _after_space(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _one(chunk: chunks.Chunk, start: int) -> tuple[paths.Json, int]:
    try:
        value, end = _DECODER.raw_decode(chunk.text, start)
    except (errors.InputError, RecursionError):
        pass
    else:
        if not _is_too_deep(value) and not (
            _HIGH_SURROGATE.search(chunk.text, start, end) and _has_half_characters(value)
        ):
            return value, end
    composed = composing.compose(chunk, event_source(chunk, start=start), traced=True)
    if composed is None or composed.node is None:
        raise chunk.refusal("not JSON", offset=start)
    return composed.value, composed.node.end


def _mapping(pairs: list[tuple[str, paths.Json]]) -> dict[str, paths.Json]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise errors.InputError("a key stands twice")
    return mapping


def _integer(text: str) -> scalars.Scalar:
    if len(text) < _SHORTEST_BEYOND_64_BITS:
        return int(text)
    if len(text) > _SHORTEST_BEYOND_64_BITS + 1:
        raise errors.InputError("beyond 64 bits")
    return scalars.as_value(int(text), text)


def _float(text: str) -> scalars.Scalar:
    return scalars.as_value(float(text), text)


def _constant(text: str) -> NoReturn:
    raise json.JSONDecodeError(f"{text} is not JSON", text, 0)


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


def _events(chunk: chunks.Chunk, start: int) -> Iterator[events.Event]:
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
