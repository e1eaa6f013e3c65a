"""The values of priority classes, and the default class of pods."""

import pytest

from usher import paths
from usher.authorities import priority
from usher.authorities.priority import PriorityClass
from usher.cluster.facts.store import Store


def of(name: str, value: int) -> PriorityClass:
    return PriorityClass(name=name, value=value)


def test_a_class_without_a_whole_number_is_worth_nothing_that_is_known() -> None:
    values: list[paths.Json] = [None, "100", 1.5, True, {}, 2**31, -(2**31) - 1, 2**70]

    assert priority.read_classes({str(index): {"value": value} for index, value in enumerate(values)}) == {}
    assert priority.read_classes({"batch": {"value": -5, "preemptionPolicy": "Never"}}) == {
        "batch": PriorityClass(name="batch", value=-5, preempts=False)
    }


def test_of_several_defaults_the_smallest_counts() -> None:
    classes: dict[str, paths.Object] = {
        "a": {"value": 100, "globalDefault": True},
        "b": {"value": 10, "globalDefault": True},
        "c": {"value": 1, "globalDefault": False},
        "d": {"value": 2},
    }

    assert priority.default_among(classes) == of("b", 10)
    assert priority.default_among({"c": classes["c"], "d": classes["d"]}) is priority.NO_CLASS


@pytest.mark.parametrize(
    "odd", [{"value": 7, "globalDefault": "true"}, {"value": 7, "globalDefault": {}}, {"globalDefault": True}]
)
def test_an_unreadable_class_that_may_be_the_default_makes_the_default_unknown(odd: paths.Object) -> None:
    assert priority.default_among({"a": {"value": 100, "globalDefault": True}, "odd": odd}) is None


@pytest.mark.parametrize(
    ("policy", "preempts"), [(None, True), ("PreemptLowerPriority", True), ("Never", False), ({"a": 1}, False)]
)
def test_only_what_a_class_says_readably_evicts_others(policy: paths.Json, preempts: bool) -> None:
    found = priority.read_classes({"a": {"value": 1, "preemptionPolicy": policy}})

    assert found["a"].preempts is preempts


def test_the_default_class_is_that_of_the_cluster_or_else_the_one_that_is_declared() -> None:
    made: paths.Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "given"}}
    known, without = Store.of([{**made, "value": 5, "globalDefault": True}]), Store.of([{**made, "value": 5}])
    unreadable = Store.of([{**made, "value": "many", "globalDefault": True}])

    assert priority.default_class_name(known, "declared") == "given"
    assert priority.default_class_name(without, "declared") == ""
    assert priority.default_class_name(unreadable, "declared") is None
    assert priority.default_class_name(Store(), "declared") == "declared"
    assert priority.default_class_name(Store(), None) is None
