"""New, fixed, still there since: an audit counts as fixed only what it looked for and did not find."""

from typing import Any

import pytest

from builders import audit_documents as audits
from usher.audit.document import Audit, Completeness, FindingEntry, Gap, NotEvaluatedEntry, Point, Subject, Summary
from usher.audit.store import earlier_audits
from usher.audit.store.earlier_audits import Past, Seen

FIRST, SECOND, THIRD, FOURTH = (f"2026-11-{day:02}T06:00:00Z" for day in (2, 9, 16, 23))
RAY = Subject(api_version="ray.io/v1", kind="RayJob", namespace="ml-research", name="tune")
JOB = audits.subject("bert")


def taken(at: str, *fingerprints: str | FindingEntry, **fields: Any) -> Audit:
    findings = tuple(audits.finding(each) if isinstance(each, str) else each for each in fingerprints)
    return audits.audit(taken=at, findings=findings, **fields)


def known(*given: Audit) -> Past:
    """A history that has recorded these audits."""
    points: dict[str, Point] = {}
    left_out: dict[str, frozenset[str]] = {}
    findings: dict[str, Seen] = {}
    for each in given:
        so_far = Past(points=tuple(points.values()), left_out=left_out, findings=tuple(findings.values()))
        findings |= {seen.fingerprint: seen for seen in earlier_audits.compare(so_far, each).written}
        points[each.taken] = earlier_audits.point_of(each)
        left_out[each.taken] = earlier_audits.left_out_of(each)
    return Past(points=tuple(points.values()), left_out=left_out, findings=tuple(findings.values()))


def fixed(before: Past, audit: Audit) -> list[str]:
    return [each.fingerprint for each in earlier_audits.compare(before, audit).trend.fixed]


def without(*sources: str) -> Completeness:
    """Complete, but these sources were left out: usher may not list them, or they are exempt."""
    return Completeness(complete=True, left_out=tuple(Gap(source=each, reason="not listed") for each in sources))


def test_the_first_audit_has_nothing_to_be_compared_with() -> None:
    trend = earlier_audits.compare(Past(), taken(FIRST, "a")).trend

    assert (trend.previous, trend.new, trend.fixed) == ("", (), ())
    assert trend.first_seen == {"a": FIRST}
    assert [each.taken for each in trend.points] == [FIRST]


def test_the_second_one_says_new_fixed_and_still_there_since() -> None:
    trend = earlier_audits.compare(known(taken(FIRST, "a", "b")), taken(SECOND, "b", "c")).trend

    assert (trend.previous, trend.new) == (FIRST, ("c",))
    assert [(each.fingerprint, each.first_seen, each.last_seen) for each in trend.fixed] == [("a", FIRST, FIRST)]
    assert trend.first_seen == {"b": FIRST, "c": SECOND}
    assert trend.problems == ()


def test_a_fixed_finding_names_its_code_and_object() -> None:
    (entry,) = earlier_audits.compare(known(taken(FIRST, "a")), taken(SECOND)).trend.fixed

    assert (entry.code, entry.title, entry.subject) == (
        "USH103",
        "GPU requests differ from limits",
        "Job ml-research/bert",
    )


def test_a_finding_is_fixed_once() -> None:
    assert fixed(known(taken(FIRST, "a"), taken(SECOND)), taken(THIRD)) == []


def test_a_finding_that_comes_back_is_new_and_begins_again() -> None:
    trend = earlier_audits.compare(known(taken(FIRST, "a"), taken(SECOND)), taken(THIRD, "a")).trend

    assert (trend.new, trend.first_seen) == (("a",), {"a": THIRD})


def test_an_audit_that_is_recorded_twice_says_the_same_twice() -> None:
    again = taken(SECOND, "b")
    before = known(taken(FIRST, "a"))

    assert (
        earlier_audits.compare(known(taken(FIRST, "a"), again), again).trend
        == earlier_audits.compare(before, again).trend
    )


def test_an_audit_that_is_older_than_the_last_one_fixes_nothing() -> None:
    """Two audits run at once, and the slower one began first."""
    change = earlier_audits.compare(known(taken(FIRST, "a"), taken(THIRD, "b")), taken(SECOND, "a"))

    assert change.trend.fixed == ()
    assert change.trend.problems == (
        f"the history has a later audit, of {THIRD}; this one, of {SECOND}, fixes nothing",
    )
    assert [(each.fingerprint, each.gone) for each in change.written] == [("a", THIRD)]


def test_an_older_audit_fixes_nothing_that_a_later_one_could_not_look_for() -> None:
    before = known(taken(FIRST, "a"), taken(THIRD, completeness=audits.incomplete(("jobs.batch", "gone"))))

    assert fixed(before, taken(SECOND)) == []
    assert fixed(before, taken(FOURTH)) == ["a"]


def test_of_two_audits_in_the_same_second_the_second_one_fixes_nothing_of_the_first() -> None:
    before = known(taken(FIRST, "a"), taken(SECOND, "a", "b"))

    assert fixed(before, taken(SECOND, "a")) == []
    assert fixed(known(taken(FIRST, "a"), taken(SECOND, "a", "b"), taken(SECOND, "a")), taken(THIRD)) == ["a", "b"]


def test_an_audit_with_a_gap_keeps_the_findings_of_that_kind_alone() -> None:
    before = known(taken(FIRST, audits.finding("a", subject=RAY), audits.finding("b", subject=JOB)))
    now = taken(SECOND, completeness=audits.incomplete(("rayjobs.ray.io", "the list ended early")))

    trend = earlier_audits.compare(before, now).trend

    assert [each.fingerprint for each in trend.fixed] == ["b"]
    assert trend.problems == (
        "1 earlier finding is neither seen nor counted as fixed, because this audit did not read rayjobs.ray.io",
    )


def test_a_finding_that_was_kept_is_fixed_by_the_next_complete_audit() -> None:
    kept = known(
        taken(FIRST, audits.finding("a", subject=RAY)),
        taken(SECOND, completeness=audits.incomplete(("rayjobs.ray.io", "the list ended early"))),
    )

    assert fixed(kept, taken(THIRD)) == ["a"]


@pytest.mark.parametrize("source", ["pods", "nodes", "prometheus", "shard 3", "a part that usher does not know"])
def test_a_gap_that_any_finding_may_rest_on_keeps_all(source: str) -> None:
    before = known(taken(FIRST, audits.finding("a", subject=RAY), audits.finding("b", subject=JOB)))

    assert fixed(before, taken(SECOND, completeness=audits.incomplete((source, "gone")))) == []


def test_an_audit_that_is_incomplete_without_a_reason_keeps_all() -> None:
    assert fixed(known(taken(FIRST, "a")), taken(SECOND, completeness=audits.incomplete())) == []


def test_a_finding_about_the_cluster_as_a_whole_is_kept_by_every_gap() -> None:
    before = known(taken(FIRST, audits.finding("a", category="cluster", subject=JOB)))

    assert fixed(before, taken(SECOND, completeness=audits.incomplete(("rayjobs.ray.io", "gone")))) == []


def test_a_permission_that_is_lost_fixes_nothing_for_as_long_as_it_is_lost() -> None:
    seen = taken(FIRST, audits.finding("a", subject=RAY))
    lost = taken(SECOND, completeness=without("rayjobs.ray.io"))
    still_lost = taken(THIRD, completeness=without("rayjobs.ray.io"))

    assert fixed(known(seen), lost) == []
    assert fixed(known(seen, lost), still_lost) == []
    assert fixed(known(seen, lost, still_lost), taken(FOURTH)) == ["a"]


def test_sources_that_were_always_left_out_hide_nothing() -> None:
    exempt = without("namespace kube-system", "nodes")

    assert fixed(known(taken(FIRST, "a", completeness=exempt)), taken(SECOND, completeness=exempt)) == ["a"]


def test_a_namespace_that_is_exempt_from_now_on_keeps_its_own_findings() -> None:
    other = audits.finding("b", subject=audits.subject("llama", namespace="other"))

    assert fixed(known(taken(FIRST, "a", other)), taken(SECOND, completeness=without("namespace other"))) == ["a"]


@pytest.mark.parametrize(("before", "now"), [("", "other"), ("other", ""), ("other", "ml-research")])
def test_a_report_of_another_part_of_the_cluster_is_not_compared(before: str, now: str) -> None:
    of = audits.audit().cluster
    first, second = (of.model_copy(update={"namespace": each}) for each in (before, now))

    trend = earlier_audits.trend_since(taken(FIRST, "a", cluster=first), taken(SECOND, cluster=second))

    assert (trend.fixed, trend.points) == ((), ())
    assert "so it is not compared with this one, of " in trend.problems[0]


def test_a_check_without_a_verdict_keeps_its_findings() -> None:
    """Facts about queues are gone: the check that needs them found nothing because it could not look."""
    queue = audits.finding("b", code="USH310")
    blind = NotEvaluatedEntry(code="USH310", name="queue-exists", reason="no facts", workloads=1)

    assert fixed(known(taken(FIRST, "a", queue)), taken(SECOND, not_evaluated=(blind,))) == ["a"]


def test_points_are_the_headline_numbers_oldest_first_and_bounded() -> None:
    points = tuple(
        earlier_audits.point_of(taken(f"{2000 + year}-01-01T00:00:00Z", summary=Summary(gpus=year)))
        for year in range(300)
    )
    trend = earlier_audits.compare(Past(points=points), taken("2999-01-01T00:00:00Z")).trend

    assert len(trend.points) == earlier_audits.POINTS
    assert (trend.points[-2].gpus, trend.points[-1].gpus) == (299, None)


def test_an_earlier_report_serves_as_the_past() -> None:
    trend = earlier_audits.trend_since(taken(FIRST, "a", "b"), taken(SECOND, "b", "c"))

    assert (trend.previous, trend.new, [each.fingerprint for each in trend.fixed]) == (FIRST, ("c",), ["a"])


def test_an_earlier_report_hands_on_what_it_knows_of_the_time_before() -> None:
    middle = taken(SECOND, "a")
    middle = middle.model_copy(update={"trend": earlier_audits.trend_since(taken(FIRST, "a"), middle)})

    trend = earlier_audits.trend_since(middle, taken(THIRD, "a"))

    assert trend.first_seen == {"a": FIRST}
    assert [each.taken for each in trend.points] == [FIRST, SECOND, THIRD]


def test_a_report_of_another_cluster_is_not_compared() -> None:
    other = taken(FIRST, "a", cluster=audits.audit().cluster.model_copy(update={"name": "staging"}))

    trend = earlier_audits.trend_since(other, taken(SECOND))

    assert (trend.fixed, trend.new) == ((), ())
    (problem,) = trend.problems
    assert problem == (
        "the earlier report is of cluster staging, so it is not compared with this one, of prod-eu; if they are the "
        "same cluster, give its name with --cluster-name"
    )


@pytest.mark.parametrize(
    ("earlier", "now", "compared"),
    [
        (("prod-eu", "uid-1"), ("renamed", "uid-1"), True),
        (("prod-eu", "uid-1"), ("prod-eu", "uid-2"), False),
        (("prod-eu", ""), ("prod-eu", "uid-1"), True),
        (("the long name", ""), ("prod-eu", "uid-1"), True),
        (("staging", ""), ("prod-eu", "uid-1"), False),
    ],
)
def test_a_report_is_of_the_same_cluster_by_its_id_or_else_by_a_name(
    earlier: tuple[str, str], now: tuple[str, str], compared: bool
) -> None:
    first, second = (
        audits.audit().cluster.model_copy(update={"name": name, "id": uid}) for name, uid in (earlier, now)
    )

    trend = earlier_audits.trend_since(
        taken(FIRST, "a", cluster=first), taken(SECOND, "a", cluster=second), former=["the long name"]
    )

    assert (trend.first_seen == {"a": FIRST}) == compared
    assert bool(trend.problems) != compared
    # Another name does not make one cluster of two ids.
    assert any("--cluster-name" in each for each in trend.problems) == (earlier[0] == "staging")


def test_a_later_report_is_not_compared() -> None:
    assert (
        earlier_audits.trend_since(taken(SECOND, "a"), taken(FIRST))
        .problems[0]
        .startswith(f"the earlier report is of {SECOND}")
    )
