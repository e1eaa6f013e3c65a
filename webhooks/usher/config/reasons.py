"""The mistake at one place of usher.yaml, in the words of its writer and not of the library that checks it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pydantic_core

from usher.config import suggestions

_LONGEST: Final = 64
"""The characters that a message shows of a value."""

_FORMS: Final = {
    "[smh]$": "a number with s, m or h, as in 90s or 5m",
    "^[-a-z0-9.*]+$": "lower-case letters, digits, hyphens and points, with * for any characters",
    "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$": "lower-case letters, digits, hyphens and points, as in the names of objects",
}
"""Words for the forms of values, by a part of the pattern."""

_TYPES: Final = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a mapping of keys to values",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list, as in [one, other]",
    "model_type": "a mapping of keys to values",
    "string_type": "a text; put a number, true or false in quotes",
}


def reason(detail: pydantic_core.ErrorDetails) -> str:
    """The mistake, with the wrong value, the accepted values, and the nearest known word."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return f"unknown key{suggestions.of_key(detail['loc'])}"
    if kind == "missing":
        return "this key is required"
    if kind in _TYPES:
        return f"expected {_TYPES[kind]}, found {_shown(detail['input'])}"
    if kind in _SAYINGS:
        return _SAYINGS[kind](detail["input"], context)
    return detail["msg"].removeprefix("Value error, ")


def _of_word(given: object, context: Mapping[str, Any]) -> str:
    known = str(context.get("expected", "")).replace("'", "")
    return f"expected {known}, found {_shown(given)}{suggestions.of_choice(given, known)}"


def _of_form(given: object, context: Mapping[str, Any]) -> str:
    pattern = str(context.get("pattern", ""))
    form = next((text for part, text in _FORMS.items() if part == pattern or pattern.endswith(part)), "")
    return f"expected {form or f'a text that matches {pattern}'}, found {_shown(given)}"


def _of_shortage(_given: object, context: Mapping[str, Any]) -> str:
    least = context.get("min_length", 1)
    return "must not be empty" if least == 1 else f"needs at least {least} entries"


def _shown(value: object) -> str:
    """A value of the file, bounded and escaped."""
    if isinstance(value, str):
        return f"{value[:_LONGEST]!a}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)[:_LONGEST]
    if value is None:
        return "nothing"
    return "a list" if isinstance(value, list) else "a mapping"


_SAYINGS: Final[Mapping[str, Callable[[object, Mapping[str, Any]], str]]] = {
    "literal_error": _of_word,
    "string_pattern_mismatch": _of_form,
    "string_too_short": _of_shortage,
    "too_short": _of_shortage,
}
