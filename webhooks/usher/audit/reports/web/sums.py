"""How page.js writes the sum of the rows that filters leave: as `numbers` writes the cells above it."""

from typing import Final

from usher.audit.reports import numbers
from usher.audit.reports.web.markup import visible
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A number between two texts, with the digits of `PAGE.money` or of `numbers.plain`."""

    before: str = ""
    after: str = ""
    money: bool = False
    missing: str = numbers.NOT_MEASURED
    """Said where no row has a value."""
    whole: bool = False
    """Whether a single row without a value leaves the sum out, because it would be too small."""

    def data(self) -> dict[str, str | bool]:
        """As page.js reads it."""
        return {
            "before": visible(self.before),
            "after": self.after,
            "money": self.money,
            "missing": self.missing,
            "whole": self.whole,
        }


HOURS: Final = Unit(after=" GPU-h")
NUMBER: Final = Unit()


def money(currency: str, *, whole: bool = False) -> Unit:
    return Unit(before=f"{currency} ", money=True, missing="" if whole else numbers.NOT_PRICED, whole=whole)
