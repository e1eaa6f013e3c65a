"""An audit in Markdown: what an issue shows, bounded, in which every name stays text."""

import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given

from builders import audit_documents as audits
from builders import audited_clusters as clusters
from builders import tpu_audits
from unit.check.formats.hostile import ATTEMPTS, hostile_text
from usher.audit.document import Audit, Group, GroupTable, Usage
from usher.audit.reports import audit_text

GOLDEN: Final = Path(__file__).parents[3] / "data/audit/audit.md"
COMMAND: Final = re.compile(r"##\[|##vso\[|^\s*::", re.MULTILINE)

SPAN: Final = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")


def written(audit: Audit, *, max_size: int = audit_text.MAX_SIZE) -> str:
    stream = io.StringIO()
    audit_text.write_markdown(audit, stream, max_size=max_size)
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


def cells(line: str) -> list[str]:
    """The cells of a row, as GitHub splits them: at every bar without a backslash, within spans of code too."""
    return [each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1]]


def tables(report: str) -> dict[str, list[list[str]]]:
    """The rows of every table, its header first, by the heading above it."""
    found: dict[str, list[list[str]]] = {}
    title = ""
    for line in report.splitlines():
        title = line.removeprefix("### ") if line.startswith("#") else title
        if line.startswith("|"):
            found.setdefault(title, []).append(cells(line))
    return found


@pytest.mark.parametrize(
    "make",
    [
        audits.full,
        audits.growing,
        tpu_audits.without_gpus,
        clusters.audit,
        clusters.not_measured,
        clusters.empty,
        clusters.hostile,
        clusters.large,
    ],
)
def test_every_row_of_every_table_has_as_many_cells_as_its_header(make: Callable[[], Audit]) -> None:
    found = tables(written(make()))

    assert {title: {len(row) for row in rows} for title, rows in found.items()} == {
        title: {len(rows[0])} for title, rows in found.items()
    }
    assert all(row == ["---"] * len(rows[0]) for rows in found.values() for row in rows[1:2])


def test_the_tables_stand_in_the_order_of_the_page_with_their_sums() -> None:
    found = tables(written(clusters.audit()))

    assert list(found)[1:] == [
        "GPU-hours by team",
        "Can never run",
        "Since 2026-11-16 06:00 UTC",
        "GPU-hours by namespace",
        "GPU-hours by queue",
        "GPU-hours by priority class",
        "GPU-hours by GPU model",
        "GPU-hours by how it is paid for",
        "What could be saved",
        "Other findings",
        "Workloads",
        "What rules of usher would have prevented",
        "Readiness: what fails",
        "Exceptions",
    ]
    assert found["GPU-hours by team"][-1] == [
        "**sum**", "285", "43 %", "20,995.7 GPU-hours", "47,880 GPU-hours", "39,160 USD", "92,484 USD"
    ]  # fmt: skip
    assert found["What could be saved"][-1] == ["**sum**", "", "", "", "1,652 GPU-hours", "4,861 USD", ""]


def test_the_numbers_say_the_whole_bill_and_what_of_a_saving_is_paid_for_anyway() -> None:
    full = audits.full()
    summary = full.summary.model_copy(update={"free": 1200.0, "out_of_use": 144.0, "capacity": 2688.0})
    report = written(full.model_copy(update={"summary": summary}))

    assert "| idle | 900.2 GPU-hours (69 % of those measured), 2,251 USD (67 % of the cost of allocated GPUs) |" in (
        report.replace("\\", "")
    )
    assert "| free | 1,200 GPU-hours, 3,000 USD |" in report
    assert "| out of use | 144 GPU-hours, 360 USD |" in report
    assert "| all GPUs | 2,688 GPU-hours, 6,720 USD |" in report
    assert "| held by no pod | 1,344 GPU-hours, 3,360 USD |" in report
    assert ": 2,000 USD off the bill once emptied nodes are given back, 251 USD paid for anyway |" in report
    assert "| Activity of all GPUs | 20 %, target 65 % to 85 %, not met |" in report
    assert "| findings | 2 about 2 objects: 1 critical, 1 high; admission would deny 1 |" in report
    assert "| since the audit before | 1 new (1 critical), 1 fixed (2026-11-16 06:00 UTC) |" in report


def test_a_bill_without_some_prices_says_that_it_leaves_gpus_out() -> None:
    full = audits.full()
    summary = full.summary.model_copy(update={"capacity": 2688.0, "not_priced": 10.0})

    assert "| all GPUs | 2,688 GPU-hours, 6,720 USD of those that have a price |" in written(
        full.model_copy(update={"summary": summary})
    )


def test_boards_have_what_no_pod_held_beside_what_pods_held() -> None:
    row = Group(
        name="H100", workloads=1, usage=audits.USED, free=80.0, out_of_use=20.0, cost_free=160.0, cost_out_of_use=40.0
    )
    unknown = Group(name="L4", workloads=0, usage=Usage())
    full = audits.full().model_copy(update={"usage": (GroupTable(by="product", rows=(row, unknown)),)})
    header, _, first, second, total = tables(written(full))["GPU-hours by GPU model"]

    assert header[-2:] == ["held by no pod", "its cost"]
    assert first[-2:] == ["100 GPU-hours", "200 USD"]
    assert second[-2:] == ["not measured", "not measured"]
    assert total[-2:] == ["1,344 GPU-hours", "3,360 USD"]


def test_a_workload_that_has_only_waited_held_no_gpu() -> None:
    (_, _, _, waiting) = tables(written(audits.full()))["Workloads"]

    assert waiting[4:7] == ["held no GPU", "held no GPU", "\N{EN DASH}"]


def test_a_cluster_without_gpus_has_no_rows_about_their_use() -> None:
    report = written(tpu_audits.without_gpus())

    assert "not measured" not in report
    assert tables(report)["Workloads"][0] == ["workload", "team", "state", "GPUs", "findings"]


def test_a_finding_says_since_when_it_lasts_and_since_when_audits_find_it() -> None:
    (_, _, row) = tables(written(audits.full()))["Other findings"]

    assert [each.replace("\\", "") for each in row[-2:]] == ["2026-11-01", "2026-11-02"]


def test_a_long_text_is_cut_between_two_words() -> None:
    text = "It held its GPUs for 3.2 of 7.0 days. " * 20

    report = written(audits.audit(findings=(audits.finding(message=text),)))

    (cut,) = re.findall(r"It held[^|]*…", report)
    assert text.startswith(f"{cut.removesuffix('…')} ")
    assert 350 < len(cut) <= 400


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
    report = written(audits.full(), max_size=4_000)

    assert len(report) <= 4_000
    assert re.search(r"\*\*\d+ rows left out\*\*, because the report has room for 4,000 characters", report)


@pytest.mark.parametrize("text", [each * 300 for each in ATTEMPTS])
def test_no_name_makes_the_report_larger_than_its_bound(text: str) -> None:
    report = written(hostile(text))

    assert len(report.encode("utf-16-le", "surrogatepass")) // 2 <= audit_text.MAX_SIZE


@given(text=hostile_text)
def test_no_name_becomes_a_row_a_command_or_a_mention(text: str) -> None:
    report = written(hostile(text))
    plain = written(hostile("bert"))

    assert COMMAND.search(report) is None
    assert report.count("\n") == plain.count("\n")
    assert "<script>" not in SPAN.sub("", report)
    assert "@octo-org" not in SPAN.sub("", report)


@given(text=hostile_text)
def test_no_name_adds_a_cell_to_a_row(text: str) -> None:
    found = [[len(row) for row in rows] for rows in tables(written(hostile(text))).values()]

    assert found == [[len(row) for row in rows] for rows in tables(written(hostile("bert"))).values()]
