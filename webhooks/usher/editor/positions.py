"""Converts places in the text of an editor: offsets of characters, and the editor's lines and columns.

Source: Language Server Protocol 3.17, "Position": lines end at a line feed, a carriage return, or both; columns count
units of the encoding that client and server agreed on; a column after the end of its line means its end.
"""

import bisect
import re
from enum import StrEnum
from typing import Final

from usher.dataclass import dataclass

_LINE_END: Final = re.compile("\r\n|\n|\r")
_LINE_FEED: Final = re.compile("\n")
_BYTE_ORDER_MARK: Final = "\ufeff"
_LAST_OF_TWO_BYTES: Final = 0xFFFF


class Encoding(StrEnum):
    """The units of columns."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    UTF_32 = "utf-32"


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """A place between two characters; line and column count from 0."""

    line: int
    column: int
    """In units of the encoding."""


@dataclass(frozen=True, slots=True)
class Range:
    start: Point
    end: Point
    """The point after the last character."""

    def holds(self, point: Point) -> bool:
        """Whether a point is in the range or at its end, where a cursor touches its last character."""
        return self.start <= point <= self.end


class Text:
    """A text with the editor's lines and columns."""

    def __init__(self, content: str, *, encoding: Encoding = Encoding.UTF_16) -> None:
        self.content = content
        self.encoding = encoding
        self._starts = [0]
        self._ends = list[int]()
        for match in _LINE_END.finditer(content):
            self._ends.append(match.start())
            self._starts.append(match.end())
        self._ends.append(len(content))
        self._after_feeds = [0, *(match.end() for match in _LINE_FEED.finditer(content))]

    @property
    def lines(self) -> int:
        """The number of lines, at least one."""
        return len(self._starts)

    def line(self, number: int) -> str:
        """The line with a number from 0, without its line end."""
        return self.content[self._starts[number] : self._ends[number]]

    def point(self, offset: int) -> Point:
        """The point before the character at an offset; offsets beyond the text mean its end."""
        offset = min(max(offset, 0), len(self.content))
        number = bisect.bisect_right(self._starts, offset) - 1
        return Point(number, self._units(self.content[self._starts[number] : min(offset, self._ends[number])]))

    def offset(self, point: Point) -> int:
        """The offset of a point. A point outside the text means the nearest one in it; a point within a character, its
        start.
        """
        if point.line < 0:
            return 0
        if point.line >= self.lines:
            return len(self.content)
        line = self.line(point.line)
        if self.encoding is Encoding.UTF_32 or line.isascii():
            return self._starts[point.line] + min(max(point.column, 0), len(line))
        left = point.column
        for number, character in enumerate(line):
            left -= self._units(character)
            if left < 0:
                return self._starts[point.line] + number
        return self._ends[point.line]

    def column(self, point: Point) -> int:
        """The column of a point in characters from 0, for any encoding; points outside as for `offset`."""
        found = self.offset(point)
        return found - self._starts[bisect.bisect_right(self._starts, found) - 1]

    def range(self, start: int, end: int) -> Range:
        """The range between two offsets."""
        return Range(self.point(start), self.point(end))

    def offset_of(self, line: int, column: int) -> int:
        """The offset of usher's line and column, which count characters from 1.

        usher ends lines only at line feeds, and does not count a byte order mark.
        """
        if line > len(self._after_feeds):
            return len(self.content)
        start = self._after_feeds[max(line, 1) - 1]
        mark = start == 0 and self.content.startswith(_BYTE_ORDER_MARK)
        return min(start + max(column, 1) - 1 + mark, len(self.content))

    def _units(self, part: str) -> int:
        if part.isascii() or self.encoding is Encoding.UTF_32:
            return len(part)
        if self.encoding is Encoding.UTF_8:
            return len(part.encode(errors="surrogatepass"))
        return len(part) + sum(ord(each) > _LAST_OF_TWO_BYTES for each in part)
