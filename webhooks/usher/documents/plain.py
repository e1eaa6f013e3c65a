"""Plainly written manifests, read line by line: the same value as the exact reader, in a fraction of its time.

Most manifests use a small part of YAML, where a line means the same in any context: block mappings and lists, scalars
and flow collections on one line, literal blocks. Only this part is read here. For any other line, or one that kubectl
would refuse, this reader gives up, and the exact reader (`composing`) takes the whole document with its errors. Tests
compare both on corpora, on traps, and on changed bytes.
"""

import re
from typing import Final

from usher import errors, paths
from usher.dataclass import dataclass
from usher.documents import plain_lines
from usher.documents.plain_lines import Doubt, Holds

_MAX_DEPTH: Final = 100
"""Less depth than the exact reader allows."""

# Tabs, other line ends, byte order marks and control characters: what they mean depends on where they stand.
# The characters that are not here would be a set that takes 10 ms to compile.
_DOUBTFUL: Final = re.compile("[\x00-\t\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Read:
    """A document that was read: its value, or None if the text has only comments."""

    value: paths.Object | None
    line: int
    """Line of its first key, from 0."""


def read(text: str) -> Read | None:
    """The value of one document; None if its meaning is in doubt."""
    # Without a last line feed, a literal block at the end lacks it too.
    if not text.endswith("\n") or _DOUBTFUL.search(text):
        return None
    try:
        return _Document(text).read()
    except (Doubt, errors.InputError):
        return None


class _Document:
    """The lines of a document, and the collections that are open where the next line starts."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._next = 0
        self._root: paths.Object = {}
        # Column and value of each open collection. A key without a value yet may open one.
        self._columns = [-1]
        self._open: list[paths.Object | list[paths.Json]] = [self._root]
        self._due: tuple[paths.Object, str] | None = (self._root, "")

    def read(self) -> Read:
        first, lines, count, parsed = -1, self._lines, len(self._lines), plain_lines.parsed
        while self._next < count:
            column, width, key, holds, value = parsed(lines[self._next])
            self._next += 1
            if holds is Holds.NOTHING:
                continue
            if first < 0:
                first = self._next - 1
            if holds is Holds.FLOW:
                value = plain_lines.flow(value)
            elif holds is Holds.LITERAL:
                value = self._literal(value, column + width if key else column)
            if not key:
                self._list(column).append(value)
                continue
            mapping = self._entry(column, width) if width else self._mapping(column)
            if key in mapping:
                raise Doubt
            mapping[key] = value
            if holds is Holds.NO_VALUE:
                self._due = (mapping, key)
        value = self._root.get("")
        if first >= 0 and not isinstance(value, dict):
            raise Doubt
        return Read(value if isinstance(value, dict) else None, first)

    def _mapping(self, column: int) -> paths.Object:
        """The mapping whose keys are in that column."""
        if column > self._columns[-1]:
            mapping: paths.Object = {}
            self._add(column, mapping)
            return mapping
        self._due = None
        while self._columns[-1] > column or (self._columns[-1] == column and type(self._open[-1]) is list):
            self._columns.pop()
            self._open.pop()
        found = self._open[-1]
        if self._columns[-1] != column or type(found) is not dict:
            raise Doubt
        return found

    def _list(self, column: int) -> list[paths.Json]:
        """The list whose dashes are in that column, which may be the column of its key."""
        if column > self._columns[-1] or (column == self._columns[-1] and self._due is not None):
            items: list[paths.Json] = []
            self._add(column, items)
            return items
        self._due = None
        while self._columns[-1] > column:
            self._columns.pop()
            self._open.pop()
        found = self._open[-1]
        if self._columns[-1] != column or type(found) is not list:
            raise Doubt
        return found

    def _entry(self, column: int, width: int) -> paths.Object:
        """A new mapping in a list, with its first key on the line of the dash."""
        entry: paths.Object = {}
        self._list(column).append(entry)
        self._columns.append(column + width)
        self._open.append(entry)
        return entry

    def _add(self, column: int, value: paths.Object | list[paths.Json]) -> None:
        """Opens a collection, as the value of the key before it."""
        if self._due is None or len(self._columns) > _MAX_DEPTH:
            raise Doubt
        mapping, key = self._due
        mapping[key] = value
        self._due = None
        self._columns.append(column)
        self._open.append(value)

    def _literal(self, ending: str, column: int) -> str:
        """The lines of a literal block, which are indented more than the collection in `column` that holds it."""
        lines, start = self._lines, self._next
        indent = len(lines[start]) - len(lines[start].lstrip(" ")) if start < len(lines) else 0
        if indent <= column or indent == len(lines[start]):
            raise Doubt
        margin, found = " " * indent, list[str]()
        while self._next < len(lines):
            line = lines[self._next]
            if line.startswith(margin):
                found.append(line[indent:])
            elif not line.strip(" "):
                found.append("")
            else:
                break
            self._next += 1
        while not found[-1]:
            found.pop()
        return "\n".join(found) + ending
