"""Values of Rego from the compiled policies: JSON, with sets, and with keys of any type.

The order of values and the text of a value are those of OPA (v1/ast: Compare, AppendText).
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A number, as the text that it was written with."""

    text: str


@dataclass(frozen=True, slots=True)
class Object:
    """Keys and values, sorted by key."""

    items: "tuple[tuple[Value, Value], ...]"


@dataclass(frozen=True, slots=True)
class Set:
    """The members, sorted and without repetition."""

    items: "tuple[Value, ...]"


class UndefinedError(Exception):
    """The answer of a built-in is undefined, as after an error in a built-in of OPA."""


Value = str | Number | bool | tuple["Value", ...] | Object | Set | None

_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORDS: Final[dict[str, Value]] = {"null": None, "true": True, "false": False}
_scan_text: Final = json.decoder.scanstring  # type: ignore[attr-defined]  # undocumented, but json's own interface


def parse(text: str) -> Value:
    """The value that `opa_value_dump` wrote.

    Raises:
        ValueError: the text is not one of a value.
    """
    value, end = _value(text, 0)
    if end != len(text):
        raise ValueError(f"character {end}: more text after the value")
    return value


def _value(text: str, at: int) -> tuple[Value, int]:
    start = text[at : at + 1]
    if start == '"':
        found, end = _scan_text(text, at + 1, True)
        return str(found), end
    if start == "[":
        items, end = _items(text, at + 1, "]")
        return tuple(item for item, _ in items), end
    if start == "{":
        items, end = _items(text, at + 1, "}")
        pairs = [(key, value) for key, value in items if not isinstance(value, _Missing)]
        if len(pairs) == len(items):
            return Object(tuple(sorted(pairs, key=lambda pair: order(pair[0])))), end
        return Set(tuple(sorted((item for item, _ in items), key=order))), end
    if text.startswith("set()", at):
        return Set(()), at + 5
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    number = _NUMBER.match(text, at)
    if number is None:
        raise ValueError(f"character {at}: no value")
    return Number(number[0]), number.end()


class _Missing:
    """The value of a member of an array or a set, which has no value."""


def _items(text: str, at: int, closing: str) -> "tuple[list[tuple[Value, Value | _Missing]], int]":
    found: list[tuple[Value, Value | _Missing]] = []
    while not text.startswith(closing, at):
        key, at = _value(text, at)
        value: Value | _Missing = _Missing()
        if text.startswith(":", at):
            value, at = _value(text, _after_blanks(text, at + 1))
        found.append((key, value))
        if text.startswith(",", at):
            at = _after_blanks(text, at + 1)
        elif not text.startswith(closing, at):
            raise ValueError(f"character {at}: no {closing}")
    return found, at + 1


def _after_blanks(text: str, at: int) -> int:
    while text.startswith(" ", at):
        at += 1
    return at


def order(value: Value) -> tuple[object, ...]:
    """A key that sorts values as OPA does: null, false, true, numbers, texts, arrays, objects, sets."""
    match value:
        case None:
            return (0,)
        case bool():
            return (1, value)
        case Number():
            return (2, Decimal(value.text))
        case str():
            return (3, value)
        case tuple():
            return (4, tuple(map(order, value)))
        case Object():
            return (5, tuple((order(key), order(item)) for key, item in value.items))
        case Set():
            return (6, tuple(map(order, value.items)))


def written(value: Value) -> str:
    """The text that `opa_value_parse` reads."""
    return _text(value, quote=lambda text: json.dumps(text, ensure_ascii=False), comma=",", colon=":")


def printed(value: Value) -> str:
    """The text that people read, as OPA prints it: `{"a": 1}`, `{"x", "y"}`, `set()`."""
    return _text(value, quote=quoted, comma=", ", colon=": ")


def _text(value: Value, *, quote: Callable[[str], str], comma: str, colon: str) -> str:
    def text(each: Value) -> str:
        return _text(each, quote=quote, comma=comma, colon=colon)

    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Number():
            return value.text
        case str():
            return quote(value)
        case tuple():
            return f"[{comma.join(map(text, value))}]"
        case Object():
            return f"{{{comma.join(f'{text(key)}{colon}{text(item)}' for key, item in value.items)}}}"
        case Set():
            return f"{{{comma.join(map(text, value.items))}}}" if value.items else "set()"


_ESCAPES: Final = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"} | {
    '"': '\\"',
    "\\": "\\\\",
}


def quoted(text: str) -> str:
    """A text in quotes, as Go's strconv.Quote writes it."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
