"""Values of Rego from the compiled policies, and the calls of built-ins that this process answers.

The order of values and the text of a value are those of OPA (v1/ast: Compare, AppendText).

OPA compiles most built-ins into the module. It imports `opa_builtin0` to `opa_builtin4` for the others, with the number
of the built-in and the addresses of its arguments; 0 as answer means undefined, as after an error in a built-in of OPA.
"""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from usher import errors, memo
from usher.policy.engines.wasm_runtime import Memory


class Number(Struct, frozen=True):
    """A number, as the text that it was written with."""

    text: str


class Object(Struct, frozen=True):
    """Keys and values, sorted by key."""

    items: "tuple[tuple[Value, Value], ...]"


class Set(Struct, frozen=True):
    """The members, sorted and without repetition."""

    items: "tuple[Value, ...]"


class UndefinedError(Exception):
    """The answer of a built-in is undefined, as after an error in a built-in of OPA."""


Value = str | Number | bool | tuple["Value", ...] | Object | Set | None

_NUMBER: Final = memo.pattern(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORDS: Final[dict[str, Value]] = {"null": None, "true": True, "false": False}
_scan_text: Final = json.decoder.scanstring  # type: ignore[attr-defined]  # undocumented, but json's own interface


def parse_value(text: str) -> Value:
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
            return Object(tuple(sorted(pairs, key=lambda pair: sort_key(pair[0])))), end
        return Set(tuple(sorted((item for item, _ in items), key=sort_key))), end
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


def sort_key(value: Value) -> tuple[object, ...]:
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
            return (4, tuple(map(sort_key, value)))
        case Object():
            return (5, tuple((sort_key(key), sort_key(item)) for key, item in value.items))
        case Set():
            return (6, tuple(map(sort_key, value.items)))


def write_value(value: Value) -> str:
    """The text that `opa_value_parse` reads."""
    return _text(value, quote=lambda text: json.dumps(text, ensure_ascii=False), comma=",", colon=":")


def print_value(value: Value) -> str:
    """The text that people read, as OPA prints it: `{"a": 1}`, `{"x", "y"}`, `set()`."""
    return _text(value, quote=quote_text, comma=", ", colon=": ")


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


def quote_text(text: str) -> str:
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


HostFunctions = Mapping[str, Callable[..., Value]]
"""Functions by the name of the built-in. A function raises UndefinedError if OPA would fail in it."""

NO_HOST_FUNCTIONS: Final[HostFunctions] = MappingProxyType({})

HOST_IMPORTS: Final = tuple(f"opa_builtin{count}" for count in range(5))
"""Names of the imports, by their number of arguments."""

LARGEST_ANSWER: Final = 2**20
"""Bytes of the largest answer; a message has some hundred."""


class HostCalls:
    """Answers the calls of one instance."""

    def __init__(
        self, numbers: Mapping[str, int], functions: HostFunctions, *, call: Callable[..., int], memory: Memory
    ) -> None:
        """Takes the built-ins that a module calls, with their numbers.

        Raises:
            EngineError: the module calls a built-in that is not among `functions`.
        """
        if missing := sorted(set(numbers) - set(functions)):
            raise errors.EngineError(f"the compiled policy calls {', '.join(missing)}, which WebAssembly lacks")
        self._functions = {number: functions[name] for name, number in numbers.items()}
        self._call = call
        self._memory = memory
        self._failure = ""

    def __call__(self, number: int, addresses: tuple[int, ...]) -> int:
        """The address of the answer; 0 if the answer is undefined."""
        try:
            arguments = [self._argument(address) for address in addresses]
            return self._answer(self._functions[number](*arguments))
        except UndefinedError:
            return 0
        except Exception as error:  # noqa: BLE001 - it would come out of another call; `taken_failure` has it
            self._failure = f"a built-in failed: {type(error).__name__}: {error!s:.200}"
            return 0

    def taken_failure(self) -> str:
        """Why a call of the last evaluation failed, and forgets it; empty if no call failed."""
        failure, self._failure = self._failure, ""
        return failure

    def _argument(self, address: int) -> Value:
        return parse_value(self._memory.text(self._call("opa_value_dump", address)).decode())

    def _answer(self, value: Value) -> int:
        text = write_value(value).encode()
        if len(text) > LARGEST_ANSWER:
            raise errors.EngineError(f"its answer is larger than {LARGEST_ANSWER} bytes")
        address = self._call("opa_malloc", len(text))
        self._memory.write(address, text)
        return self._call("opa_value_parse", address, len(text))
