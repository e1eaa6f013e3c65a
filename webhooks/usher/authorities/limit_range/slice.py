"""The LimitRange part of the Rego input: violated bounds. It belongs to the slice of ResourceQuotas."""

from collections.abc import Iterable
from typing import NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.authorities.limit_range.judge import LimitViolation
from usher.kinds.reading.shapes import Amount, amount_of


class LimitViolationInput(TypedDict):
    """A bound of a LimitRange that a container violates, or the whole pod (then `container` is absent)."""

    limitRange: str
    container: NotRequired[str]
    path: str
    rule: str
    resource: str
    bound: Amount
    said: str
    amount: NotRequired[Amount]
    """The request or the limit; absent where it is missing."""
    request: NotRequired[Amount]
    """The request that the limit is compared with, where `said` is `ratio`."""


def violations_input(violations: Iterable[LimitViolation]) -> list[LimitViolationInput]:
    return [_violation(each) for each in violations]


def _violation(violation: LimitViolation) -> LimitViolationInput:
    result: LimitViolationInput = {
        "limitRange": violation.bound.of,
        "path": violation.path,
        "rule": violation.bound.rule.value,
        "resource": violation.bound.resource,
        "bound": amount_of(violation.bound.amount),
        "said": violation.violating.value,
    }
    if not violation.bound.of_pod:
        result["container"] = violation.container
    if violation.amount is not None:
        result["amount"] = amount_of(violation.amount)
    if violation.request is not None:
        result["request"] = amount_of(violation.request)
    return result
