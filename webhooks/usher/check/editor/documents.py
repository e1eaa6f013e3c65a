"""The documents open in an editor: their text and places, what usher says about them, and the changes it offers.

Source: Language Server Protocol 3.17, "Position": lines end at a line feed, a carriage return, or both; columns count
units of the encoding that client and server agreed on; a column after the end of its line means its end.
"""

import bisect
import re
import urllib.parse
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct, field

from usher.check import findings
from usher.check.batches import Batch, Item
from usher.config import models
from usher.policy.evaluator import Evaluator

_LINE_END: Final = re.compile("\r\n|\n|\r")
_LINE_FEED: Final = re.compile("\n")
_BYTE_ORDER_MARK: Final = "\ufeff"
_LAST_OF_TWO_BYTES: Final = 0xFFFF


class Encoding(StrEnum):
    """The units of columns."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    UTF_32 = "utf-32"


class Point(Struct, frozen=True, order=True):
    """A place between two characters; line and column count from 0."""

    line: int
    column: int
    """In units of the encoding."""


class Range(Struct, frozen=True):
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


MAX_BYTES: Final = 2 * 2**20
"""The largest document, in bytes, that usher judges while the user types."""

_CHART: Final = "Chart.yaml"
_CONFIG_NAMES: Final = ("usher.yaml", "usher.yml")
_IS_CONFIG: Final = re.compile(
    rf"^apiVersion:[ \t]*[\"']?{re.escape(models.API_VERSION)}[\"']?[ \t]*(?:#.*)?\r?$", re.MULTILINE
)
_KIND_CONFIG: Final = re.compile(r"^kind:[ \t]*[\"']?Config[\"']?[ \t]*(?:#.*)?\r?$", re.MULTILINE)


class DocumentType(StrEnum):
    MANIFEST = "manifest"
    CONFIGURATION = "configuration"
    """usher.yaml."""
    CHART_TEMPLATE = "chart template"
    TOO_LARGE = "too large"


class Document(Struct, frozen=True, kw_only=True):
    """The text in the editor, which may differ from the saved file."""

    uri: str
    text: Text
    version: int = 0

    @property
    def path(self) -> Path | None:
        """Its file; None if it has no file on this machine."""
        return path_of(self.uri)


def path_of(uri: str) -> Path | None:
    """The absolute path of a `file:` URI; None for any other URI, and for files of other machines."""
    try:
        parts = urllib.parse.urlsplit(uri)
        path = urllib.parse.unquote(parts.path, errors="strict")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(path) if path.startswith("/") and "\0" not in path else None


def sort_of(document: Document) -> DocumentType:
    """The type of the document, by its size, its place and its first words."""
    content, path = document.text.content, document.path
    if len(content) > MAX_BYTES // 4 and len(content.encode(errors="surrogatepass")) > MAX_BYTES:
        return DocumentType.TOO_LARGE
    if path is not None and _is_of_chart(path):
        return DocumentType.CHART_TEMPLATE
    if (path is not None and path.name in _CONFIG_NAMES) or (
        _IS_CONFIG.search(content) and _KIND_CONFIG.search(content)
    ):
        return DocumentType.CONFIGURATION
    return DocumentType.MANIFEST


def _is_of_chart(path: Path) -> bool:
    try:
        return any(parent.name == "templates" and (parent.parent / _CHART).is_file() for parent in path.parents)
    except OSError:
        return False


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One message about a place."""

    range: Range
    severity: Severity
    message: str
    code: str = ""
    """USH103; empty for a message that is not a finding of a check."""
    link: str = ""
    """The address of a page about the message."""
    rule: str = ""
    """`category/name` of the check."""


def diagnostic_at_line(text: Text, line: int, *, severity: Severity, message: str) -> Diagnostic:
    """A diagnostic about one line, counted from 1 as in usher. It does not underline the blanks around the text."""
    number = text.point(text.offset_of(line, 1)).line
    content = text.line(number)
    start = text.offset(Point(number, 0))
    indented = len(content) - len(content.lstrip())
    return Diagnostic(
        range=text.range(start + indented, start + max(len(content.rstrip()), indented)),
        severity=severity,
        message=message,
    )


class Analysis(Struct, frozen=True, kw_only=True):
    """The diagnostics, and the data for explaining them."""

    document: Document
    diagnostics: Sequence[Diagnostic] = ()
    config: models.Config = field(default_factory=models.Config)
    """The configuration that judged the document."""
    items: Sequence[Item] = ()
    """Its objects."""
    results: Sequence[findings.Result] = ()
    """The decisions about the objects that usher judges."""


Judge = Callable[[Sequence[Batch]], findings.Report]
"""Judges a file and its neighbours, with mutations and diffs."""


class Write(Protocol):
    """Writes into a file the changes of admission, and the remedies of findings that leave no choice."""

    def __call__(
        self, batch: Batch, content: bytes, *, judge: Judge, evaluator: Evaluator, keys: Collection[str]
    ) -> bytes:
        """The new content; unchanged if there is nothing to change, or a change cannot be written.

        Args:
            judge: judges the file before and after the change.
            keys: `category/name` of the checks and mutations to apply; empty for all.
        """
        ...


class Edit(Struct, frozen=True, kw_only=True):
    range: Range
    text: str


class Change(Struct, frozen=True, kw_only=True):
    """A change that the user can choose by its title."""

    title: str
    edit: Edit
    rule: str = ""
    """The check whose finding it removes; empty for a change of the whole file."""


def edit_between(text: Text, new: str) -> Edit | None:
    """The edit that turns the old text into the new one: the lines from the first to the last difference."""
    old = text.content
    if old == new:
        return None
    start = _common(old, new)
    start = max(old.rfind("\n", 0, start), new.rfind("\n", 0, start)) + 1
    tail = _common(old[start:][::-1], new[start:][::-1])
    # An edit ends at the end of a line, so it never cuts a character in two.
    kept = old[len(old) - tail :]
    tail = len(kept) - kept.find("\n") - 1 if "\n" in kept else 0
    return Edit(range=text.range(start, len(old) - tail), text=new[start : len(new) - tail])


def _common(one: str, other: str) -> int:
    """The number of characters at the start that two texts have in common."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
