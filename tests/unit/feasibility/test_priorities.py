"""What priority classes are worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher import paths
from usher.feasibility import priorities
from usher.feasibility.priorities import Class, Pair


def of(name: str, value: int) -> Class:
    return Class(name=name, value=value)


def pair(in_queue: int, of_pods: int) -> Pair:
    return Pair(in_queue=of("queue", in_queue), of_pods=of("pods", of_pods))


def test_a_class_without_a_whole_number_is_worth_nothing_that_is_known() -> None:
    values: list[paths.Json] = [None, "100", 1.5, True, {}, 2**31, -(2**31) - 1, 2**70]

    assert priorities.read({str(index): {"value": value} for index, value in enumerate(values)}) == {}
    assert priorities.read({"batch": {"value": -5, "preemptionPolicy": "Never"}}) == {
        "batch": Class(name="batch", value=-5, preempts=False)
    }


def test_of_several_defaults_the_smallest_counts() -> None:
    classes: dict[str, paths.Object] = {
        "a": {"value": 100, "globalDefault": True},
        "b": {"value": 10, "globalDefault": True},
        "c": {"value": 1, "globalDefault": False},
        "d": {"value": 2},
    }

    assert priorities.default_of(classes) == of("b", 10)
    assert priorities.default_of({"c": classes["c"], "d": classes["d"]}) is priorities.NO_CLASS


@pytest.mark.parametrize(
    "odd", [{"value": 7, "globalDefault": "true"}, {"value": 7, "globalDefault": {}}, {"globalDefault": True}]
)
def test_where_a_class_may_be_the_default_and_nobody_can_read_it_none_is_known(odd: paths.Object) -> None:
    assert priorities.default_of({"a": {"value": 100, "globalDefault": True}, "odd": odd}) is None


@pytest.mark.parametrize(
    ("policy", "preempts"), [(None, True), ("PreemptLowerPriority", True), ("Never", False), ({"a": 1}, False)]
)
def test_only_what_a_class_says_readably_evicts_others(policy: paths.Json, preempts: bool) -> None:
    assert priorities.preempts({"preemptionPolicy": policy}) is preempts


def test_two_orders_are_at_odds_where_one_goes_up_and_the_other_down() -> None:
    other = pair(10, 1000)

    assert priorities.contradiction(pair(20, 500), [pair(10, 100), other]) is other
    assert priorities.contradiction(pair(5, 2000), [other]) is other
    assert priorities.contradiction(pair(10, 5), [other]) is None
    assert priorities.contradiction(pair(20, 1000), [other]) is None


@given(st.integers(), st.integers(), st.integers(), st.integers(), st.integers(0, 10**9))
def test_the_numbers_of_the_two_kinds_are_never_compared_with_each_other(
    one: int, pods: int, other: int, others: int, shift: int
) -> None:
    found = priorities.contradiction(pair(one, pods), [pair(other, others)])
    shifted = priorities.contradiction(pair(one + shift, pods), [pair(other + shift, others)])

    assert (found is None) is (shifted is None)


def test_a_name_of_both_kinds_stands_for_one_rank() -> None:
    in_queue = {"a": of("a", 1), "b": of("b", 2)}
    of_pods = {"b": of("b", 20), "c": of("c", 30)}

    assert list(priorities.of_both_kinds(in_queue, of_pods)) == [Pair(in_queue=in_queue["b"], of_pods=of_pods["b"])]
