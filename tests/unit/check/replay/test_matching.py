"""Objects count once: with their controllers, their pods, and all occasions on which they were reviewed."""

from unit.check.replay.made import found, side, verdict
from usher.check.replay import comparison
from usher.check.replay.comparison import Difference, Found, Outcome, Verdict


def test_pods_count_as_part_of_a_recorded_owner_that_changes_in_the_same_way() -> None:
    job = verdict("bert", uid="1")
    pods = [verdict(f"bert-{number}", kind="Pod", owner_uid="1") for number in range(8)]

    compared = comparison.compare_sides(
        side(job, *pods),
        side(
            verdict("bert", found(), uid="1"),
            *(verdict(each.name, found(), kind="Pod", owner_uid="1") for each in pods),
        ),
    )

    assert [change.shown.subject for change in compared.changes] == ["Job research/bert"]
    assert compared.owned == 8


def test_a_pod_counts_itself_where_only_the_pod_is_newly_denied() -> None:
    before = side(verdict("bert", uid="1"), verdict("bert-0", kind="Pod", owner_uid="1"))
    after = side(verdict("bert", uid="1"), verdict("bert-0", found(), kind="Pod", owner_uid="1"))

    compared = comparison.compare_sides(before, after)

    assert [change.shown.name for change in compared.of(Difference.NEWLY_DENIED)] == ["bert-0"]


def test_a_pod_counts_as_part_of_the_owner_of_its_owner() -> None:
    def made(*findings: Found) -> list[Verdict]:
        return [
            verdict("web", *findings, kind="Deployment", uid="1"),
            verdict("web-5", *findings, kind="ReplicaSet", uid="2", owner_uid="1"),
            verdict("web-5-x", *findings, kind="Pod", uid="3", owner_uid="2"),
        ]

    compared = comparison.compare_sides(side(*made()), side(*made(found())))

    assert [change.shown.kind for change in compared.changes] == ["Deployment"]


def test_owners_in_a_circle_do_not_hide_each_other() -> None:
    circle = [
        verdict("a", uid="1", owner_uid="2"),
        verdict("b", uid="2", owner_uid="1"),
        verdict("c", uid="3", owner_uid="3"),
    ]
    denied = [
        verdict("a", found(), uid="1", owner_uid="2"),
        verdict("b", found(), uid="2", owner_uid="1"),
        verdict("c", found(), uid="3", owner_uid="3"),
    ]

    compared = comparison.compare_sides(side(*circle), side(*denied))

    assert {change.shown.name for change in compared.of(Difference.NEWLY_DENIED)} == {"a", "b", "c"}
    assert compared.owned == 0


def test_an_object_counts_once_with_the_difference_that_matters_most() -> None:
    before = side(verdict("bert", occasion="CREATE"), verdict("bert", occasion="UPDATE"))
    after = side(
        verdict("bert", found(outcome=Outcome.WARN), occasion="CREATE"), verdict("bert", found(), occasion="UPDATE")
    )

    (change,) = comparison.compare_sides(before, after).changes

    assert change.difference is Difference.NEWLY_DENIED
    assert change.shown.occasion == "UPDATE"


def test_an_object_without_a_verdict_makes_the_comparison_incomplete_though_another_occasion_has_one() -> None:
    failed = verdict("bert", occasion="CREATE", failure="the engine gave no answer")
    before = side(failed, verdict("bert", occasion="UPDATE"))
    after = side(failed, verdict("bert", found(), occasion="UPDATE"))

    compared = comparison.compare_sides(before, after)

    assert compared.failed
    assert [change.reason for change in compared.failures] == ["the engine gave no answer"]
