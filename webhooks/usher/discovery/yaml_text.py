"""Writes values as YAML on one line, and safe comments: names of a cluster cannot end them."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-._/][A-Za-z0-9]+)*|[0-9]+[GMK]i", re.ASCII)
_RESERVED: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
"""Texts that some YAML parsers read as another type."""

_LONGEST: Final = 100
"""The most characters of a name in a comment."""


def scalar(value: str | int | bool) -> str:  # noqa: FBT001 - a value of a document
    """A value of a document. A text is quoted unless every parser reads it as this text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return value if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED else f'"{_escaped(value)}"'


def flow(value: object) -> str:
    """A value with everything in it on one line: `{key: nvidia.com/gpu, effect: NoSchedule}`."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(str(key))}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value) if isinstance(value, str | int | bool) else scalar(str(value))


def shown(name: str) -> str:
    """A name in a comment: one line of visible ASCII characters, cut where it is very long."""
    text = _escaped(name)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _escaped(text: str) -> str:
    """The text between the double quotes of YAML, in visible ASCII characters."""
    return "".join(map(_character, text))


def _character(each: str) -> str:
    if each in '"\\':
        return f"\\{each}"
    if " " <= each <= "~":
        return each
    return f"\\u{ord(each):04x}" if ord(each) <= 0xFFFF else f"\\U{ord(each):08x}"


def commented(lines: Sequence[str]) -> list[str]:
    """Lines that a person can uncomment; comments stay as they are."""
    return [line if line.startswith("#") else f"# {line}" for line in lines]
