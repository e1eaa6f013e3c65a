"""Quantities are what k8s.io/apimachinery takes them for, in thousands of random and hostile cases.

Where we differ on purpose, a rule says where and why; whatever no rule covers must agree.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from unit.oracle import golden
from usher import errors, quantities

CASES = golden.cases("quantities")

REFUSED: Final = frozenset({"refused"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    reason: str
    aspects: frozenset[str]
    """The differences: `refused` (Kubernetes takes the value, we do not), `number`, `canonical`, `value`, `milli`."""
    applies: Callable[[Any, Any], bool]
    """To the value from the manifest, and to the quantity that Kubernetes makes of it."""


def text_matches(pattern: str) -> Callable[[Any, Any], bool]:
    return lambda value, _: isinstance(value, str) and re.search(pattern, value, re.ASCII) is not None


def exponent(value: object) -> int:
    found = re.search(r"[eE]([+-]?[0-9]+)\s*\Z", str(value), re.ASCII)
    return int(found[1]) if found else 0


def is_fraction(theirs: Any) -> bool:
    return bool(theirs["nanos"] % quantities.NANO)


def loses_zeros(theirs: Any) -> bool:
    """Whether Go has no suffix for what is left once all zeros are taken off."""
    return not theirs["nanos"] % (1000 * 10**18 * quantities.NANO)


DIFFERENCES = [
    Difference(
        reason="a text without a digit before its suffix is a mistake, which Go takes for 0",
        aspects=REFUSED,
        applies=text_matches(r"\A\s*[+-]?\.?([^0-9.]|\Z)"),
    ),
    Difference(
        reason="null is a mistake where somebody wrote it for a quantity, which Go takes for 0",
        aspects=REFUSED,
        applies=lambda value, _: value is None,
    ),
    Difference(
        reason="exponents beyond 30 are never meant: Go wraps them around at 32 bits, or computes for minutes",
        aspects=REFUSED,
        applies=lambda value, _: abs(exponent(value)) > quantities.MAX_EXPONENT,
    ),
    Difference(
        reason="numbers beyond 1e30 are never meant, and Go's own arithmetic wraps around",
        aspects=REFUSED,
        applies=lambda _, theirs: theirs["nanos"] is None or abs(theirs["nanos"]) > quantities.MAX_NANOS,
    ),
    Difference(
        reason="texts of more than 64 characters are never meant, and cost time",
        aspects=REFUSED,
        applies=lambda value, _: isinstance(value, str) and len(value) > quantities.MAX_LENGTH,
    ),
    Difference(
        reason="whole numbers beyond 64 bits keep all their digits; the API server reads them as floats",
        aspects=frozenset({"number"}),
        applies=lambda value, _: isinstance(value, int) and abs(value) > quantities.MAX_INT64,
    ),
    Difference(
        reason="whole numbers beyond 64 bits are capped; Go's Value() wraps around or gives 0",
        aspects=frozenset({"value"}),
        applies=lambda _, theirs: abs(theirs["nanos"]) > quantities.MAX_INT64 * quantities.NANO,
    ),
    Difference(
        reason="thousandths beyond 64 bits are capped; Go's MilliValue() wraps around or gives 0",
        aspects=frozenset({"milli"}),
        applies=lambda _, theirs: abs(theirs["nanos"]) > quantities.MAX_INT64 * quantities.MILLI,
    ),
    Difference(
        reason="negative numbers are rounded away from 0; those in big decimals Go wraps around or rounds towards 0",
        aspects=frozenset({"value", "milli"}),
        applies=lambda _, theirs: (
            theirs["nanos"] < 0 and (is_fraction(theirs) or theirs["nanos"] < -quantities.MAX_INT64)
        ),
    ),
    Difference(
        reason="a number of 1000E and more keeps the suffix E; Go has no suffix for it and loses the zeros",
        aspects=frozenset({"canonical"}),
        applies=lambda _, theirs: loses_zeros(theirs),
    ),
]


def aspects_that_differ(value: object, theirs: Any) -> Iterator[str]:
    try:
        ours = quantities.parse(value)
    except errors.QuantityError:
        if theirs is not None:
            yield "refused"
        return
    if theirs is None or ours.nanos != theirs["nanos"]:
        yield "number"
        return
    if quantities.canonical(value) != theirs["canonical"]:
        yield "canonical"
    if ours.value != theirs["value"]:
        yield "value"
    if ours.milli != theirs["milli"]:
        yield "milli"


def meant(case: Any, aspect: str) -> list[str]:
    """The reasons for which we may differ in this aspect; what Kubernetes refuses nobody may take."""
    value, theirs = json.loads(case["json"]), case["quantity"]
    if theirs is None:
        return []
    return [rule.reason for rule in DIFFERENCES if aspect in rule.aspects and rule.applies(value, theirs)]


def test_every_value_is_the_quantity_that_kubernetes_makes_of_it_or_differs_for_a_reason() -> None:
    golden.assert_none(
        (aspect, case)
        for case in CASES
        for aspect in aspects_that_differ(json.loads(case["json"]), case["quantity"])
        if not meant(case, aspect)
    )


@pytest.mark.parametrize("rule", DIFFERENCES, ids=lambda rule: rule.reason[:40])
def test_no_difference_is_allowed_for_that_no_case_needs(rule: Difference) -> None:
    needed = (
        case
        for case in CASES
        for aspect in aspects_that_differ(json.loads(case["json"]), case["quantity"])
        if meant(case, aspect) == [rule.reason]
    )
    assert any(needed)


def test_any_two_quantities_compare_as_in_kubernetes() -> None:
    def order(left: quantities.Quantity, right: quantities.Quantity) -> int:
        return (left > right) - (left < right)

    golden.assert_none(
        case
        for case in golden.cases("comparisons")
        if order(quantities.parse(case["left"]), quantities.parse(case["right"])) != case["order"]
    )


def test_any_sum_is_the_number_and_the_text_that_kubernetes_gives() -> None:
    golden.assert_none(
        (quantities.canonical_sum(case["addends"]), case)
        for case in golden.cases("sums")
        if sum(map(quantities.parse, case["addends"]), quantities.ZERO).nanos != case["nanos"]
        or (quantities.canonical_sum(case["addends"]) != case["canonical"] and not loses_zeros(case))
    )
