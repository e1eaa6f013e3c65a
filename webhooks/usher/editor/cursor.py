"""Finds the place of a cursor in half-written YAML by its lines and their indentation.

It reads block style, and lists in brackets on one line. In other texts it finds no place.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from usher.dataclass import dataclass
from usher.editor.positions import Point, Text

_LINE: Final = re.compile(r"(?P<blank> *)(?P<dashes>(?:- +|-$)*)(?P<rest>.*)")
_KEY: Final = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[^\s\"'#\[\]{},:&*!|>%@`-][^\s:#]*)[ \t]*:(?=\s|$)")
_WORD: Final = re.compile(r"[^\s\[\]{},:#\"']*$")
_MOST_LINES: Final = 20_000
"""The most lines above and below that it reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The place and the text around a cursor."""

    keys: tuple[str | int, ...]
    """The path from the top to the value that the user writes, or to the mapping of the key. List items are 0."""
    word: str
    """The part of the key or value that is already written."""
    is_key: bool
    may_be_value: bool = False
    """Whether a value, instead of a key, may start a new list item."""
    siblings: frozenset[str] = frozenset()
    """The other keys of the mapping."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A key, or the dash of an item, at its column."""

    column: int
    key: str | int


def at(text: Text, point: Point) -> Cursor | None:
    """The cursor at a point; None in a comment, and if keys cannot be completed there."""
    if not 0 <= point.line < text.lines:
        return None
    line = text.line(point.line)
    before = line[: text.column(point)]
    match = _LINE.match(before)
    if match is None or _in_comment(before):
        return None
    marks = list(_marks(before))
    rest, start = match["rest"], match.start("rest")
    key = _KEY.match(rest)
    word = _word(rest)
    if key is not None:
        return _value(text, point.line, marks, rest[key.end() :], word)
    if rest != word:
        return None
    keys, siblings = _surroundings(text, point.line, [*marks, _Mark(start, "")])
    return Cursor(
        keys=tuple(keys), word=word, is_key=True, may_be_value=bool(match["dashes"]), siblings=frozenset(siblings)
    )


def key_at(text: Text, point: Point) -> tuple[tuple[str | int, ...], int, int] | None:
    """The key on the line of a point: its path from the top, and its first and last column in characters."""
    if not 0 <= point.line < text.lines:
        return None
    line = text.line(point.line)
    match = _LINE.match(line)
    key = _KEY.match(match["rest"]) if match is not None else None
    if match is None or key is None:
        return None
    start = match.start("rest")
    keys, _ = _surroundings(text, point.line, list(_marks(line)))
    return (*keys, _plain(key["key"])), start, start + key.end("key")


def _value(text: Text, number: int, marks: Sequence[_Mark], written: str, word: str) -> Cursor | None:
    written = written.strip()
    if written.startswith("{") or (written != word and not written.startswith(("[", '"', "'"))):
        return None
    keys, _ = _surroundings(text, number, marks)
    own = marks[-1].key
    inside = (0,) if written.startswith("[") else ()
    return Cursor(keys=(*keys, own, *inside), word=word, is_key=False)


def _surroundings(text: Text, number: int, marks: Sequence[_Mark]) -> tuple[list[str | int], set[str]]:
    """The path of the mapping with the last mark of a line, and the other keys of this mapping."""
    *before, last = marks
    lines = (text.line(above) for above in range(number - 1, max(number - _MOST_LINES, 0) - 1, -1))
    keys, siblings = _above(last, before, lines)
    below = (text.line(each) for each in range(number + 1, min(number + _MOST_LINES, text.lines)))
    return keys, siblings | set(_below(last.column, below))


def _above(last: _Mark, before: Sequence[_Mark], lines: Iterable[str]) -> tuple[list[str | int], set[str]]:
    keys, siblings = list[str | int](), set[str]()
    current, found_parent = last, False
    for marks in ([*before], *(list(_marks(line)) for line in lines)):
        for mark in reversed(marks):
            # The dashes of a list may start at the column of its key.
            at_key = mark.column == current.column and current.key == 0 and mark.key != 0
            if mark.column < current.column or at_key:
                keys.insert(0, mark.key)
                current, found_parent = mark, True
            elif mark.column == current.column and not found_parent and isinstance(mark.key, str):
                siblings.add(mark.key)
        if current.column == 0 and current.key != 0 and found_parent:
            break
    return keys, siblings


def _below(column: int, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        marks = list(_marks(line))
        if not marks:
            continue
        if marks[0].column < column:
            return
        yield from (mark.key for mark in marks[:1] if mark.column == column and isinstance(mark.key, str))


def _marks(line: str) -> Iterator[_Mark]:
    match = _LINE.match(line)
    if match is None or match["rest"].startswith("#"):
        return
    for number, character in enumerate(match["dashes"]):
        if character == "-":
            yield _Mark(match.start("dashes") + number, 0)
    key = _KEY.match(match["rest"])
    if key is not None:
        yield _Mark(match.start("rest"), _plain(key["key"]))


def _plain(key: str) -> str:
    return key[1:-1] if key[:1] in "\"'" else key


def _word(rest: str) -> str:
    found = _WORD.search(rest)
    return found[0] if found else ""


def _in_comment(before: str) -> bool:
    return before.lstrip().startswith("#") or " #" in before
