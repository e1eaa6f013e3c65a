"""Numbers for pages, each with its unit. A number that was not measured has no digits at all."""

from datetime import datetime, timedelta
from typing import Final

NOT_MEASURED: Final = "not measured"
NOT_PRICED: Final = "not priced"

_DAY: Final = 86_400
_GIB: Final = 2**30


def plain(value: float | None, missing: str = NOT_MEASURED) -> str:
    """`1,204`, `0.5`; fractions only of small numbers."""
    if value is None:
        return missing
    if value != int(value) and abs(value) < 100:
        return f"{value:.{1 if abs(value) >= 1 else 2}f}".rstrip("0").rstrip(".")
    return f"{value:,.0f}"


def devices(value: float | None, missing: str = "not known") -> str:
    """`122.7`, `8`, `0.6`: GPUs, with one digit after the point, so that parts add up; `0.02` of a small share."""
    if value is None:
        return missing
    return f"{value:,.{2 if 0 < abs(value) < 0.05 else 1}f}".removesuffix(".0")


def between(most: float, least: float | None) -> str:
    """`3`; `2 to 3` where some are there at times alone."""
    last, first = devices(most), devices(most if least is None else least)
    return last if first == last else f"{first} to {last}"


def gpus(value: float | None, missing: str = "not known", *, least: float | None = None) -> str:
    """`1 GPU`, `512 GPUs`, `2 to 3 GPUs`."""
    if value is None:
        return missing
    shown = between(value, least)
    return f"{shown} {'GPU' if shown == '1' else 'GPUs'}"


def hours(value: float | None) -> str:
    """`20,996 GPU-h`"""
    return NOT_MEASURED if value is None else f"{plain(value)} GPU-h"


def money(value: float | None, currency: str, missing: str = NOT_PRICED) -> str:
    """`USD 39,160`; two digits after the point below 10."""
    if value is None:
        return missing
    return f"{currency} {value:,.2f}" if 0 < abs(value) < 10 else f"{currency} {value:,.0f}"


def share(value: float | None, missing: str = NOT_MEASURED) -> str:
    """`45 %`; one digit after the point below 10 %."""
    if value is None:
        return missing
    percent = value * 100
    return f"{percent:.1f} %" if 0 < abs(percent) < 9.95 else f"{percent:.0f} %"


def days(seconds: float | None) -> str:
    """`7 days`, `26 hours`: for sentences."""
    if not seconds:
        return ""
    number, unit = (seconds / _DAY, "day") if seconds >= 2 * _DAY else (seconds / 3_600, "hour")
    return f"{number:,.0f} {unit}{'' if round(number) == 1 else 's'}"


def part(value: float | None, whole: float | None) -> float | None:
    """The quotient; None where a number is missing or the whole is 0."""
    return value / whole if value is not None and whole else None


def memory(value: int | None) -> str:
    """`31 GiB`"""
    return NOT_MEASURED if value is None else f"{plain(value / _GIB)} GiB"


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
