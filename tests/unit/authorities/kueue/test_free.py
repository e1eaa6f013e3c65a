"""The amount that a ClusterQueue can give now (`available` in KQ:pkg/cache/scheduler/resource_node.go)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import GPU
from builders.queues import cluster_queue, gpu_group
from usher import paths
from usher.authorities.kueue import capacity as kueue_capacity
from usher.authorities.kueue import queues as kueue_queues
from usher.authorities.kueue.capacity import Capacities, Free
from usher.authorities.kueue.queues import ClusterQueue, Cohort

KEY = ("a100", GPU)


def queue(
    name: str, nominal: int, *, cohort: str | None = None, borrowing: int | None = None, lending: int | None = None
) -> ClusterQueue:
    gpus = gpu_group(nominal, borrowing=borrowing, lending=lending)
    return kueue_queues.cluster_queue(name, cluster_queue(name, gpus, cohort=cohort))


def cohort(name: str, nominal: int = 0, *, parent: str = "", borrowing: int | None = None) -> Cohort:
    value: paths.Object = {"spec": {"parentName": parent, "resourceGroups": [gpu_group(nominal, borrowing=borrowing)]}}
    return kueue_queues.cohort(name, value)


def status(total: paths.Json) -> paths.Object:
    return {"status": {"flavorsReservation": [{"name": "a100", "resources": [{"name": GPU, "total": total}]}]}}


def free(*queues: ClusterQueue, cohorts: tuple[Cohort, ...] = (), **reserved: paths.Json) -> Free:
    read = {name: kueue_capacity.read_reservations(name, status(total)) for name, total in reserved.items()}
    return Free(Capacities(queues, cohorts), read)


def test_a_queue_without_a_cohort_has_its_unreserved_quota() -> None:
    a = queue("a", 16)

    assert free(a, a=10).of(a, KEY) == 6


def test_a_queue_that_has_more_reserved_than_it_has_left_has_nothing() -> None:
    """Kueue takes nothing away when a quota is lowered."""
    a = queue("a", 16)

    assert free(a, a=20).of(a, KEY) == 0


def test_a_queue_cannot_borrow_quota_that_others_of_the_cohort_have_reserved() -> None:
    a, b = queue("a", 16, cohort="c"), queue("b", 40, cohort="c")

    assert free(a, b, a=10, b=30).of(a, KEY) == 16


def test_what_a_lending_limit_keeps_back_is_used_first() -> None:
    """Queue b keeps 32 of its 40 for itself, so that its 30 take nothing of the 8 that it lends."""
    a, b = queue("a", 16, cohort="c"), queue("b", 40, cohort="c", lending=8)

    assert free(a, b, a=16, b=30).of(a, KEY) == 8
    assert free(a, b, a=16, b=36).of(a, KEY) == 4


def test_a_borrowing_limit_bounds_the_total_that_a_queue_borrows() -> None:
    a, b = queue("a", 16, cohort="c", borrowing=4), queue("b", 40, cohort="c")

    assert free(a, b, a=18, b=0).of(a, KEY) == 2


def test_a_cohort_borrows_from_the_one_above_within_its_own_limit() -> None:
    a = queue("a", 16, cohort="c")
    cohorts = (cohort("c", 4, parent="top", borrowing=10), cohort("top", 100))

    assert free(a, cohorts=cohorts, a=0).of(a, KEY) == 30
    assert free(a, cohorts=cohorts, a=25).of(a, KEY) == 5


AMOUNTS = st.integers(0, 64)
LIMITS = st.none() | AMOUNTS


@given(st.lists(st.tuples(AMOUNTS, LIMITS, LIMITS, st.sampled_from(["c", "top"])), min_size=1, max_size=5), LIMITS)
def test_where_nothing_is_reserved_all_is_free_that_a_queue_could_ever_give(
    found: list[tuple[int, int | None, int | None, str]], borrowing: int | None
) -> None:
    queues = [
        queue(str(index), nominal, cohort=name, borrowing=borrowed, lending=lent)
        for index, (nominal, borrowed, lent, name) in enumerate(found)
    ]
    cohorts = (cohort("c", 4, parent="top", borrowing=borrowing), cohort("top", 10))
    nothing = {each.name: kueue_capacity.read_reservations(each.name, status("0")) for each in queues}
    capacities = Capacities(queues, cohorts)

    for each in queues:
        assert Free(capacities, nothing).of(each, KEY) == capacities.of(each, KEY)


@given(st.lists(st.tuples(AMOUNTS, LIMITS, LIMITS), min_size=1, max_size=5), st.data())
def test_quota_that_a_queue_takes_is_not_free_any_more(
    found: list[tuple[int, int | None, int | None]], data: st.DataObject
) -> None:
    queues = [
        queue(str(index), nominal, cohort="c", borrowing=borrowed, lending=lent)
        for index, (nominal, borrowed, lent) in enumerate(found)
    ]
    capacities, taken = Capacities(queues, ()), {each.name: 0 for each in queues}
    for each in queues:
        reserved = {name: kueue_capacity.read_reservations(name, status(str(amount))) for name, amount in taken.items()}
        before = Free(capacities, reserved).of(each, KEY)
        more = data.draw(st.integers(0, before))
        taken[each.name] += more
        reserved[each.name] = kueue_capacity.read_reservations(each.name, status(str(taken[each.name])))

        assert Free(capacities, reserved).of(each, KEY) == before - more


def test_one_unknown_queue_makes_the_whole_tree_uncertain() -> None:
    a, b = queue("a", 16, cohort="c"), queue("b", 40, cohort="c")
    found = free(a, b, a=10)

    assert found.of(a, KEY) == 0
    assert found.bound(a, KEY) == 46
    assert found.problems(a) == ("the current reservations of ClusterQueue b are not known",)


@pytest.mark.parametrize("total", ["many", {}, [], True])
def test_a_number_that_cannot_be_read_is_named(total: paths.Json) -> None:
    a = queue("a", 16)
    found = free(a, a=total)

    assert found.of(a, KEY) == 0
    assert found.bound(a, KEY) == 16
    assert "ClusterQueue a, status.flavorsReservation[0].resources[0].total" in found.problems(a)[0]


def test_a_tree_of_a_thousand_cohorts_has_an_answer() -> None:
    depth = 3000
    cohorts = tuple(cohort(f"c{index}", parent=f"c{index + 1}") for index in range(depth))
    a = queue("a", 16, cohort="c0")

    assert free(a, cohorts=cohorts, a=10).of(a, KEY) == 6


def test_what_a_queue_has_reserved_is_known_only_if_its_status_can_be_read() -> None:
    a, b, c = queue("a", 16), queue("b", 16), queue("c", 16)
    found = free(a, b, c, a=10, b="many")

    assert [found.reserved(each, KEY) for each in (a, b, c)] == [10, None, None]
    assert found.reserved(a, ("a100", "cpu")) == 0


def test_an_unknown_queue_below_one_cohort_is_a_problem_below_every_cohort_of_the_tree() -> None:
    """Each of them borrows from the one above, where the other may have borrowed already."""
    a, b = queue("a", 16, cohort="left"), queue("b", 16, cohort="right")
    cohorts = (cohort("left", parent="top"), cohort("right", parent="top"), cohort("top", 8))

    assert free(a, b, cohorts=cohorts, a=0).problems(a) == ("the current reservations of ClusterQueue b are not known",)
    assert free(a, b, cohorts=cohorts, a=0, b=4).of(a, KEY) == 36


def test_a_flavor_without_reservations_in_its_cohort_is_completely_free() -> None:
    a = queue("a", 16, cohort="c")
    other: paths.Object = {"name": "h100", "resources": [{"name": GPU, "total": "4"}]}
    read = {"a": kueue_capacity.read_reservations("a", {"status": {"flavorsReservation": [other]}})}

    assert Free(Capacities([a], ()), read).of(a, KEY) == 16


def test_what_a_cohort_keeps_for_itself_is_used_before_what_it_lends() -> None:
    a, b = queue("a", 16, cohort="top"), queue("b", 0, cohort="c")
    spec: paths.Object = {"parentName": "top", "resourceGroups": [gpu_group(40, lending=8)]}
    cohorts = (kueue_queues.cohort("c", {"spec": spec}), cohort("top"))

    assert free(a, b, cohorts=cohorts, a=16, b=30).of(a, KEY) == 8
    assert free(a, b, cohorts=cohorts, a=16, b=36).of(a, KEY) == 4
