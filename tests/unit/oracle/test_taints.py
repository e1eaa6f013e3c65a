"""Tolerations cover the taints that the scheduler takes them to cover."""

from typing import Any

from unit.oracle import golden
from usher.config import pools
from usher.model import placement

CASES = golden.cases("tolerations")
COMPARISONS = ("Gt", "Lt")


def taint(wire: dict[str, str]) -> pools.Taint:
    """Any taint; those of usher.yaml cannot be as odd."""
    return pools.Taint.model_construct(key=wire["key"], value=wire.get("value", ""), effect=wire["effect"])


def tolerates(case: Any) -> bool:
    return placement.tolerates(case["toleration"], taint(case["taint"]))


def has_no_key_for_its_operator(case: Any) -> bool:
    """The API server takes no toleration without a key unless it is for Exists, so it need not cover anything."""
    return not case["toleration"].get("key") and case["toleration"].get("operator") != "Exists"


def test_every_toleration_that_a_pod_can_have_covers_what_the_scheduler_says() -> None:
    golden.assert_none(
        case for case in CASES if tolerates(case) != case["tolerates"] and not has_no_key_for_its_operator(case)
    )


def test_a_toleration_that_covers_less_than_the_scheduler_says_is_refused_by_the_api_server() -> None:
    stricter = [case for case in CASES if has_no_key_for_its_operator(case)]

    assert any(case["tolerates"] for case in stricter)
    golden.assert_none(case for case in stricter if tolerates(case) or not case["refused"])


def test_comparing_tolerations_alone_depend_on_the_feature_gate_that_we_take_to_be_on() -> None:
    golden.assert_none(
        case
        for case in CASES
        if case["tolerates"] != case["withoutComparison"]
        and (case["toleration"].get("operator") not in COMPARISONS or case["withoutComparison"])
    )


def test_the_first_taint_that_keeps_a_pod_off_is_the_one_that_the_scheduler_names() -> None:
    def first_untolerated(case: Any) -> pools.Taint | None:
        found = placement.untolerated(case["tolerations"], [taint(wire) for wire in case["taints"]])
        return found[0] if found else None

    golden.assert_none(
        case
        for case in golden.cases("taints")
        if first_untolerated(case) != (taint(case["untolerated"]) if case["untolerated"] else None)
    )
