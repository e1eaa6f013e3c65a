"""What reports for people say about a target: the actual value, the range, and whether it is met."""

from typing import Final

from usher.audit.document import Summary, Target
from usher.audit.reports import numbers
from usher.audit.reports.numbers import PAGE

_ALL: Final = 0.995
"""From here on a share is written as 100 %."""


def is_share(target: Target) -> bool:
    return target.unit.startswith("share")


def standing(target: Target, summary: Summary) -> str:
    """`42 %, measured for 83 % of the GPU-hours, target 65 % to 85 %, not met`."""
    part = known(target, summary)
    base = f"measured for {part} of the GPU-hours" if part else ""
    met = {True: "met", False: "not met", None: ""}[target.met]
    return ", ".join(filter(None, (amount(target, target.actual), base, f"target {_range(target)}", met)))


def known(target: Target, summary: Summary) -> str:
    """The part of the GPU-hours of all nodes that a mean of all GPUs rests on; empty where that is all, or unknown."""
    if target.hours is None or not summary.capacity:
        return ""
    part = target.hours / summary.capacity
    return PAGE.share(part) if part < _ALL else ""


def _range(target: Target) -> str:
    if target.low is None:
        return f"at most {amount(target, target.high)}"
    if target.high is None or (is_share(target) and target.high >= 1):
        return f"at least {amount(target, target.low)}"
    return f"{amount(target, target.low)} to {amount(target, target.high)}"


def amount(target: Target, value: float | None) -> str:
    """`42 %`, `3.6 h`: a value in the unit of the target."""
    if is_share(target):
        return PAGE.share(value)
    return numbers.lasting(value) if target.unit == "seconds" else f"{numbers.plain(value)} {target.unit}"
