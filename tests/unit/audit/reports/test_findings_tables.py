"""A person at a terminal reads about earlier audits."""

import io

from builders import audit_documents as audits
from usher.audit.document import Audit, Trend
from usher.audit.reports import findings_tables
from usher.check.formats.lines import Lines


def written(audit: Audit) -> str:
    stream = io.StringIO()
    findings_tables.write_changes(audit, Lines(stream, color=False, width=100))
    return stream.getvalue()


def test_new_and_fixed_findings_name_their_objects() -> None:
    assert written(audits.full()) == (
        "Since 2026-11-16 06:00 UTC: 1 new finding, 1 fixed\n"
        "  new    USH901 PyTorchJob ml-research/llama: Can never run\n"
        "  fixed  USH201 Job ml-research/old: No toleration, after 21 days\n"
        "\n"
    )


def test_of_many_the_first_are_shown_and_the_others_counted() -> None:
    findings = tuple(audits.finding(f"{number}") for number in range(100))
    trend = Trend(previous=audits.WEEK_BEFORE, new=tuple(each.fingerprint for each in findings))

    assert "and 95 more" in written(audits.audit(findings=findings, trend=trend))


def test_an_audit_without_earlier_ones_says_nothing() -> None:
    assert written(audits.audit()) == ""


def test_a_history_that_could_not_be_used_is_said() -> None:
    assert written(audits.audit(trend=Trend(problems=("the disk is full",)))) == "not compared: the disk is full\n\n"
