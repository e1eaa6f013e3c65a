"""Two kinds of priority classes beside each other."""

from hypothesis import given
from hypothesis import strategies as st

from usher.authorities import priority
from usher.authorities.priority import ClassPair, PriorityClass


def of(name: str, value: int) -> PriorityClass:
    return PriorityClass(name=name, value=value)


def pair(in_queue: int, of_pods: int) -> ClassPair:
    return ClassPair(in_queue=of("queue", in_queue), of_pods=of("pods", of_pods))


def contradicting(own: ClassPair, *others: ClassPair) -> ClassPair | None:
    found = priority.find_contradiction([own], others)
    return None if found is None else found.other


def test_two_orders_are_at_odds_where_one_goes_up_and_the_other_down() -> None:
    other = pair(10, 1000)

    assert contradicting(pair(20, 500), pair(10, 100), other) is other
    assert contradicting(pair(5, 2000), other) is other
    assert contradicting(pair(10, 5), other) is None
    assert contradicting(pair(20, 1000), other) is None


@given(st.integers(), st.integers(), st.integers(), st.integers(), st.integers(0, 10**9))
def test_the_numbers_of_the_two_kinds_are_never_compared_with_each_other(
    one: int, pods: int, other: int, others: int, shift: int
) -> None:
    found = contradicting(pair(one, pods), pair(other, others))
    shifted = contradicting(pair(one + shift, pods), pair(other + shift, others))

    assert (found is None) is (shifted is None)


def test_a_name_namesakes_stands_for_one_rank() -> None:
    in_queue = {"a": of("a", 1), "b": of("b", 2)}
    of_pods = {"b": of("b", 20), "c": of("c", 30)}

    assert list(priority.namesakes(in_queue, of_pods)) == [ClassPair(in_queue=in_queue["b"], of_pods=of_pods["b"])]
