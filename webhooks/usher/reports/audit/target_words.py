"""What reports for people say about a target: the actual value, the range, and whether it is met."""

from usher.audit.document import Target
from usher.reports.web import numbers


def is_share(target: Target) -> bool:
    return target.unit.startswith("share")


def standing(target: Target) -> str:
    """`42 %, target 65 % to 85 %, not met`."""
    met = {True: "met", False: "not met", None: ""}[target.met]
    return ", ".join(filter(None, (_amount(target, target.actual), f"target {_range(target)}", met)))


def _range(target: Target) -> str:
    if target.low is None:
        return f"at most {_amount(target, target.high)}"
    if target.high is None or (is_share(target) and target.high >= 1):
        return f"at least {_amount(target, target.low)}"
    return f"{_amount(target, target.low)} to {_amount(target, target.high)}"


def _amount(target: Target, value: float | None) -> str:
    if is_share(target):
        return numbers.share(value)
    return numbers.lasting(value) if target.unit == "seconds" else f"{numbers.plain(value)} {target.unit}"
