"""Numbers of an audit that may be missing: one that was not measured says so, and is never 0."""

from typing import Final

from usher.audit.reports import words

NOT_MEASURED: Final = "not measured"
NOT_PRICED: Final = "not priced"
UNKNOWN: Final = "not known"


def gpus(number: float | None) -> str:
    """`64`, `0.5`: whole GPUs, and parts of one."""
    return UNKNOWN if number is None else words.number(number)


def hours(number: float | None) -> str:
    """`1,344 GPU-hours`."""
    return NOT_MEASURED if number is None else f"{words.number(number)} GPU-hours"


def money(number: float | None, currency: str) -> str:
    """`2,251 USD`, with cents below 100."""
    return NOT_PRICED if number is None else words.money(number, currency)


def share(number: float | None) -> str:
    """`20 %` of 0.2."""
    return NOT_MEASURED if number is None else words.share(number)
