"""Merges series on one grid and bridges their short holes."""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from usher.audit.usage.series import Series
from usher.dataclass import dataclass

BRIDGED: Final = 2
"""The longest hole, in points, that takes the value before it. Longer holes are not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Values from point `first` on; NaN at points without a measurement."""

    first: int
    values: "array[float]"

    @property
    def end(self) -> int:
        """The point after the last one."""
        return self.first + len(self.values)

    def at(self, point: int) -> float:
        """The value at a point; NaN outside of the line."""
        place = point - self.first
        return self.values[place] if 0 <= place < len(self.values) else math.nan


def spread(line: Line, first: int, end: int) -> "array[float]":
    """The values of the points from `first` up to, and without, `end`; NaN outside of the line."""
    if first == line.first and end == line.end:
        return line.values
    before = max(min(line.first, end) - first, 0)
    kept = line.values[max(first - line.first, 0) : max(end - line.first, 0)]
    found = array("d", [math.nan]) * before + kept
    return found + array("d", [math.nan]) * (end - first - len(found))


EMPTY: Final = Line(first=0, values=array("d"))


def merge(series: Iterable[Series], *, usable: Callable[[float], bool] = math.isfinite) -> Line:
    """One line of several series; where several have a value, the first series wins."""
    parts = [each for each in series if each.values]
    if not parts:
        return EMPTY
    first = min(each.first for each in parts)
    if len(parts) == 1:
        return _trimmed(first, array("d", [value if usable(value) else math.nan for value in parts[0].values]))
    values = array("d", [math.nan]) * (max(each.first + len(each.values) for each in parts) - first)
    for each in parts:
        offset = each.first - first
        for place, value in enumerate(each.values, start=offset):
            if math.isnan(values[place]) and usable(value):
                values[place] = value
    return _trimmed(first, values)


def bridge(line: Line, *, most: int = BRIDGED) -> Line:
    """The line with its short holes filled by the values before them."""
    values = array("d", line.values)
    for start, end in holes(values):
        if start > 0 and end - start <= most:
            for place in range(start, end):
                values[place] = values[start - 1]
    return Line(first=line.first, values=values)


def cut(line: Line, start: int, end: int) -> Line:
    """The part of a line from `start` up to, and without, `end`."""
    first = max(start, line.first)
    return Line(first=first, values=line.values[first - line.first : max(end, first) - line.first])


def mapped(line: Line, change: Callable[[float], float]) -> Line:
    """The line with each measured value changed."""
    values = array("d", [value if math.isnan(value) else change(value) for value in line.values])
    return Line(first=line.first, values=values)


def scaled(line: Line, factor: float) -> Line:
    return mapped(line, lambda value: value * factor)


def holes(values: Sequence[float]) -> Iterator[tuple[int, int]]:
    """The runs of NaN, each with its start and the place after its end."""
    start = -1
    for place, value in enumerate(values):
        if math.isnan(value):
            start = place if start < 0 else start
        elif start >= 0:
            yield start, place
            start = -1
    if start >= 0:
        yield start, len(values)


def _trimmed(first: int, values: "array[float]") -> Line:
    start, end = 0, len(values)
    while start < end and math.isnan(values[start]):
        start += 1
    while end > start and math.isnan(values[end - 1]):
        end -= 1
    return Line(first=first + start, values=values[start:end]) if start < end else EMPTY
