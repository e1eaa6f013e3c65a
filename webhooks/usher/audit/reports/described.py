"""Tables described once, in tables.yaml: pages, Markdown and text render the names, units and meanings of its columns.

A column says for each form what its heading is, and stands only in forms that it has a heading for. What a form shows
in a way of its own is a function of the column, which code adds. In Markdown a hostile name changes nothing of the
page, and a long one is cut.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from usher.audit.document import Subject
from usher.audit.reports import cells, data_tables, entry_words, html_tables, numbers
from usher.audit.reports.html_elements import Html, Section
from usher.audit.reports.numbers import PAGE, TEXT
from usher.check.formats import markdown as formats_markdown

Row = TypeVar("Row")
Read_contra = TypeVar("Read_contra", contravariant=True)
"""A row as a column reads it."""

ROWS: Final = 20
"""Rows that a table in Markdown shows."""
_MAX_TEXT: Final = 400
"""Characters of one text, so that one name cannot fill the report."""
_WORD: Final = 40
"""Characters at the end of a cut text in which a space is looked for, so that it ends with a whole word."""


class Unit(Struct, frozen=True, kw_only=True):
    """How forms write the numbers of a column; the functions take a number or None, and what a missing one says."""

    text: Callable[[float | None, str], str]
    page: Callable[[float | None, str], str]
    markdown: Callable[[float | None, str], str] | None = None
    """None where the text is harmless there."""
    missing: str
    sum: cells.SumUnit | None = None
    """How a page adds them up; None where they do not add up."""
    drawn: bool = False
    """Whether a page draws them as a bar, too."""

    def cell(self, amount: "Amount") -> cells.Cell:
        shown = self.page(amount.value, self.missing if amount.missing is None else amount.missing)
        made = cells.bar(amount.value, shown) if self.drawn else cells.number(amount.value, shown)
        return cells.Cell((*made.pieces, ("muted", amount.note)), sort=made.sort) if amount.note else made


def _count_text(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:,}"


COUNT: Final = Unit(text=_count_text, page=_count_text, missing=numbers.NOT_KNOWN, sum=cells.SUM_OF_NUMBERS)
DEVICES: Final = Unit(text=TEXT.number, page=PAGE.number, missing=numbers.NOT_KNOWN, sum=cells.SUM_OF_NUMBERS)
"""GPUs and other accelerators."""
GPUS: Final = Unit(text=TEXT.gpus, page=PAGE.gpus, missing=numbers.NOT_KNOWN)
PLAIN: Final = Unit(text=numbers.plain, page=numbers.plain, missing=numbers.NOT_MEASURED)
HOURS: Final = Unit(
    text=lambda value, _: TEXT.hours(value),
    page=lambda value, _: PAGE.hours(value),
    missing=numbers.NOT_MEASURED,
    sum=cells.SUM_OF_HOURS,
)
SHARE: Final = Unit(text=TEXT.share, page=PAGE.share, missing=numbers.NOT_MEASURED)
DRAWN_SHARE: Final = Unit(text=TEXT.share, page=PAGE.share, missing=numbers.NOT_MEASURED, drawn=True)


def money(currency: str, *, needs_all: bool = False) -> Unit:
    """Amounts of money; `needs_all` leaves a sum out where one of its rows has no amount."""
    return Unit(
        text=lambda value, missing: TEXT.money(value, currency, missing),
        page=lambda value, missing: PAGE.money(value, currency, missing),
        markdown=lambda value, missing: TEXT.money(value, prose(currency), missing),
        missing=numbers.NOT_PRICED,
        sum=cells.sum_of_money(currency, needs_all=needs_all),
    )


def price(currency: str) -> Unit:
    """Prices of one GPU for one hour, always with cents."""
    return Unit(
        text=lambda value, missing: TEXT.price(value, currency, missing),
        page=lambda value, missing: PAGE.price(value, currency, missing),
        missing=numbers.NOT_PRICED,
    )


_UNITS: Final[Mapping[str, Unit | Callable[[str], Unit]]] = {
    "count": COUNT,
    "devices": DEVICES,
    "plain": PLAIN,
    "hours": HOURS,
    "share": SHARE,
    "drawn share": DRAWN_SHARE,
    "money": money,
    "whole money": lambda currency: money(currency, needs_all=True),
    "price": price,
}
"""By their names in tables.yaml; those of money follow from a currency."""


class Amount(Struct, frozen=True):
    """A number of a row, or of the last one, which sums up the others."""

    value: float | None
    missing: str | None = None
    """The words in its place where it is missing; None for the words of the unit."""
    note: str = ""
    """The small text below it on a page."""


class Column(html_tables.Column, Generic[Read_contra], frozen=True, kw_only=True):
    """`value` is a number where the column has a unit, else a text."""

    title: str = ""
    """Its heading on a page; empty where a page does not show it."""
    name: str = ""
    """Its heading in Markdown and text; empty where they do not show it."""
    value: Callable[[Read_contra], Any] = lambda _: None
    unit: Unit | None = None
    missing: Callable[[Read_contra], str] | None = None
    """The words in the place of a missing number, where the reason depends on the row."""
    instead: Callable[[Read_contra], str] = lambda _: ""
    """The words in the place of the value, in rows that the column does not apply to; empty for all other rows."""
    empty: str = ""
    """The words on a page in the place of an empty text."""
    cell: Callable[[Read_contra], cells.Cell] | None = None
    """The cell on a page, where it is more than the value."""
    plain: Callable[[Read_contra], str] | None = None
    """The cell in text, where it is not the value with its unit."""
    prose: Callable[[Read_contra], str] | None = None
    """The cell in Markdown, where it is more than the value."""
    note: Callable[[Read_contra], str] = lambda _: ""
    """The small text below a number on a page."""

    def amount(self, row: Read_contra) -> Amount:
        return Amount(self.value(row), self.missing(row) if self.missing is not None else None, self.note(row))

    def on_page(self, row: Read_contra) -> cells.Cell:
        if instead := self.instead(row):
            return cells.text("", instead)
        if self.cell is not None:
            return self.cell(row)
        return cells.text(self.value(row), self.empty) if self.unit is None else self.total_on_page(self.amount(row))

    def total_on_page(self, amount: Amount | None) -> cells.Cell:
        return cells.text("") if amount is None or self.unit is None else self.unit.cell(amount)

    def written(self, row: Read_contra) -> str:
        """The cell in text."""
        if instead := self.instead(row):
            return instead
        if self.plain is not None:
            return self.plain(row)
        value = self.value(row)
        return str(value) if self.unit is None else self.unit.text(value, self.unit.missing)

    def in_markdown(self, row: Read_contra) -> str:
        if instead := self.instead(row):
            return instead
        if self.prose is not None:
            return self.prose(row)
        return prose(str(self.value(row)), empty="") if self.unit is None else self.total_in_markdown(self.amount(row))

    def total_in_markdown(self, amount: Amount | None) -> str:
        if amount is None or self.unit is None:
            return ""
        write = self.unit.markdown or self.unit.text
        return write(amount.value, self.unit.missing if amount.missing is None else amount.missing)

    @property
    def key(self) -> str:
        return self.title or self.name


class Table(Struct, Generic[Row], frozen=True, kw_only=True):
    caption: str
    """On a page."""
    title: str = ""
    """In Markdown."""
    name: str = ""
    """The fragment that leads to it on a page."""
    columns: Sequence[Column[Row]]
    rows: Sequence[Row]
    filters: Mapping[str, tuple[str, Callable[[Row], str]]] = field(default_factory=dict)
    """The title and the choice of a row for each filter of a page, by its name."""
    fragment: Callable[[Row], str] = lambda _: ""
    """The fragment that leads to a row on a page; empty for a row without one."""
    adds: Callable[[Row], bool] | None = None
    """Whether the sum has a row; None where it has all."""
    total: Mapping[str, Amount] = field(default_factory=dict)
    """The amounts of the last row, by the key of their column; empty for no sum."""
    last: Row | None = None
    """A row of its own below the others on a page."""
    sum_of: str = ""
    """Which rows the sum has, beside its name on a page."""
    part: str = ""
    empty: str = "No entries."
    """As `tables.Table` has them."""
    most: int = ROWS
    """Rows in Markdown."""
    order: Sequence[str] = ()
    """The headings in Markdown; empty for the order of the columns."""

    def html(self) -> Html:
        """The table on a page."""
        columns = [each for each in self.columns if each.title]
        return html_tables.html(
            html_tables.Table(
                name=self.name,
                caption=self.caption,
                columns=tuple(columns),
                rows=[
                    html_tables.Row(
                        cells=tuple(each.on_page(row) for each in columns),
                        id=self.fragment(row),
                        facets=tuple(choice(row) for _, choice in self.filters.values()),
                        adds=self.adds is None or self.adds(row),
                    )
                    for row in self.rows
                ],
                filters={name: title for name, (title, _) in self.filters.items()},
                total=self._last(columns),
                part=self.part,
                empty=self.empty,
            )
        )

    def section(self, lead: str = "", *, title: str = "") -> Section:
        """The section of a page that has this table alone."""
        name = self.name.removesuffix("-table")
        return Section(name=name, title=title or self.caption, count=len(self.rows), lead=lead, body=self.html())

    def _last(self, columns: Sequence[Column[Row]]) -> tuple[cells.Cell, ...]:
        if self.last is not None:
            return tuple(each.on_page(self.last) for each in columns)
        if not self.total:
            return ()
        first = cells.lines(("plain", "Sum"), ("muted", self.sum_of)) if self.sum_of else cells.text("", "Sum")
        return (first, *(each.total_on_page(self.total.get(each.key)) for each in columns[1:]))

    def markdown(self) -> "MarkdownTable":
        columns = [each for each in self.columns if each.name]
        if self.order:
            columns.sort(key=lambda each: self.order.index(each.name))
        sums = tuple(each.total_in_markdown(self.total.get(each.key)) for each in columns[1:])
        return MarkdownTable(
            title=self.title or self.caption,
            header=tuple(each.name for each in columns),
            rows=[tuple(each.in_markdown(row) for each in columns) for row in self.rows[: self.most]],
            left=max(0, len(self.rows) - self.most),
            total=("**sum**", *sums) if self.total else (),
            most=self.most,
        )

    def text(self, most: int) -> tuple[list[str], list[list[str]]]:
        """The headings, and the cells of the first rows."""
        columns = [each for each in self.columns if each.name]
        return [each.name for each in columns], [[each.written(row) for each in columns] for row in self.rows[:most]]


_TABLES: Final = msgspec.yaml.decode(
    Path(__file__).with_name("tables.yaml").read_bytes(), type=dict[str, dict[str, Any]]
)

Ways = Mapping[str, Mapping[str, Any]]
"""The additions of code to the columns of a table, by their keys: cells, and values that are computed."""


def columns(table: str, ways: Ways, *, currency: str = "") -> tuple[Column[Any], ...]:
    """The columns of a table of tables.yaml; `currency` is that of all its money."""
    found = [_column(dict(each), currency) for each in _TABLES[table]["columns"]]
    if unknown := ways.keys() - {each.key for each in found}:
        raise KeyError(f"{table}: {unknown}")
    return tuple(replace(each, **ways.get(each.key, {})) for each in found)


def _column(fields: dict[str, Any], currency: str) -> Column[Any]:
    if "word" in fields:
        word = entry_words.GLOSSARY[fields.pop("word")]
        fields = {"title": word.title, "meaning": word.meaning, **fields}
    if "value" in fields:
        fields["value"] = data_tables.reader_of(fields["value"])
    if "missing" in fields:
        words = fields["missing"]
        fields["missing"] = lambda _: words
    if "unit" in fields:
        made = _UNITS[fields["unit"]]
        unit = made if isinstance(made, Unit) else made(currency)
        fields |= {"unit": unit, "numeric": True, "adds": unit.sum if fields.get("adds") else None}
    return Column(**fields)


def table(
    name: str,
    rows: Sequence[Row],
    *,
    ways: Ways | None = None,
    currency: str = "",
    choices: Mapping[str, Callable[[Row], str]] | None = None,
    **table_fields: Any,  # noqa: ANN401 - fields of Table
) -> Table[Row]:
    """The table of this name in tables.yaml.

    Args:
        ways: what code adds to its columns.
        choices: the choice of a row for each filter without a field of its name.
        table_fields: other fields of the table.
    """
    found = {"columns": columns(name, ways or {}, currency=currency), **table_fields}
    filters = {
        key: (title, (choices or {}).get(key) or data_tables.reader_of(key))
        for key, title in _TABLES[name].get("filters", {}).items()
    }
    return Table(**{**_TABLES[name], "filters": filters, **found}, rows=rows)


class MarkdownTable(Struct, frozen=True, kw_only=True):
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    """Cells in Markdown, worst first; each row has as many as the header."""
    total: tuple[str, ...] = ()
    """The last row, which stays when rows are cut; empty for no sum."""
    most: int = ROWS
    left: int = 0
    """Rows beyond `most`, which are not written."""
    also: int = 0
    """Entries that are in no row."""

    def text(self, room: int) -> str:
        """The table in at most `room` characters, with the number of rows left out; empty if no row fits."""
        head = f"\n### {self.title}\n\n{_row(self.header)}{_row(['---'] * len(self.header))}"
        last = _row(self.total) if self.total else ""
        room -= size(head) + size(last) + size(_more_rows(len(self.rows) + self.left + self.also))
        shown: list[str] = []
        for row in map(_row, self.rows[: self.most]):
            room -= size(row)
            if room < 0:
                break
            shown.append(row)
        if not shown:
            return ""
        more = len(self.rows) - len(shown) + self.left + self.also
        return f"{head}{''.join(shown)}{last}{_more_rows(more) if more else ''}"


def prose(text: str, *, empty: str | None = None) -> str:
    """A text as it is; `empty` in the place of one without characters, where it is given."""
    return empty if empty is not None and not text else formats_markdown.prose(_shortened(text))


def code(text: str) -> str:
    """A name in a span of code."""
    # A bar ends a cell, within a span of code too.
    return formats_markdown.code(_shortened(text)).replace("|", "\\|")


def object_code(value: Subject) -> str:
    """`Job ml-research/bert` in a span of code."""
    return code(entry_words.subject(value))


def placed_code(value: Any) -> str:  # noqa: ANN401 - a workload, or a finding
    """The object of an entry, with the file and the line of a manifest."""
    return object_code(value.subject) + (f" {code(value.place)}" if value.place else "")


OF_SUBJECT: Final = {
    "cell": lambda row: entry_words.named(row.subject),
    "prose": lambda row: object_code(row.subject),
}
"""The ways of a column with the object of a row."""


def size(text: str) -> int:
    """Characters, as UTF-16 counts them."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _shortened(text: str) -> str:
    if len(text) <= _MAX_TEXT:
        return text
    kept = text[: _MAX_TEXT - 1]
    place = kept.rfind(" ", _MAX_TEXT - _WORD)
    return f"{kept[:place] if place > 0 else kept}…"


def _more_rows(number: int) -> str:
    return f"\nand {number:,} more\n"


def _row(cells_of_row: Iterable[str]) -> str:
    return f"| {' | '.join(cells_of_row)} |\n"
