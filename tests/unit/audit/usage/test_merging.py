"""Series on one grid: put together, bridged over short holes and cut."""

import math
from array import array

from hypothesis import given
from hypothesis import strategies as st

from usher.audit.usage import series
from usher.audit.usage.series import Line, Series

NAN = math.nan

values = st.lists(st.one_of(st.just(NAN), st.floats(0, 1)), max_size=30)


def line(*found: float, first: int = 0) -> Line:
    return Line(first=first, values=array("d", found))


def known(found: Line) -> dict[int, float]:
    return {point: found.at(point) for point in range(found.first, found.end) if not math.isnan(found.at(point))}


@given(st.lists(st.tuples(st.integers(0, 20), values), max_size=4))
def test_a_merged_line_has_the_first_known_value_of_each_point(parts: list[tuple[int, list[float]]]) -> None:
    expected: dict[int, float] = {}
    for first, found in parts:
        for point, value in enumerate(found, start=first):
            if not math.isnan(value):
                expected.setdefault(point, value)

    merged = series.merged_line([Series(labels={}, first=first, values=found) for first, found in parts])

    assert known(merged) == expected
    assert [merged.first, merged.end] == ([min(expected), max(expected) + 1] if expected else [0, 0])


def test_values_that_cannot_be_are_not_measured() -> None:
    found = series.merged_line(
        [Series(labels={}, first=0, values=[0.5, 9.2e18, -1, 0.5])], usable=lambda value: 0 <= value <= 1
    )

    assert known(found) == {0: 0.5, 3: 0.5}


@given(values)
def test_only_holes_of_at_most_two_points_are_bridged(found: list[float]) -> None:
    bridged = series.bridged(line(*found))

    for point, value in enumerate(found):
        if not math.isnan(value):
            assert bridged.at(point) == value
    for start, end in series.holes(found):
        filled = start > 0 and end - start <= 2
        for point in range(start, end):
            assert math.isnan(bridged.at(point)) != filled
            assert not filled or bridged.at(point) == found[start - 1]


@given(values, st.integers(-3, 33), st.integers(-3, 33))
def test_a_cut_line_has_the_points_between(found: list[float], start: int, end: int) -> None:
    whole = line(*found)

    part = series.cut_line(whole, max(start, 0), end)

    assert known(part) == {point: value for point, value in known(whole).items() if max(start, 0) <= point < end}
