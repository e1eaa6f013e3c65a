"""Charts: lengths follow the numbers, and every number is there in words."""

import re

from hypothesis import given
from hypothesis import strategies as st

from usher.audit.reports import html_tables


def parts(*amounts: float) -> list[html_tables.Part]:
    return [html_tables.Part(look="idle", amount=amount, title=f"{amount:g} GPUs") for amount in amounts]


def widths(svg: str) -> list[float]:
    return [float(width) for width in re.findall(r'class="idle"[^>]* width="([\d.]+)"', svg)]


def test_the_parts_of_a_bar_follow_each_other_in_proportion() -> None:
    svg = html_tables.stacked(parts(1, 0, 3), total=8)

    assert widths(svg) == [125, 375]
    assert re.findall(r' x="([\d.]+)"', svg) == ["0", "125"]
    assert 'aria-label="1 GPUs; 3 GPUs"' in svg


@given(st.lists(st.floats(0, 1e9), max_size=5), st.floats(0, 1e9))
def test_no_part_is_longer_than_the_bar(amounts: list[float], whole: float) -> None:
    assert all(0 < width <= 1_000 for width in widths(html_tables.stacked(parts(*amounts), whole)) if width)


def test_a_goal_has_its_range_and_a_mark_for_the_value() -> None:
    svg = html_tables.range_bar(html_tables.Goal(low=0.65, high=0.85, most=1, actual=0.5, label="half"))

    assert re.findall(r'class="goal" x="650" y="1" width="200"', svg)
    assert 'class="mark" x="496" y="0" width="8"' in svg


def test_a_missed_goal_looks_different_and_its_mark_stays_within_the_bar() -> None:
    svg = html_tables.range_bar(html_tables.Goal(low=0, high=1, most=4, actual=4, label="late", missed=True))

    assert 'class="mark missed" x="992" y="0" width="8"' in svg


def test_a_goal_without_a_value_has_no_mark() -> None:
    assert "mark" not in html_tables.range_bar(
        html_tables.Goal(low=0, high=1, most=1, actual=None, label="not measured")
    )


def points(*values: float | None) -> list[html_tables.Point]:
    return [html_tables.Point(at=index / 4, value=value, title=str(value)) for index, value in enumerate(values)]


def test_a_gap_interrupts_a_line() -> None:
    svg = html_tables.line(points(10, 5, None, 5, 0), "falls")

    assert re.findall(r'class="line" d="([^"]*)"', svg) == ["M0 0L250 50", "M750 50L1000 100"]
    assert svg.count('class="dot"') == 4


def test_a_point_between_gaps_is_a_dot_alone() -> None:
    svg = html_tables.line(points(None, 5, None), "one")

    assert 'class="line"' not in svg
    assert svg.count('class="dot"') == 1


def test_a_line_of_zeros_lies_on_the_axis() -> None:
    assert 'class="line" d="M0 100L250 100"' in html_tables.line(points(0, 0), "flat")
