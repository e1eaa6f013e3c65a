"""The class of a difference, and the properties of every comparison."""

from typing import Final

import pytest
from hypothesis import given

from unit.check.replay.made import CHECKS, found, side, sides, unknown, verdict
from usher.check.devices import Amount
from usher.check.replay import comparison, impact
from usher.check.replay.comparison import Change, Difference, Found, Outcome, Side, Verdict, compare_verdicts
from usher.check.replay.impact import Affected, concerned

DENIED: Final = verdict("a", found())
WARNED: Final = verdict("a", found(outcome=Outcome.WARN))
NOTED: Final = verdict("a", found(outcome=Outcome.AUDIT))
CLEAN: Final = verdict("a")
UNREAD: Final = verdict("a", unknowns=[unknown()])
FAILED: Final = verdict("a", failure="the engine gave no answer")
OPPOSITE: Final = {
    Difference.NEWLY_DENIED: Difference.NO_LONGER_DENIED,
    Difference.NO_LONGER_DENIED: Difference.NEWLY_DENIED,
    Difference.NEWLY_WARNED: Difference.NO_LONGER_WARNED,
    Difference.NO_LONGER_WARNED: Difference.NEWLY_WARNED,
}


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        (CLEAN, DENIED, Difference.NEWLY_DENIED),
        (WARNED, DENIED, Difference.NEWLY_DENIED),
        (UNREAD, DENIED, Difference.NEWLY_DENIED),
        (DENIED, WARNED, Difference.NO_LONGER_DENIED),
        (DENIED, CLEAN, Difference.NO_LONGER_DENIED),
        (DENIED, UNREAD, Difference.NOT_EVALUATED),
        (CLEAN, UNREAD, Difference.NOT_EVALUATED),
        (UNREAD, CLEAN, Difference.NOT_EVALUATED),
        (UNREAD, UNREAD, Difference.NOTHING),
        (CLEAN, FAILED, Difference.NOT_EVALUATED),
        (FAILED, DENIED, Difference.NOT_EVALUATED),
        (FAILED, FAILED, Difference.NOTHING),
        (CLEAN, WARNED, Difference.NEWLY_WARNED),
        (WARNED, NOTED, Difference.NO_LONGER_WARNED),
        (CLEAN, NOTED, Difference.OTHER_FINDINGS),
        (DENIED, verdict("a", found(CHECKS[1])), Difference.OTHER_FINDINGS),
        (DENIED, verdict("a", found(message="it says more")), Difference.OTHER_WORDS),
        (DENIED, DENIED, Difference.NOTHING),
        (DENIED, None, Difference.ONE_SIDE),
        (None, CLEAN, Difference.ONE_SIDE),
    ],
)
def test_two_verdicts_differ_in_one_way(before: Verdict | None, after: Verdict | None, difference: Difference) -> None:
    assert compare_verdicts(before, after).difference is difference


def test_a_denial_whose_check_cannot_be_evaluated_any_more_has_not_gone() -> None:
    before = verdict("a", found(CHECKS[0]), found(CHECKS[1]))
    after = verdict("a", unknowns=[unknown(CHECKS[1])])

    assert compare_verdicts(before, after).difference is Difference.NOT_EVALUATED


def test_a_new_denial_counts_though_another_check_became_unknown() -> None:
    after = verdict("a", found(CHECKS[0]), unknowns=[unknown(CHECKS[1])])

    assert compare_verdicts(CLEAN, after).difference is Difference.NEWLY_DENIED


@given(sides(complete=False, count=1))
def test_a_side_does_not_differ_from_itself(made: list[Side]) -> None:
    (one,) = made

    assert {change.difference for change in comparison.compare_sides(one, one).changes} <= {Difference.NOTHING}


def by_key(before: Side, after: Side) -> dict[str, Change]:
    return {change.shown.key: change for change in comparison.compare_sides(before, after).changes}


@given(sides(complete=True))
def test_swapped_sides_swap_new_denials_and_past_ones(made: list[Side]) -> None:
    before, after = made
    there, back = by_key(before, after), by_key(after, before)

    assert {key: OPPOSITE.get(each.difference, each.difference) for key, each in there.items()} == {
        key: each.difference for key, each in back.items()
    }
    assert all(there[key].shown.devices == back[key].shown.devices for key in there)


@given(sides(complete=False))
def test_a_denial_that_has_gone_is_a_new_one_with_the_sides_swapped(made: list[Side]) -> None:
    """And never the other way round alone: a check that could not be evaluated keeps a denial from having gone."""
    before, after = made
    there, back = by_key(before, after), by_key(after, before)

    for key, change in there.items():
        if change.difference is Difference.NO_LONGER_DENIED:
            assert back[key].difference is Difference.NEWLY_DENIED
        if change.difference is Difference.NEWLY_DENIED:
            assert back[key].difference in (Difference.NO_LONGER_DENIED, Difference.NOT_EVALUATED)


@given(sides(complete=False))
def test_nothing_that_the_new_side_denies_is_called_a_pass(made: list[Side]) -> None:
    for change in comparison.compare_sides(*made).changes:
        before, after = change.before, change.after
        assert before is not None
        assert after is not None
        if not before.failure and not after.failure:
            newly = after.outcome is Outcome.DENY and before.outcome is not Outcome.DENY
            assert (change.difference is Difference.NEWLY_DENIED) == newly


def added(parts: list[Affected]) -> tuple[int, int, Amount, Amount]:
    return (
        sum(each.objects for each in parts),
        sum(each.workloads for each in parts),
        sum((each.pods for each in parts), start=Amount()),
        sum((each.gpus for each in parts), start=Amount()),
    )


@given(sides(complete=False))
def test_the_numbers_of_all_differences_add_up_to_all_objects(made: list[Side]) -> None:
    shown = impact.measure_impact(comparison.compare_sides(*made))

    assert added(list(shown.by_difference.values())) == added([shown.all_objects])
    assert shown.all_objects.objects == len(made[0].verdicts)


@given(sides(complete=False))
def test_the_numbers_by_namespace_and_by_owner_add_up_to_those_of_the_difference(made: list[Side]) -> None:
    shown = impact.measure_impact(comparison.compare_sides(*made))

    for difference, whole in shown.by_difference.items():
        if difference is not Difference.NOTHING:
            for groups in (shown.namespaces, shown.owners):
                assert added([group.of(difference) for group in groups]) == added([whole])


@given(sides(complete=False))
def test_every_object_that_differs_has_a_cause(made: list[Side]) -> None:
    shown = impact.measure_impact(comparison.compare_sides(*made))

    for difference, chapters in shown.causes.items():
        explained = {change.shown.key for chapter in chapters for change in chapter.changes}
        assert explained == {change.shown.key for change in shown.comparison.of(difference)}
        for chapter in chapters:
            assert {id(each) for each in chapter.changes} == {id(e) for c in chapter.causes for e in c.changes}


@given(sides(complete=True))
def test_the_checks_that_newly_deny_explain_every_new_denial(made: list[Side]) -> None:
    shown = impact.measure_impact(comparison.compare_sides(*made))
    most = sum(each.newly_denies.objects for each in shown.checks)

    assert most >= shown.of(Difference.NEWLY_DENIED).objects


def finding(check: str, message: str) -> Found:
    return found(check, Outcome.DENY, message)


def test_objects_are_grouped_by_check_and_message_with_the_most_gpus_first() -> None:
    names = {"a": 8, "b": 64, "c": 16}
    before = side(*(verdict(name, gpus=gpus) for name, gpus in names.items()))
    after = side(
        verdict("a", finding(CHECKS[0], "small"), gpus=8),
        verdict("b", finding(CHECKS[1], "large"), gpus=64),
        verdict("c", finding(CHECKS[1], "large"), finding(CHECKS[0], "small"), gpus=16),
    )

    shown = impact.measure_impact(comparison.compare_sides(before, after))

    assert [
        (chapter.heading.name, cause.message, [change.shown.name for change in cause.changes])
        for chapter in shown.causes[Difference.NEWLY_DENIED]
        for cause in chapter.causes
    ] == [("second", "large", ["b", "c"]), ("first", "small", ["c", "a"])]
    assert shown.of(Difference.NEWLY_DENIED) == concerned(shown.comparison.changes)
    assert shown.all_objects.gpus == Amount(number=88)
