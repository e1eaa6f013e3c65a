"""Edits of a text, and the lines around an offset."""

import re
from collections.abc import Iterable
from typing import Final

from usher.dataclass import dataclass

_COMMENT: Final = re.compile(r"[ \t]*#")
_ONLY_DASHES: Final = re.compile(r"[ ]*(?:-[ ]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replaces a range of the old text; offsets count characters."""

    start: int
    end: int
    text: str


class RefusedError(Exception):
    """A change that cannot be written here. The planner turns it into a `Refusal`, so it never leaves this package."""

    def __init__(self, offset: int, reason: str, *, anchor: str = "") -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason
        self.anchor = anchor
        """The anchor whose text is in the way because several places share it."""


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The new text. Edits at one place keep their order.

    Raises:
        RefusedError: two edits overlap.
    """
    parts, position = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if edit.start < position:
            raise RefusedError(edit.start, "two changes meet in one place")
        parts += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*parts, text[position:]])


def line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """The offset of the line end after an offset; for CR LF, of the CR."""
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    return end - 1 if end > offset and text[end - 1] == "\r" else end


def next_line(text: str, offset: int) -> int:
    """The offset of the next line."""
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def without_lines(text: str, start: int, end: int) -> Edit:
    """Removes the lines from one offset to another.

    It removes the line end before them and keeps their own, so that new lines can still follow the removed ones.
    """
    first, last = line_start(text, start), line_end(text, end)
    if not first:
        return Edit(start=0, end=next_line(text, end), text="")
    before = first - 2 if text[first - 2 : first] == "\r\n" else first - 1
    return Edit(start=before, end=last, text="")


def end_of_line(text: str, offset: int) -> str:
    """The line end in use at an offset: of its own line, else of the first line."""
    end = text.find("\n", max(offset - 1, 0))
    if end < 0 or end == len(text) - 1:
        # The reader adds a line feed to a last line without a line end.
        end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def column(text: str, offset: int) -> int:
    """Characters from the start of the line, from 0."""
    return offset - line_start(text, offset)


def starts_line(text: str, offset: int, *, after_dashes: bool = False) -> bool:
    """Whether only blanks precede an offset in its line; with `after_dashes`, also dashes of lists."""
    before = text[line_start(text, offset) : offset]
    return bool(_ONLY_DASHES.fullmatch(before)) if after_dashes else not before.strip(" ")


def before_blanks(text: str, offset: int) -> int:
    """The offset of the first blank in the row of blanks before an offset."""
    while offset and text[offset - 1] in " \t":
        offset -= 1
    return offset


def check_no_comment(text: str, start: int, end: int) -> None:
    """Raises RefusedError if a range to be removed may hold a comment."""
    if "#" in text[start:end]:
        raise RefusedError(start, "a comment may stand between what would go; change it by hand")


def after_comments(text: str, end: int, *, margin: int) -> int:
    """The end of the line at an offset, or of the last comment below it that belongs to a collection at a column.

    A comment belongs to the collection if it is directly below, at its column or to the right. But if the next content
    starts at the comment's column, the comment belongs to that content.
    """
    position = line_end(text, end)
    following = _next_content(text, next_line(text, end))
    found = next_line(text, end)
    while found < len(text) and _COMMENT.match(text, found):
        at = _indentation(text, found)
        if at < margin or at <= following:
            break
        position = line_end(text, found)
        found = next_line(text, found)
    return position


def _indentation(text: str, start: int) -> int:
    line = text[start : line_end(text, start)]
    return len(line) - len(line.lstrip(" "))


def _next_content(text: str, start: int) -> int:
    """The column of the next line that is neither blank nor a comment; -1 at the end of the document."""
    while start < len(text):
        line = text[start : line_end(text, start)].lstrip(" \t")
        if line and not line.startswith("#"):
            return -1 if line.startswith("...") else _indentation(text, start)
        start = next_line(text, start)
    return -1
