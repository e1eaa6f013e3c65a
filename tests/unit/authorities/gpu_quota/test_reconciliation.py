"""The changes of a ledger that make it equal to the existing objects."""

import pytest

from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.definitions import Limit
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import EMPTY, Adopt, Granted, Holding, Ledger, Release, Settle
from usher.quantities import NANO

LIMITS = (Limit(hard={"gpus": 100 * NANO}),)
NOW = 1000


def gpus(number: int) -> ByClasses:
    return {("",): {"gpus": number * NANO}}


def entry(name: str, number: int, *, until: int | None = None, uid: str = "") -> Entry:
    return Entry(
        group="batch", kind="Job", namespace="ml", name=name, uid=uid, amounts=gpus(number), reserved_until=until
    )


def holding(name: str, number: int, *, finished: bool = False, uid: str = "u-1") -> Holding:
    charge: ByClasses = {("high",): {"gpus": number * NANO, "slices": 7 * number * NANO}}
    return Holding(uid=uid, group="batch", kind="Job", namespace="ml", name=name, charge=charge, finished=finished)


def made(*entries: Entry) -> Ledger:
    found = EMPTY
    for each in entries:
        outcome = ledger.charge(found, each, LIMITS)
        assert isinstance(outcome, Granted)
        found = outcome.ledger
    return found


def actions(found: Ledger, *holdings: Holding) -> list[ledger.Action]:
    return ledger.plan_actions(found, holdings, LIMITS, NOW)


def test_a_correct_entry_needs_no_action() -> None:
    assert actions(made(entry("a", 8)), holding("a", 8)) == []


def test_a_reservation_is_settled_as_soon_as_all_of_it_is_there() -> None:
    reserved = entry("a", 8, until=NOW + 60)

    assert actions(made(reserved), holding("a", 8)) == [Settle(entry=reserved, amounts=gpus(8), lowers=False)]


def test_a_reservation_is_lowered_by_nothing_before_it_is_over() -> None:
    found = made(entry("a", 16, until=NOW + 60), entry("b", 8, until=NOW + 60))

    assert actions(found, holding("a", 8)) == []


def test_a_reservation_that_is_over_is_settled_by_what_there_is() -> None:
    over, gone = entry("a", 16, until=NOW), entry("b", 8, until=NOW)

    assert actions(made(over, gone), holding("a", 8)) == [
        Settle(entry=over, amounts=gpus(8), lowers=True),
        Release(entry=gone, reason="does not exist"),
    ]


def test_charges_of_deleted_or_finished_objects_are_released() -> None:
    gone, done = entry("a", 8), entry("b", 8)

    assert actions(made(gone, done), holding("b", 8, finished=True)) == [
        Release(entry=done, reason="has finished"),
        Release(entry=gone, reason="does not exist"),
    ]


def test_objects_that_bypassed_admission_are_charged_by_force() -> None:
    found = actions(EMPTY, holding("a", 128), holding("done", 8, finished=True))

    assert found == [Adopt(entry=entry("a", 128))]
    adopted = ledger.apply_action(EMPTY, found[0], LIMITS).entries["Job.batch/ml/a"]
    assert adopted.forced
    assert adopted.reserved_until is None


def test_what_was_charged_by_its_uid_is_found_again() -> None:
    reserved = entry("", 8, until=NOW + 60, uid="u-1")

    assert actions(made(reserved), holding("a", 8)) == [Settle(entry=reserved, amounts=gpus(8), lowers=False)]


def test_an_action_on_an_entry_that_was_charged_meanwhile_does_nothing() -> None:
    before = made(entry("a", 8), entry("b", 8))
    decided = actions(before, holding("b", 4))
    after = made(entry("a", 8, until=NOW + 60), entry("b", 8, until=NOW + 60))
    assert [type(action) for action in decided] == [Settle, Release]

    for action in decided:
        assert ledger.apply_action(before, action, LIMITS) != before
        assert ledger.apply_action(after, action, LIMITS) == after


def test_what_a_ledger_has_no_room_for_is_not_adopted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(entry("a", 8))
    monkeypatch.setattr(ledger, "MOST_ENTRIES", 1)

    assert ledger.apply_action(found, Adopt(entry=entry("b", 8)), LIMITS) == found


def test_what_has_finished_is_released_once_its_reservation_is_over() -> None:
    """It may have been let in anew, and its pods are not there yet."""
    reserved, over = entry("a", 8, until=NOW + 1), entry("b", 8, until=NOW)

    assert actions(made(reserved, over), holding("a", 8, finished=True), holding("b", 8, finished=True)) == [
        Release(entry=over, reason="has finished")
    ]
