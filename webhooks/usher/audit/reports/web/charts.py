"""Charts as SVG and text, and tiles of numbers.

Words stay text of the page: they keep their size on a narrow screen and are read aloud. Lengths are in thousandths of
the width; nothing depends on colour alone.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from usher.audit.reports.web.markup import Html, element, joined

_WIDTH: Final = 1_000
_HEIGHT: Final = 100
_MARK: Final = 8


class Part(Struct, frozen=True, kw_only=True):
    """A stretch of a bar; `look` is its class."""

    look: str
    amount: float
    title: str
    """Its name with number and unit, as its tooltip."""


def stacked(parts: Sequence[Part], whole: float) -> Html:
    """A bar of parts, whose full width is `whole`."""
    return element(
        "svg",
        element("rect", class_="track", width=_WIDTH, height=10),
        *_stretches(parts, whole),
        class_="stacked",
        viewBox=f"0 0 {_WIDTH} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label="; ".join(part.title for part in parts if part.amount) or "empty",
    )


def _stretches(parts: Sequence[Part], whole: float) -> Iterator[Html]:
    start = 0.0
    for part in parts:
        width = _length(part.amount, whole)
        if width:
            yield element(
                "rect", element("title", part.title), class_=part.look, x=_text(start), width=_text(width), height=10
            )
        start += width


def legend(parts: Sequence[Part]) -> Html:
    """A list of the looks of the parts, each with its title."""
    entries = (element("li", element("i", class_=f"key {part.look}"), part.title) for part in parts)
    return element("ul", *entries, class_="legend")


class Goal(Struct, frozen=True, kw_only=True):
    """A value beside the range where it should be, on a scale from 0 to `most`."""

    low: float
    high: float
    most: float
    actual: float | None
    label: str
    missed: bool = False
    """Whether the value is outside of the range."""


def range_bar(goal: Goal) -> Html:
    """A band for the range, and a mark whose middle is the value."""
    low, high = _length(goal.low, goal.most), _length(goal.high, goal.most)
    mark = None
    if goal.actual is not None:
        at = min(max(0.0, _length(goal.actual, goal.most) - _MARK / 2), _WIDTH - _MARK)
        mark = element(
            "rect", class_="mark missed" if goal.missed else "mark", x=_text(at), y=0, width=_MARK, height=10
        )
    return element(
        "svg",
        element("rect", class_="track", y=3, width=_WIDTH, height=4),
        element("rect", class_="goal", x=_text(low), y=1, width=_text(max(0.0, high - low)), height=8),
        mark,
        class_="stacked",
        viewBox=f"0 0 {_WIDTH} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=goal.label,
    )


class Point(Struct, frozen=True, kw_only=True):
    at: float
    """Where it stands from 0 (first) to 1 (last)."""
    value: float | None
    """None interrupts the line."""
    title: str
    unsure: bool = False
    """Drawn hollow."""


def line(points: Sequence[Point], label: str) -> Html:
    """A line from 0 up, with a dot for each point."""
    most = max((point.value for point in points if point.value is not None), default=0.0) or 1.0
    shown = [(point, _place(point, most)) for point in points if point.value is not None]
    return element(
        "svg",
        element("path", class_="axis", d=f"M0 {_HEIGHT}H{_WIDTH}"),
        *(element("path", class_="line", d=Html(path)) for path in _paths(points, most)),
        *(
            element("path", element("title", point.title), class_="dot unsure" if point.unsure else "dot", d=f"M{at}h0")
            for point, at in shown
        ),
        class_="trend",
        viewBox=f"-12 -8 {_WIDTH + 24} {_HEIGHT + 16}",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
    )


def _paths(points: Sequence[Point], most: float) -> Iterator[str]:
    """One path for each stretch without a gap."""
    places: list[str] = []
    for point in points:
        if point.value is not None:
            places.append(_place(point, most))
            continue
        if len(places) > 1:
            yield "M" + "L".join(places)
        places = []
    if len(places) > 1:
        yield "M" + "L".join(places)


def _place(point: Point, most: float) -> str:
    height = _HEIGHT * (1 - (point.value or 0.0) / most)
    return f"{_text(point.at * _WIDTH)} {_text(height)}"


def _length(amount: float, whole: float) -> float:
    return max(0.0, min(1.0, amount / whole)) * _WIDTH if whole > 0 else 0.0


def _text(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


def scale(first: str, last: str) -> Html:
    """The words at the two ends of a bar."""
    return element("span", element("span", first), element("span", last), class_="scale")


def row(label: Html | str, bar: Html, amount: Html | str) -> Html:
    """A bar between its name and its number."""
    return joined(
        element("span", label, class_="name"),
        element("span", bar, class_="drawn"),
        element("span", amount, class_="amount"),
    )


def tile(
    label: Html | str, value: Html | str | None, note: str = "", change: Html | None = None, *, missing: str
) -> Html:
    """A number of the first screen with its name; `missing` takes the place of a number that is None."""
    return element(
        "div",
        element("span", label, class_="label"),
        element("span", missing, class_="value missing") if value is None else element("span", value, class_="value"),
        element("span", note, class_="note") if note else None,
        change,
        class_="tile",
    )
