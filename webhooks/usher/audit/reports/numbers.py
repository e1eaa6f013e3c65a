"""Numbers, money, shares and times as people read them, each with its unit.

Two forms write numbers: text (with Markdown) and pages. A number that was not measured has no digits in either form,
and is never 0.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

NOT_MEASURED: Final = "not measured"
NOT_PRICED: Final = "not priced"
NOT_KNOWN: Final = "not known"
GPUS_NOT_KNOWN: Final = "GPUs not known"

_MOST_NAMES: Final = 4
_DAY: Final = 86_400
_GIB: Final = 2**30
_LONGEST: Final = 63


class Form(Struct, frozen=True, kw_only=True):
    """How one form writes numbers."""

    gpu_hour: str
    """Its unit of GPU time."""
    currency_first: bool
    cents_below: float
    """Amounts of money below this have two digits after the point."""
    fine: bool
    """Whether small shares have one digit after the point, small parts of a GPU two, and GPU-hours as many as say
    something. Else each number has at most one."""

    def number(self, value: float | None, missing: str = NOT_KNOWN) -> str:
        """`1,234.5`, `8`, `0.6`: at most one digit after the point, so that parts add up; fine ones of small parts."""
        if value is None:
            return missing
        digits = 2 if self.fine and 0 < abs(value) < 0.05 else 1
        shown = f"{value:,.{digits}f}".removesuffix(".0")
        return "0" if shown == "-0" else shown

    def between(self, most: float, least: float | None = None) -> str:
        """`6`; `4 to 6` where some are there at times alone: while a rollout or an autoscaler adds pods."""
        last, first = self.number(most), self.number(most if least is None else least)
        return last if first == last else f"{first} to {last}"

    def gpus(self, value: float | None, missing: str = NOT_KNOWN, *, least: float | None = None) -> str:
        """`1 GPU`, `512 GPUs`, `2 to 3 GPUs`."""
        if value is None:
            return missing
        shown = self.between(value, least)
        return f"{shown} {'GPU' if self.number(value) == '1' else 'GPUs'}"

    def others(self, found: Mapping[str, float]) -> str:
        """`256 google.com/tpu, 4 nvidia.com/mig-1g.10gb`: accelerators by their resources."""
        shown = [f"{self.number(amount)} {name}" for name, amount in sorted(found.items()) if amount]
        more = len(shown) - _MOST_NAMES
        return ", ".join([*shown[:_MOST_NAMES], f"and {more:,} more"] if more > 0 else shown)

    def accelerators(self, most: float | None, least: float | None, other: Mapping[str, float]) -> str:
        """`4 to 6 GPUs, 16 google.com/tpu`: GPUs and all other accelerators; 0 GPUs only where both are 0."""
        rest = self.others(other)
        if not most and most is not None and rest:
            return rest
        return ", ".join(filter(None, (self.gpus(most, GPUS_NOT_KNOWN, least=least), rest)))

    def hours(self, value: float | None) -> str:
        """`1,344 GPU-hours`, `20,996 GPU-h`."""
        if value is None:
            return NOT_MEASURED
        return f"{plain(value) if self.fine else self.number(value)} {self.gpu_hour}"

    def money(self, value: float | None, currency: str, missing: str = NOT_PRICED) -> str:
        """`2,251 USD`, `USD 39,160`; small amounts with cents."""
        if value is None:
            return missing
        return self._money(value, currency, digits=2 if 0 < abs(value) < self.cents_below else 0)

    def price(self, value: float | None, currency: str, missing: str = NOT_PRICED) -> str:
        """`USD 2.50`: always with cents."""
        return missing if value is None else self._money(value, currency, digits=2)

    def _money(self, value: float, currency: str, *, digits: int) -> str:
        amount = f"{value:,.{digits}f}"
        return f"{currency} {amount}" if self.currency_first else f"{amount} {currency}"

    def share(self, value: float | None, missing: str = NOT_MEASURED) -> str:
        """`45 %`. Text writes neither 0 % for a small share nor 100 % for nearly all; pages have a digit more."""
        if value is None:
            return missing
        percent = value * 100
        if not self.fine and 0 < percent < 0.5:
            return "under 1 %"
        if not self.fine and 99.5 <= percent < 100:
            return "over 99 %"
        return f"{percent:.{1 if self.fine and 0 < abs(percent) < 9.95 else 0}f} %"


TEXT: Final = Form(gpu_hour="GPU-hours", currency_first=False, cents_below=100, fine=False)
PAGE: Final = Form(gpu_hour="GPU-h", currency_first=True, cents_below=10, fine=True)


def plain(value: float | None, missing: str = NOT_MEASURED) -> str:
    """`1,204`, `0.5`; fractions only of small numbers."""
    if value is None:
        return missing
    if value != int(value) and abs(value) < 100:
        return f"{value:.{1 if abs(value) >= 1 else 2}f}".rstrip("0").rstrip(".")
    return f"{value:,.0f}"


def part(value: float | None, total: float | None) -> float | None:
    """The quotient; None where a number is missing or the whole is 0."""
    return value / total if value is not None and total else None


def memory(value: int | None) -> str:
    """`31 GiB`"""
    return NOT_MEASURED if value is None else f"{plain(value / _GIB)} GiB"


def short(name: str) -> str:
    """A name for a column: labels and namespaces of Kubernetes have at most 63 characters; longer ones are cut."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def days(seconds: float | None) -> str:
    """`7 days`, `26 hours`: for sentences."""
    if not seconds:
        return ""
    number, unit = (seconds / _DAY, "day") if seconds >= 2 * _DAY else (seconds / 3_600, "hour")
    return f"{number:,.0f} {unit}{'' if round(number) == 1 else 's'}"


def lasting(seconds: float | None, missing: str = NOT_MEASURED) -> str:
    """`40 min`, `1.5 h`, `26 d`: two digits are enough to act on."""
    if seconds is None:
        return missing
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3_600:
        return f"{seconds / 60:.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds / 3_600:.1f}".removesuffix(".0") + " h"
    return f"{seconds / _DAY:,.0f} d"


def age(since: str, now: str) -> str:
    """`3 days`, `5 hours`, `20 minutes`; empty where the beginning is not known."""
    first, last = moment(since), moment(now)
    if first is None or last is None or last < first:
        return ""
    seconds = (last - first).total_seconds()
    for unit, length in (("day", _DAY), ("hour", 3600), ("minute", 60)):
        number = int(seconds // length)
        if number >= 1:
            return f"{number:,} {unit if number == 1 else unit + 's'}"
    return "less than a minute"


def seconds_between(start: str, end: str) -> float | None:
    """Between two times of ISO 8601; None where one is empty or not a time."""
    first, last = moment(start), moment(end)
    return None if first is None or last is None else max(0.0, (last - first) / timedelta(seconds=1))


def moment(text: str) -> datetime | None:
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        return None
    return value if value.tzinfo else None


def minute(text: str) -> str:
    """`2026-11-23 06:00 UTC`; a text that is not a time stays as it is."""
    value = moment(text)
    return f"{value:%Y-%m-%d %H:%M} UTC" if value else text


def day(text: str) -> str:
    """`2026-11-23`"""
    value = moment(text)
    return f"{value:%Y-%m-%d}" if value else text
