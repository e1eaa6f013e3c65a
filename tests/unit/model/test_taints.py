"""Tolerations against taints as the scheduler matches them (docs/domain/nodes.md#tolerations)."""

import pytest

import builders
from builders import toleration
from usher import paths
from usher.config import pools
from usher.model import placement

KEY = "nvidia.com/gpu"
PRESENT = pools.Taint(key=KEY, value="present")
TRUE = pools.Taint(key=KEY, value="true")
NO_VALUE = pools.Taint(key=KEY)


@pytest.mark.parametrize(
    ("tolerating", "tolerated"),
    [
        (toleration(KEY, operator="Exists"), [PRESENT, TRUE, NO_VALUE]),
        (toleration(KEY, operator="Exists", value="other"), [PRESENT, TRUE, NO_VALUE]),
        (toleration(KEY, operator="Equal", value="present"), [PRESENT]),
        (toleration(KEY, operator="Equal", value="true"), [TRUE]),
        (toleration(KEY, value="present"), [PRESENT]),  # a missing operator is Equal
        (toleration(KEY), [NO_VALUE]),  # and a missing value the empty one
        (toleration(KEY, operator="", value="true"), [TRUE]),
        (toleration(KEY, operator="Equal", value=""), [NO_VALUE]),
        (toleration(KEY, effect="NoSchedule"), [NO_VALUE]),
        (toleration(KEY, operator="exists"), []),
        (toleration(KEY, operator="In", value="present"), []),
        (toleration("nvidia.com/gpu.product", operator="Exists"), []),
        (toleration("nvidia.com", operator="Exists"), []),
        (toleration("Nvidia.com/gpu", operator="Exists"), []),
        (toleration(operator="Exists"), [PRESENT, TRUE, NO_VALUE]),  # tolerates everything
        (toleration("", operator="Exists"), [PRESENT, TRUE, NO_VALUE]),
        (toleration(operator="Exists", value="other"), [PRESENT, TRUE, NO_VALUE]),
        # Without a key only Exists is legal, so these cover nothing.
        (toleration(value="present"), []),
        (toleration(operator="Equal", value="present"), []),
        (toleration(), []),
    ],
)
def test_a_toleration_covers_the_taints_that_the_scheduler_says_it_does(
    tolerating: paths.Object, tolerated: list[pools.Taint]
) -> None:
    assert [taint for taint in (PRESENT, TRUE, NO_VALUE) if placement.tolerates(tolerating, taint)] == tolerated


@pytest.mark.parametrize(
    ("effect", "covered"),
    [
        (None, ["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        ("", ["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        ("NoSchedule", ["NoSchedule"]),
        ("NoExecute", ["NoExecute"]),
        ("noschedule", []),
    ],
)
def test_a_missing_effect_covers_every_effect(effect: str | None, covered: list[str]) -> None:
    every = [
        pools.Taint(key=KEY, effect="NoSchedule"),
        pools.Taint(key=KEY, effect="PreferNoSchedule"),
        pools.Taint(key=KEY, effect="NoExecute"),
    ]
    tolerating = toleration(KEY, operator="Exists", effect=effect)

    assert [taint.effect for taint in every if placement.tolerates(tolerating, taint)] == covered


@pytest.mark.parametrize(
    ("taint_value", "operator", "value", "tolerated"),
    [
        ("5", "Gt", "4", True),
        ("4", "Gt", "4", False),
        ("10", "Gt", "9", True),  # as numbers, not as texts
        ("0", "Gt", "-1", True),
        ("3", "Lt", "4", True),
        ("4", "Lt", "4", False),
        ("0", "Lt", "1", True),
        ("five", "Gt", "4", False),
        ("5", "Gt", "four", False),
        ("", "Gt", "-1", False),
        ("5", "Gt", "", False),
        ("5", "Gt", "+4", False),
        ("5", "Gt", "04", False),
        ("5", "Gt", " 4", False),
        ("5", "Gt", "4.0", False),
        ("10", "Gt", "1_0", False),
        ("5", "Gt", "\u0664", False),  # an Arabic four
        ("5", "Lt", "9" * 5000, False),
        ("5", "Lt", "9223372036854775807", True),  # 64 bits, and no more
        ("5", "Lt", "9223372036854775808", False),
        ("9999999999999999999", "Gt", "5", False),
    ],
)
def test_gt_and_lt_compare_the_taint_with_the_toleration_as_whole_numbers(
    taint_value: str,
    operator: str,
    value: str,
    tolerated: bool,
) -> None:
    taint = pools.Taint(key=KEY, value=taint_value)

    assert placement.tolerates(toleration(KEY, operator=operator, value=value), taint) is tolerated


@pytest.mark.parametrize("field", ["key", "operator", "value", "effect"])
@pytest.mark.parametrize("junk", [0, 1, True, False, 0.0, [], {}, ["Exists"]])
def test_a_toleration_that_cannot_be_read_covers_nothing(field: str, junk: paths.Json) -> None:
    unreadable = {**toleration(operator="Exists"), field: junk}

    assert not placement.tolerates(unreadable, PRESENT)


def test_a_boolean_for_a_value_is_not_the_text_that_was_meant() -> None:
    assert not placement.tolerates({**toleration(KEY, operator="Equal"), "value": True}, TRUE)


@pytest.mark.parametrize(
    ("tolerating", "named"),
    [
        (toleration(KEY, operator="Exists"), True),
        (toleration(KEY, operator="Equal", value="whatever"), True),
        (toleration(KEY), True),
        (toleration(operator="Exists"), True),
        (toleration("", operator="Exists"), True),
        (toleration("other", operator="Exists"), False),
        (toleration(value="present"), False),
        (toleration(), False),
        ({"key": [], "operator": "Exists"}, False),
        ({"key": 0, "operator": "Exists"}, False),
    ],
)
def test_a_toleration_is_meant_for_a_taint_whose_key_alone_is_known(
    tolerating: paths.Object,
    named: bool,
) -> None:
    assert placement.tolerates_key(tolerating, KEY) is named


def test_every_taint_needs_a_toleration_of_its_own() -> None:
    spot = pools.Taint(key="spot", value="true", effect="NoExecute")
    for_gpus = toleration(KEY, operator="Exists")
    for_spot = toleration("spot", operator="Exists", effect="NoExecute")

    assert placement.untolerated([], [PRESENT, spot]) == [PRESENT, spot]
    assert placement.untolerated([for_gpus], [PRESENT, spot]) == [spot]
    assert placement.untolerated([for_gpus, for_gpus, for_spot], [PRESENT, spot]) == []
    assert placement.untolerated([toleration(operator="Exists")], [PRESENT, spot]) == []
    assert placement.untolerated([toleration(operator="Exists", effect="NoSchedule")], [PRESENT, spot]) == [spot]


def test_tolerations_for_other_taints_of_the_same_key_do_not_add_up() -> None:
    others = [toleration(KEY, operator="Equal", value=value) for value in ("true", "", "yes")]

    assert placement.untolerated(others, [PRESENT]) == [PRESENT]


def test_what_nodes_only_prefer_keeps_no_pod_off() -> None:
    assert placement.untolerated([], [pools.Taint(key=KEY, effect="PreferNoSchedule")]) == []


def test_the_toleration_that_extended_resource_toleration_adds_for_mig_is_not_one_for_gpus() -> None:
    added = toleration("nvidia.com/mig-1g.10gb", operator="Exists", effect="NoSchedule")

    assert placement.untolerated([added], [PRESENT]) == [PRESENT]


def test_tolerations_may_come_from_anything_that_can_be_gone_through_once() -> None:
    tolerations = iter([builders.toleration(KEY, operator="Exists")])

    assert placement.untolerated(tolerations, [PRESENT, TRUE]) == []
