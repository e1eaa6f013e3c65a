"""Renders JSON values as YAML or JSON text, in the styles that people use for manifests."""

import json
import re
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.documents import composing

_ORDER: Final = ("name", "key", "operator", "value", "values", "effect")
# Every YAML parser reads this as text if `scalars.resolve` does, also in brackets.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./$(+-](?:[A-Za-z0-9_./$()+=@%~^-]|:(?=[A-Za-z0-9_./]))*")
# Dates, times and numbers in base 60, which parsers other than kubectl's read as numbers.
_LIKE_A_NUMBER: Final = re.compile(r"[-+.]?[0-9][0-9_:.TtZz+-]*|[-.+]+|0o[0-7]+|-.*")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The style of new text, taken from the text around it."""

    step: int = 2
    """Columns from a key to the keys of its mapping."""
    dash: int = 0
    """Columns from a key to the dashes of its list."""
    gap: int = 1
    """Blanks after a dash."""
    quote: str = ""
    """Quote of texts that do not need one; `key_quote` is the quote of keys."""
    key_quote: str = ""
    colon: str = ": "
    comma: str = ", "
    is_json: bool = False


def scalar(value: paths.Json, *, quote: str = "") -> str:
    """A value as one line of YAML that kubectl reads as the same value.

    Args:
        value: a text, number, truth value or null, or an empty mapping or list.
        quote: the preferred quote of a text: `"`, `'`, or empty for plain text.
    """
    if not isinstance(value, str):
        return json.dumps(value)
    if not quote and _is_plain(value):
        return value
    if quote == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return '"' + "".join(_escaped(each) for each in value) + '"'


def block(value: paths.Json, style: Style) -> list[str]:
    """The lines of a value, without indentation."""
    if isinstance(value, dict) and value:
        return [line for key in ordered(value) for line in entry(key, value[key], style)]
    if isinstance(value, list) and value:
        return [line for item in value for line in item_of_list(item, style)]
    return [scalar(value, quote=style.quote)]


def entry(key: str, value: paths.Json, style: Style) -> list[str]:
    """The lines of a key and its value."""
    start = scalar(key, quote=style.key_quote) + ":"
    if isinstance(value, str) and _suits_lines(value):
        chomping = "" if value.endswith("\n") else "-"
        return [f"{start} |{chomping}", *indented(value.removesuffix("\n").split("\n"), style.step)]
    lines = block(value, style)
    if not isinstance(value, dict | list) or not value:
        return [f"{start} {lines[0]}"]
    return [start, *indented(lines, style.step if isinstance(value, dict) else style.dash)]


def item_of_list(value: paths.Json, style: Style) -> list[str]:
    """The lines of an item with its dash."""
    first, *rest = block(value, style)
    return [f"-{' ' * style.gap}{first}", *indented(rest, style.gap + 1)]


def indented(lines: list[str], columns: int) -> list[str]:
    return [" " * columns + line if line else "" for line in lines]


def flow(value: paths.Json, style: Style) -> str:
    """The value on one line, with brackets."""
    if style.is_json:
        return as_json(value, style)
    if isinstance(value, dict):
        pairs = (
            f"{scalar(key, quote=style.key_quote)}{style.colon}{flow(value[key], style)}" for key in ordered(value)
        )
        return "{" + style.comma.join(pairs) + "}"
    if isinstance(value, list):
        return "[" + style.comma.join(flow(item, style) for item in value) + "]"
    return scalar(value, quote=style.quote)


def as_json(value: paths.Json, style: Style, *, indent: int | None = None) -> str:
    """The value as JSON; with `indent` over several lines, the first without indentation."""
    separators = ("," if indent is not None else style.comma, style.colon)
    return json.dumps(_in_order(value), ensure_ascii=False, indent=indent, separators=separators)


def ordered(value: paths.Object) -> list[str]:
    return sorted(value, key=rank)


def rank(key: str) -> tuple[int, str]:
    """A sort key for the keys of a new mapping: the usual order of manifests, because engines differ in theirs."""
    return _ORDER.index(key) if key in _ORDER else len(_ORDER), key


def _in_order(value: paths.Json) -> paths.Json:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in ordered(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _is_plain(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or _LIKE_A_NUMBER.fullmatch(text):
        return False
    return composing.resolve_scalar(text) == text and isinstance(composing.resolve_scalar(text), str)


def _suits_lines(text: str) -> bool:
    """Whether a text reads best as a literal block, which keeps it exactly."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1
        and bool(lines[0])
        and lines[0][0] not in " \t#-"
        and bool(lines[-1])
        and all(line.isprintable() and line == line.rstrip() for line in lines)
    )


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def is_inline(value: paths.Json) -> bool:
    """Whether a value needs no lines of its own in block style."""
    return not isinstance(value, dict | list) or not value
