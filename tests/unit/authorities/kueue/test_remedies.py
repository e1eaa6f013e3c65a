"""Each number in a remedy lets the workload fit, and no smaller change does."""

from collections.abc import Sequence
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

import builders
from builders import GPU, container, template
from builders.queues import cluster_queue, cohort, flavor, group, quota
from unit.authorities.kueue.judging import judged
from usher import paths
from usher.authorities.kueue.flavor_fit import FlavorShortage, KueueVerdict
from usher.authorities.verdict import Answer

FLAVORS: Final = ("a", "b")
Part = tuple[int, int, str]
"""Pods of a pod set, GPUs of each, and the flavor that it selects; an empty flavor selects all."""

WORLD: Final = (*(flavor(name, labels={"pool": name}) for name in FLAVORS), cohort("shared"))


def job_set(parts: Sequence[Part]) -> paths.Object:
    made = []
    for index, (pods, gpus, selected) in enumerate(parts):
        found = template(container(gpus=gpus))
        if selected:
            found = builders.replaced(found, "/spec/nodeSelector", {"pool": selected})
        made.append(builders.replicated_job(f"part-{index}", found, replicas=pods))
    return builders.job_set(*made)


def queue(nominal: dict[str, int], *, borrowing: int | None = None, lending: int | None = None) -> paths.Object:
    quotas = [(name, [quota(nominal[name], borrowing=borrowing, lending=lending)]) for name in FLAVORS]
    return cluster_queue("research", group(*quotas), cohort="shared")


def verdict_of(parts: Sequence[Part], *facts: paths.Object) -> KueueVerdict:
    return judged(job_set(parts), *facts, *WORLD)


def test_all_pod_sets_that_can_only_use_one_flavor_count_for_the_quota_that_is_missing() -> None:
    """A pod set alone lacked 11, but another one needs 1 of the same flavor."""
    parts = [(1, 1, "a"), (1, 16, "a"), (1, 2, "b")]
    facts = {"a": 5, "b": 2}

    (shortage,) = verdict_of(parts, queue(facts)).shortages

    assert [(each.pods, each.each[GPU]) for each in shortage.pods] == [(1, 1), (1, 16)]
    assert (shortage.total, shortage.fits, shortage.lacks) == (17, 5, 12)
    assert verdict_of(parts, queue({**facts, "a": 16})).answer is Answer.NEVER
    assert verdict_of(parts, queue({**facts, "a": 17})).answer is Answer.COULD


def test_pods_that_others_leave_no_room_are_not_told_to_ask_for_all_of_a_flavor() -> None:
    (shortage,) = verdict_of([(1, 5, "a"), (1, 9, "")], queue({"a": 8, "b": 2})).shortages

    assert (shortage.total, shortage.fits, shortage.lacks) == (9, 3, None)


def test_where_smaller_pods_alone_do_not_help_nothing_is_left_to_ask_for() -> None:
    (shortage,) = verdict_of([(1, 3, "a"), (1, 9, "")], queue({"a": 2, "b": 0})).shortages

    assert [each.pod_set.name for each in shortage.pods] == ["part-0"]
    (other,) = verdict_of([(1, 9, ""), (1, 3, "a")], queue({"a": 2, "b": 0})).shortages
    assert (other.total, other.fits) == (9, 0)


PARTS = st.lists(
    st.tuples(st.integers(1, 3), st.integers(1, 6), st.sampled_from(["", *FLAVORS])), min_size=1, max_size=4
)
NOMINAL = st.fixed_dictionaries({name: st.integers(0, 12) for name in FLAVORS})
LIMIT = st.none() | st.integers(0, 6)


@given(PARTS, NOMINAL, LIMIT, LIMIT, st.integers(0, 6))
def test_as_much_more_quota_as_is_suggested_is_enough_and_no_less(
    parts: list[Part], nominal: dict[str, int], borrowing: int | None, lending: int | None, others: int
) -> None:
    neighbour = cluster_queue("other", group(*((name, [quota(others)]) for name in FLAVORS)), cohort="shared")

    def answer(raised: dict[str, int]) -> KueueVerdict:
        return verdict_of(parts, queue(raised, borrowing=borrowing, lending=lending), neighbour)

    found = answer(nominal)
    for shortage in found.shortages:
        if shortage.lacks is not None:
            name = shortage.flavors[0].flavor
            raised = nominal[name] + shortage.lacks
            assert answer({**nominal, name: raised}).answer is not Answer.NEVER
            assert answer({**nominal, name: raised - 1}).answer is Answer.NEVER


@given(PARTS, NOMINAL)
def test_pods_that_ask_for_as_much_as_is_suggested_are_not_refused(parts: list[Part], nominal: dict[str, int]) -> None:
    for shortage in verdict_of(parts, queue(nominal)).shortages:
        if shortage.fits:
            assert verdict_of(_asking_for(shortage, parts), queue(nominal)).answer is not Answer.NEVER


def _asking_for(shortage: FlavorShortage, parts: Sequence[Part]) -> list[Part]:
    """The parts, where the first of those that are told asks for all that fits, and the others of them for nothing."""
    told = [int(each.pod_set.name.removeprefix("part-")) for each in shortage.pods]
    kept = [part for index, part in enumerate(parts) if index not in told]
    return [*kept, (1, shortage.fits, parts[told[0]][2])]
