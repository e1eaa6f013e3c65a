"""The parts of one line of a plainly written manifest: its column, its key and its value.

This module reads only lines that mean the same in any context; for others the caller uses the exact reader
(`composing`).
"""

import enum
import functools
import re
from typing import Any, Final

from usher import paths
from usher.documents import scalars

_LINE: Final = re.compile(
    r"""( *)(- +)?(?:([A-Za-z_/][A-Za-z0-9_./-]{0,250}|"[A-Za-z_/][A-Za-z0-9_./ -]{0,250}"):(?= |$))? *(.*)"""
)
_PLAIN_START: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.+$(=~\\^;")
_QUOTED: Final = {'"': re.compile(r'"([^"\\]*)"(?: +#.*)?'), "'": re.compile(r"'([^']*)'(?: +#.*)?")}
_ENDINGS: Final = {"|": "\n", "|-": ""}
_COMMENT: Final = re.compile(r" +(?:#.*)?|")

_WORD: Final = r"(?:[A-Za-z0-9_/.]|-(?=[A-Za-z0-9_/.-]))[A-Za-z0-9_/.=*@-]*"
_ENDS: Final = r"(?:(: )|(?=[ ,\]}]))"
_FLOW: Final = re.compile(rf""" *(?:([\[{{\]}},])|"([^"\\]*)"{_ENDS}|'([^']*)'{_ENDS}|({_WORD}){_ENDS})""")
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


Line = tuple[int, int, str, Holds, Any]
"""Column; width of the dash and the spaces behind it, or 0; key, or an empty text; kind of value; value."""


def parsed(text: str) -> Line:
    """The parts of a line. The last thousands of short lines are remembered, because manifests repeat their lines.

    Raises:
        Doubt: it may mean something else, or more lines may belong to it.
        InputError: kubectl would refuse it.
    """
    return _remembered(text) if len(text) < _LONGEST_KEPT else _parsed(text)


def _parsed(text: str) -> Line:
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
    if key in scalars.WORDS and key:
        raise Doubt
    holds, value = (Holds.NO_VALUE, None) if empty else _value(rest.rstrip(" "))
    return len(spaces), len(dash or ""), key, holds, value


_remembered: Final = functools.lru_cache(maxsize=8192)(_parsed)


def _value(text: str) -> tuple[Holds, paths.Json]:
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


def flow(text: str) -> paths.Json:
    """The value of a flow collection up to the end of its line; always a new one.

    Raises:
        Doubt: it may mean something else, or more lines may belong to it.
        InputError: kubectl would refuse it.
    """
    found, end = _collection(text, 1, text[0], 0)
    if not _COMMENT.fullmatch(text, end):
        raise Doubt
    return found


def _resolved(text: str) -> scalars.Scalar:
    if ": " in text or text[-1] == ":":
        raise Doubt
    if text[0] not in scalars.HINTS:
        return text
    return scalars.as_value(scalars.resolve(text), text)


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
        elif key in entries or key in scalars.WORDS:
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
        if not token[token.lastindex or 0].startswith(": ") or type(scalars.resolve(key or "~")) is not str:
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
