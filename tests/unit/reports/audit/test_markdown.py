"""An audit in Markdown: what an issue shows, bounded, in which every name stays text."""

import io
import os
import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given

from builders import audit_documents as audits
from unit.reports.ci.hostile import ATTEMPTS, hostile_text
from usher.audit.document import Audit, Group, GroupTable
from usher.reports.audit import markdown

GOLDEN: Final = Path(__file__).parents[3] / "data/audit/audit.md"
COMMAND: Final = re.compile(r"##\[|##vso\[|^\s*::", re.MULTILINE)

SPAN: Final = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")


def written(audit: Audit, *, max_size: int = markdown.MAX_SIZE) -> str:
    stream = io.StringIO()
    markdown.write(audit, stream, max_size=max_size)
    return stream.getvalue()


def hostile(text: str) -> Audit:
    subject = audits.subject(text, namespace=text)
    row = Group(name=text, workloads=1, usage=audits.USED)
    return audits.full().model_copy(
        update={
            "cluster": audits.full().cluster.model_copy(update={"name": text}),
            "findings": (audits.finding(message=text, remedy=text, team=text, subject=subject),),
            "usage": (GroupTable(by="team", rows=(row,)),),
        }
    )


def test_the_report_reads_as_its_golden_file() -> None:
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        GOLDEN.write_text(written(audits.full()))

    assert written(audits.full()) == GOLDEN.read_text()


def test_without_measurements_the_report_says_so() -> None:
    report = written(audits.audit())

    assert "| allocated | not measured |" in report
    assert "| GPUs | not known; allocated 0 |" in report
    assert "0 GPU-hours" not in report


def test_the_row_of_what_can_never_run_has_the_range_of_its_workloads() -> None:
    assert "| can never run | 2 workloads (10 to 11 GPUs) |" in written(audits.growing())


def test_an_incomplete_audit_says_so_before_its_numbers() -> None:
    report = written(audits.audit(completeness=audits.incomplete(("rayjobs.ray.io", "usher may not list them"))))

    assert report.index("**This audit is incomplete**") < report.index("| GPUs |")
    assert "* `rayjobs.ray.io`: usher may not list them" in report


def test_of_many_findings_the_worst_are_shown_and_the_others_counted() -> None:
    many = [audits.finding(f"f{number}", severity="low", gpus=float(number)) for number in range(100)]
    report = written(audits.audit(findings=(*many, audits.finding("worst", code="USH999", severity="critical"))))

    assert report.index("USH999") < report.index("USH103")
    assert "and 81 more" in report


def test_a_long_report_is_cut_and_counts_the_rows_left_out() -> None:
    report = written(audits.full(), max_size=2_200)

    assert len(report) <= 2_200
    assert re.search(r"\*\*\d+ rows left out\*\*, because the report has room for 2,200 characters", report)


@pytest.mark.parametrize("text", [each * 300 for each in ATTEMPTS])
def test_no_name_makes_the_report_larger_than_its_bound(text: str) -> None:
    report = written(hostile(text))

    assert len(report.encode("utf-16-le", "surrogatepass")) // 2 <= markdown.MAX_SIZE


@given(text=hostile_text)
def test_no_name_becomes_a_row_a_command_or_a_mention(text: str) -> None:
    report = written(hostile(text))
    plain = written(hostile("bert"))

    assert COMMAND.search(report) is None
    assert report.count("\n") == plain.count("\n")
    assert "<script>" not in SPAN.sub("", report)
    assert "@octo-org" not in SPAN.sub("", report)


@given(text=hostile_text)
def test_every_row_of_a_table_has_the_cells_of_its_header(text: str) -> None:
    cells = [len(re.findall(r"(?<!\\)\|", line)) for line in written(hostile(text)).splitlines()]

    assert cells == [len(re.findall(r"(?<!\\)\|", line)) for line in written(hostile("bert")).splitlines()]
