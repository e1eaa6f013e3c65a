"""Numbers of an audit for people. One that was not measured says so, and is never 0."""

from collections.abc import Mapping
from typing import Final

NOT_MEASURED: Final = "not measured"
NOT_PRICED: Final = "not priced"
UNKNOWN: Final = "not known"


def gpus(number: float | None) -> str:
    """`64`, `0.5`: whole GPUs, and parts of one."""
    return UNKNOWN if number is None else _plain(number)


def hours(number: float | None) -> str:
    """`1,344 GPU-hours`, with one digit below 100."""
    if number is None:
        return NOT_MEASURED
    return f"{number:,.0f} GPU-hours" if number >= 100 else f"{_plain(round(number, 1))} GPU-hours"


def money(number: float | None, currency: str) -> str:
    """`2,251 USD`, with cents below 100."""
    if number is None:
        return NOT_PRICED
    return f"{number:,.0f} {currency}".rstrip() if number >= 100 else f"{number:,.2f} {currency}".rstrip()


def share(number: float | None) -> str:
    """`20 %` of 0.2."""
    return NOT_MEASURED if number is None else f"{number * 100:,.0f} %"


def amounts(values: Mapping[str, float]) -> str:
    """`8 nvidia.com/gpu, 4 nvidia.com/mig-1g.10gb`."""
    return ", ".join(f"{_plain(number)} {name}" for name, number in sorted(values.items()))


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.2f}".rstrip("0")
