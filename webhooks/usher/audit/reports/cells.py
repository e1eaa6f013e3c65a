"""Cells of tables: a value to sort by, and pieces that say how each text looks; and the units of their sums.

page.js draws the same pieces; a test compares what both make of one table.
"""

from typing import Final, TypeAlias

from msgspec import Struct

from usher.audit.reports import numbers
from usher.audit.reports.html_elements import Html, element, joined, visible

Piece: TypeAlias = tuple[str, str] | tuple[str, str, "str | float | tuple[str, ...]"]
"""The look, the text, and what the look needs besides: a fragment, a share, lines, a class."""

_TAGS: Final = {"strong": "strong", "code": "code"}


_PLACES: Final = ("#", "https://", "http://")


_CLASSES: Final = {"text": None, "strong": None, "code": None}


class Cell(Struct, frozen=True):
    """`sort` is a number, or None for what has no value and comes last; texts sort by their own words."""

    pieces: tuple[Piece, ...]
    sort: float | None = None

    @property
    def text(self) -> str:
        return " ".join(piece[1] for piece in self.pieces)


def text(value: str, missing: str = "") -> Cell:
    return Cell((("text", value),) if value else (("muted", missing),) if missing else ())


def number(value: float | None, shown: str) -> Cell:
    """A number with the text that shows it; muted where it has no value."""
    return Cell((("text" if value is not None else "muted", shown),), sort=value)


def bar(value: float | None, shown: str) -> Cell:
    """A share from 0 to 1, drawn and written."""
    return number(None, shown) if value is None else Cell((("bar", shown, round(min(1.0, value), 4)),), sort=value)


def badge(value: str, look: str, rank: float | None = None) -> Cell:
    """A word in the colours of the class `look`; `rank` sorts it."""
    return Cell((("badge", value, look),), sort=rank)


def age(start: str, end: str) -> Cell:
    """How long ago it began, with the time itself as its title."""
    seconds = numbers.seconds_between(start, end)
    if seconds is None:
        return Cell((("muted", "not known"),))
    return Cell((("time", numbers.lasting(seconds), numbers.minute(start)),), sort=seconds)


def lines(*pieces: Piece | None, sort: float | None = None) -> Cell:
    """One below the other; those without text are left out."""
    return Cell(tuple(each for each in pieces if each is not None and each[1]), sort=sort)


def html(cell: Cell) -> Html:
    return joined(*map(_html, cell.pieces))


def _html(piece: Piece) -> Html:
    look, words = piece[0], piece[1]
    extra = piece[2] if len(piece) > 2 else ""
    match look:
        case "link":
            # A place of the page, or one that a reader may go to; no other scheme, because some run programs.
            return element("a", words, href=str(extra) if str(extra).startswith(_PLACES) else None)
        case "badge":
            return element("span", words, class_=f"badge {extra}")
        case "time":
            return element("span", words, title=str(extra))
        case "bar":
            return joined(drawn_share(float(extra) if isinstance(extra, float) else 0.0), element("span", words))
        case "more":
            items = extra if isinstance(extra, tuple) else ()
            return element(
                "details", element("summary", words), element("ul", *(element("li", each) for each in items))
            )
        case _:
            return element(_TAGS.get(look, "span"), words, class_=_CLASSES.get(look, look))


def drawn_share(value: float) -> Html:
    """A bar for a share from 0 to 1, without words."""
    return element(
        "svg",
        element("rect", class_="track", width="100", height="8"),
        element("rect", class_="fill", width=f"{value * 100:.2f}".rstrip("0").rstrip("."), height="8"),
        class_="bar",
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def order(cell: Cell) -> float | None:
    """The value to sort by; equal numbers make equal bytes, whether a document was read or made."""
    return int(cell.sort) if cell.sort is not None and cell.sort == int(cell.sort) else cell.sort


def data(piece: Piece) -> list[object]:
    """A piece as page.js reads it; texts are those that HTML shows."""
    if len(piece) == 2:
        return [piece[0], visible(piece[1])]
    extra = piece[2]
    if isinstance(extra, tuple):
        return [piece[0], visible(piece[1]), [visible(each) for each in extra]]
    return [piece[0], visible(piece[1]), visible(extra) if isinstance(extra, str) else extra]


class SumUnit(Struct, frozen=True, kw_only=True):
    """A number between two texts, with the digits of `PAGE.money` or of `numbers.plain`."""

    before: str = ""
    after: str = ""
    money: bool = False
    missing: str = numbers.NOT_MEASURED
    """Said where no row has a value."""
    needs_all: bool = False
    """Whether a single row without a value leaves the sum out, because it would be too small."""

    def data(self) -> dict[str, str | bool]:
        """As page.js reads it."""
        return {
            "before": visible(self.before),
            "after": self.after,
            "money": self.money,
            "missing": self.missing,
            "whole": self.needs_all,
        }


SUM_OF_HOURS: Final = SumUnit(after=" GPU-h")

SUM_OF_NUMBERS: Final = SumUnit()


def sum_of_money(currency: str, *, needs_all: bool = False) -> SumUnit:
    return SumUnit(
        before=f"{currency} ", money=True, missing="" if needs_all else numbers.NOT_PRICED, needs_all=needs_all
    )
