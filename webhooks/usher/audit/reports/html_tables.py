"""Tables that sort, filter and turn pages, charts as SVG and text, and tiles of numbers.

Words stay text of the page: they keep their size on a narrow screen and are read aloud. Lengths are in thousandths of
the width; nothing depends on colour alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from usher.audit.reports import cells
from usher.audit.reports.html_elements import Html, element, joined, visible
from usher.check.formats import wording

PAGE: Final = 100
"""Rows that a page shows at once, by Python and by page.js."""

PHONE: Final = 10
"""Rows that it shows at once where each of them is a card, as on a phone."""

MOST: Final = 20_000
"""Rows that a page holds, so that browsers open it: 20,000 findings are about 8 MB."""

WIDE: Final = 10
"""Paper has smaller letters for a table with more columns."""

FEW: Final = 8
"""A table with no more rows needs no filter."""


class Column(Struct, frozen=True, kw_only=True):
    title: str
    meaning: str = ""
    """Its formula or explanation, as a tooltip."""
    numeric: bool = False
    """Whether its cells sort by number, and stand on the right."""
    ranked: bool = False
    """Whether its cells sort by number, though they are words."""
    heads: bool = False
    """Whether its cells name their rows."""
    narrow: bool = False
    """Whether its words are few and short."""
    words: bool = False
    """Whether it has sentences, so that it gets the room that other columns leave."""
    folded: bool = False
    """Whether a screen shows it only after somebody asked for all columns; paper always does."""
    adds: cells.SumUnit | None = None
    """The unit in which page.js adds up its cells, for the sum of rows that filters leave; None where they do not add
    up."""


class Row(Struct, frozen=True, kw_only=True):
    cells: tuple[cells.Cell, ...]
    facets: tuple[str, ...] = ()
    """Its value for each filter of the table."""
    id: str = ""
    """The fragment that leads to it; letters, digits and hyphens."""
    adds: bool = True
    """Whether the sum of its table has it."""


class Table(Struct, frozen=True, kw_only=True):
    name: str
    """The fragment that leads to it."""
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    """In the order in which they are shown first."""
    filters: Mapping[str, str] = field(default_factory=dict)
    """The title of each filter by its name, in the order of `Row.facets`."""
    total: tuple[cells.Cell, ...] = ()
    """The last row, which stays; empty for no sum."""
    part: str = ""
    """The words after `Sum` in the last row while filters hide some of the rows: then page.js adds up the columns that
    have a unit. Empty where the last row is not a sum."""
    empty: str = "No entries."
    """Said where no row is there."""


def query(**chosen: str) -> str:
    """The part of a link to some rows after the fragment of a table and a `?`: `q` for words, or filters."""
    return urlencode({name: visible(_value(value)) for name, value in chosen.items()})


def exactly(cell: cells.Cell) -> str:
    """The words to search for that find the rows with an equal cell, and no others."""
    return f'"{" ".join(visible(piece[1]) for piece in cell.pieces)}"'


def html(table: Table) -> Html:
    """The table, its filters, and the data of its rows for page.js."""
    if not table.rows:
        return element("p", table.empty, class_="empty")
    number = len(table.rows)
    table = replace(table, rows=table.rows[:MOST])
    cut = f"The page holds {MOST:,} of {number:,} rows, the first ones; --format json has all of them."
    return element(
        "div",
        element("p", cut, class_="notice") if number > MOST else None,
        _form(table) if len(table.rows) > FEW else None,
        _all_columns(table),
        element(
            "div",
            _table(table),
            class_="scroll wide" if len(table.columns) > WIDE else "scroll",
            tabindex="0",
            role="region",
            aria_label=f"Table: {table.caption}",
        ),
        _turning(table) if len(table.rows) > PHONE else None,
        _explained(table),
        script(f"data-{table.name}", _data(table)),
        class_="table",
        id=table.name,
        data_table=table.name,
    )


def _all_columns(table: Table) -> Html | None:
    """Hidden without JavaScript, because then all columns are there."""
    if not any(column.folded for column in table.columns):
        return None
    label = f"Show all {len(table.columns)} columns"
    return element("button", label, type="button", class_="columns", aria_pressed="false", hidden=True)


def _explained(table: Table) -> Html | None:
    """The meaning of the headings, for readers who have no mouse to rest on them."""
    known = [column for column in table.columns if column.meaning]
    if not known:
        return None
    entries = (element("div", element("dt", each.title), element("dd", each.meaning)) for each in known)
    summary = element("summary", "What the columns mean")
    return element("details", summary, element("dl", *entries, class_="words"), class_="explained")


def script(name: str, value: object) -> Html:
    """JSON that page.js reads by the id; it cannot end its element."""
    text = orjson.dumps(value).decode()
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{name}">{text}</script>')


def _table(table: Table) -> Html:
    head = [
        element("th", column.title, scope="col", class_=_look(column), title=column.meaning or None)
        for column in table.columns
    ]
    return element(
        "table",
        element("caption", table.caption, class_="hidden"),
        element("thead", element("tr", *head)),
        element("tbody", *(_row(table.columns, row) for row in table.rows[:PAGE])),
        element("tfoot", _row(table.columns, Row(cells=table.total))) if table.total else None,
    )


def _row(columns: Sequence[Column], row: Row) -> Html:
    made = [
        element(
            # A heading without words is a riddle to who listens.
            "th" if column.heads and cell.pieces else "td",
            cells.html(cell),
            scope="row" if column.heads and cell.pieces else None,
            class_=_look(column),
            data_title=column.title,
        )
        for column, cell in zip(columns, row.cells, strict=True)
    ]
    return element("tr", *made, id=row.id or None)


def _look(column: Column) -> str | None:
    width = "number" if column.numeric else "narrow" if column.narrow else "words" if column.words else ""
    return " ".join(filter(None, (width, "more" if column.folded else ""))) or None


def _form(table: Table) -> Html:
    name = table.name
    chosen = [_select(table, index, key, title) for index, (key, title) in enumerate(table.filters.items())]
    shown = wording.count(len(table.rows), "row")
    return element(
        "form",
        element(
            "label",
            element("span", "Search"),
            element("input", type="search", name="q", placeholder="any word", autocomplete="off"),
            class_="search",
        ),
        *chosen,
        element("button", "Clear", type="reset"),
        element("output", shown, role="status", aria_live="polite"),
        class_="filters",
        role="search",
        aria_label=f"Filters: {table.caption}",
        data_for=name,
        hidden=True,
    )


def _select(table: Table, index: int, key: str, title: str) -> Html | None:
    counts = Counter(row.facets[index] for row in table.rows)
    if len(counts) < 2:
        return None
    options = [
        element("option", f"{value or 'without'} ({number:,})", value=_value(value))
        for value, number in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    ]
    return element(
        "label",
        element("span", title),
        element("select", element("option", "all", value=""), *options, name=key),
    )


def _value(facet: str) -> str:
    """An empty facet is a choice as well, and differs from no choice."""
    return facet or "-"


def _turning(table: Table) -> Html:
    return element(
        "nav",
        element("button", "Previous", type="button", data_turn="-1", disabled=True),
        element("span", f"Rows 1 to {min(PAGE, len(table.rows)):,} of {len(table.rows):,}", class_="place"),
        element("button", "Next", type="button", data_turn="1"),
        class_="turning",
        aria_label=f"Pages: {table.caption}",
        data_all=PAGE,
        data_phone=PHONE,
        data_rows=len(table.rows),
        hidden=len(table.rows) <= PAGE,
    )


def _data(table: Table) -> dict[str, object]:
    """Equal cells, pieces and values of filters are there once, because most of them repeat."""
    known: dict[cells.Cell, int] = {}
    pieces: dict[cells.Piece, int] = {}
    values: list[dict[str, int]] = [{} for _ in table.filters]
    rows = [
        [
            row.id,
            [
                values[index].setdefault(visible(_value(value)), len(values[index]))
                for index, value in enumerate(row.facets)
            ],
            *(known.setdefault(cell, len(known)) for cell in row.cells),
        ]
        for row in table.rows
    ]
    return {
        "columns": [
            {
                "number": column.numeric or column.ranked,
                "largest": column.numeric,
                "look": _look(column) or "",
                "heads": column.heads,
                "adds": column.adds.data() if table.part and column.adds else None,
            }
            for column in table.columns
        ],
        "part": table.part,
        "apart": [index for index, row in enumerate(table.rows) if table.part and not row.adds],
        "filters": [{"name": key, "values": list(found)} for key, found in zip(table.filters, values, strict=True)],
        "cells": [
            [cells.order(cell), *(pieces.setdefault(piece, len(pieces)) for piece in cell.pieces)] for cell in known
        ],
        "pieces": [cells.data(piece) for piece in pieces],
        "rows": rows,
    }


_WIDTH: Final = 1_000
_HEIGHT: Final = 100
_MARK: Final = 8


class Part(Struct, frozen=True, kw_only=True):
    """A stretch of a bar; `look` is its class."""

    look: str
    amount: float
    title: str
    """Its name with number and unit, as its tooltip."""


def stacked(parts: Sequence[Part], total: float) -> Html:
    """A bar of parts, whose full width is `total`."""
    return element(
        "svg",
        element("rect", class_="track", width=_WIDTH, height=10),
        *_stretches(parts, total),
        class_="stacked",
        viewBox=f"0 0 {_WIDTH} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label="; ".join(part.title for part in parts if part.amount) or "empty",
    )


def _stretches(parts: Sequence[Part], total: float) -> Iterator[Html]:
    start = 0.0
    for part in parts:
        width = _length(part.amount, total)
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


def _length(amount: float, total: float) -> float:
    return max(0.0, min(1.0, amount / total)) * _WIDTH if total > 0 else 0.0


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


def _large(text: str) -> Html | str:
    """The number large, and its unit beside it: `5`, `5,320`, `20,996 GPU-h`, `2 to 3 GPUs`, `USD 39,160`."""
    if " " not in text:
        return text
    if text[:1].isdecimal():
        number, _, unit = text.rpartition(" ")
        return joined(number, " ", element("small", unit))
    unit, _, number = text.partition(" ")
    return joined(element("small", unit), " ", number)


def tile(label: Html | str, value: str | None, note: str = "", change: Html | None = None, *, missing: str) -> Html:
    """A number of the first screen with its name; `missing` takes the place of a number that is None."""
    return element(
        "div",
        element("span", label, class_="label"),
        element("span", missing, class_="value missing")
        if value is None
        else element("span", _large(value), class_="value"),
        element("span", note, class_="note") if note else None,
        change,
        class_="tile",
    )
