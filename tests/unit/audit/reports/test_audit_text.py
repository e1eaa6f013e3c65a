"""An audit as text: tests/data/audit holds what people see.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest tests/unit/audit/reports/test_audit_text.py` writes it again;
read the diff.
"""

import io
import os
from pathlib import Path

import pytest

from builders import audit_documents as documents
from builders import tpu_audits
from usher.audit.document import (
    Audit,
    Cluster,
    Completeness,
    FindingEntry,
    Gap,
    Group,
    GroupTable,
    Measurement,
    Prevented,
    Severity,
    Summary,
    Usage,
    WorkloadState,
)
from usher.audit.reports import audit_text, numbers
from usher.audit.reports.numbers import TEXT

GOLDEN = Path(__file__).parents[3] / "data" / "audit"


def written(audit: Audit, *, width: int = 100, quiet: bool = False, color: bool = False) -> str:
    stream = io.StringIO()
    audit_text.write(audit, stream, width=width, quiet=quiet, color=color)
    return stream.getvalue()


NOT_HELD = ("capacity", "free", "out_of_use", "cost_free", "cost_out_of_use")
NOT_MEASURED = documents.full().model_copy(
    update={
        "summary": documents.full().summary.model_copy(
            update={
                **dict.fromkeys(("idle", "measured", "cost_idle", "activity", *NOT_HELD)),
                "cost_per_hour_free": 20.0,
                "cost_per_hour_out_of_use": 2.5,
            }
        ),
        "measurement": Measurement(source="none"),
        "usage": (),
        "savings": (),
        "prevented": (),
    }
)

CASES = {
    "full.txt": written(documents.full()),
    "narrow.txt": written(documents.full(), width=60),
    "not-measured.txt": written(NOT_MEASURED),
    "quiet.txt": written(documents.full(), quiet=True),
    "tpus.txt": written(tpu_audits.without_gpus()),
    "empty.txt": written(documents.audit()),
}


@pytest.mark.parametrize("name", CASES)
def test_the_report_reads_as_its_golden_file(name: str) -> None:
    file = GOLDEN / name
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        file.write_text(CASES[name])
    assert CASES[name] == file.read_text()


def test_every_golden_file_belongs_to_a_report() -> None:
    assert {file.name for file in GOLDEN.glob("*.txt")} == set(CASES)


def test_an_audit_without_usage_says_which_flag_measures_it_and_writes_no_zero() -> None:
    shown = CASES["not-measured.txt"]

    assert "not measured; --prometheus URL measures it" in shown
    assert "0 of 0" not in shown


def test_names_of_a_cluster_cannot_write_to_the_terminal() -> None:
    hostile = documents.audit(
        cluster=Cluster(name="\x1b[2J##[error]"),
        workloads=(documents.workload("x\x1b]0;owned\x07", team="\u202egnp"),),
        findings=(documents.finding(message="\r\n::error::x", team="\x9b31m"),),
        completeness=Completeness(complete=False, gaps=(Gap(source="\x1b[31m", reason="\n::set-output"),)),
    )
    shown = written(hostile)

    assert shown.replace("\n", "").isprintable()
    assert "##[error]" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())


def test_ten_teams_are_shown_and_the_rest_is_counted() -> None:
    workloads = tuple(documents.workload(f"w{number}", team=f"team-{number:02}") for number in range(25))

    assert "and 15 more teams; --format json lists all" in written(documents.audit(workloads=workloads))


def test_a_share_of_gpus_is_not_rounded_to_nothing() -> None:
    assert (TEXT.share(0.001), TEXT.share(0.9999), TEXT.share(0.5)) == ("under 1 %", "over 99 %", "50 %")


@pytest.mark.parametrize(
    ("since", "age"),
    [
        ("2026-11-20T06:00:00Z", "3 days"),
        ("2026-11-23T05:00:00Z", "1 hour"),
        ("2026-11-23T05:59:30Z", "less than a minute"),
        ("2026-11-24T06:00:00Z", ""),
        ("", ""),
    ],
)
def test_an_age_is_in_its_largest_whole_unit(since: str, age: str) -> None:
    assert numbers.age(since, documents.TAKEN) == age


def test_money_has_cents_only_where_they_matter() -> None:
    assert (TEXT.money(12.5, "EUR"), TEXT.money(12345.6, "EUR")) == ("12.50 EUR", "12,346 EUR")


def test_a_cluster_whose_nodes_are_not_known_has_no_capacity() -> None:
    shown = written(documents.audit(summary=Summary(gpus_allocated=4)))

    assert "not known: usher has read no nodes" in shown
    assert "%" not in shown


def test_a_severe_finding_about_the_cluster_comes_before_a_mild_warning() -> None:
    node = documents.finding(
        "f8", code="USA034", name="node-out-of-service", category="cluster", outcome="audit", severity=Severity.HIGH
    )
    mild = documents.finding("f9", code="USH909", name="shared-memory", outcome="warn", severity=Severity.MEDIUM)
    shown = written(documents.audit(findings=(mild, node)), quiet=True)

    assert shown.index("high      USA034") < shown.index(
        "medium    USH909 shared-memory  1 object, a warning at admission"
    )


def test_the_row_of_what_can_never_run_has_the_range_of_its_workloads() -> None:
    shown = written(documents.growing())

    assert "never      10 to 11, wanted by 2 workloads that can never run" in shown
    assert "2 to 3 GPUs  Job ml-research/bert" in shown


def test_a_bill_without_some_prices_says_so_and_names_the_most_expensive_boards() -> None:
    audit = documents.full()
    rows = tuple(
        Group(
            name=f"board-{number}",
            workloads=0,
            usage=Usage(allocated=10.0),
            free=30.0,
            out_of_use=0.0,
            cost_free=number,
        )
        for number in range(1, 7)
    )
    summary = audit.summary.model_copy(update={"gpus_not_priced": 4.0})
    tables = (GroupTable(by="product", rows=rows),)
    shown = " ".join(written(audit.model_copy(update={"summary": summary, "usage": tables}), width=400).split())

    assert "bill 6,720 USD for the GPUs that have a price held 3,360 USD" in shown
    assert "360 USD out of use board-6 6.00 USD (75 % of its hours), board-5 5.00 USD" in shown
    assert "board-3 3.00 USD (75 % of its hours), and 2 more measurement" in shown


def test_without_series_of_nodes_the_money_is_that_of_the_gpus_that_pods_held() -> None:
    audit = documents.full()
    summary = audit.summary.model_copy(update=dict.fromkeys(NOT_HELD))

    shown = written(audit.model_copy(update={"summary": summary}))

    assert "money        2,251 USD for idle GPUs, of 3,360 USD for all allocated ones" in shown
    assert "  bill " not in shown


def test_where_usher_is_not_switched_on_the_rules_say_so() -> None:
    audit = documents.full()
    off = documents.finding("w", code="USA050", category="cluster", outcome="audit")
    said = "usher is not switched on in this cluster: its webhooks are not registered, so it denies nothing."

    assert said in written(audit.model_copy(update={"findings": (*audit.findings, off)}))
    assert said not in written(audit)


def test_a_rule_about_workloads_that_only_waited_prevents_nothing_that_was_measured() -> None:
    waits = documents.workload("llama", state=WorkloadState.PENDING, usage=Usage())
    found = documents.finding("f1", code="USH330", subject=documents.subject("llama"))
    row = Prevented(code="USH330", title="Every pod fits", workloads=1, gpus=8)
    audit = documents.full().model_copy(update={"workloads": (waits,), "findings": (found,), "prevented": (row,)})

    assert "USH330 Every pod fits: 1 workload with 8 GPUs, which held no GPU" in written(audit)


def test_the_source_of_numbers_stands_beside_the_problems_of_the_measurement() -> None:
    measured = documents.full().measurement.model_copy(update={"sources": ("Hours are those of the meters",)})

    assert "  source       Hours are those of the meters" in written(
        documents.full().model_copy(update={"measurement": measured})
    )


def out_of_service(**fields: object) -> FindingEntry:
    node = documents.subject("gpu-1", kind="Node", namespace="")
    given = {"gpus_lost": 8.0, "cost_per_hour": 24.0, "message": "it has been cordoned for 2 days", **fields}
    return documents.finding("n1", code="USA034", category="cluster", outcome="audit", subject=node, **given)


def repaired(audit: Audit, **fields: object) -> str:
    shown = written(audit.model_copy(update={"findings": (out_of_service(**fields),)}))
    return shown.partition("GPUs that do no work until somebody acts")[2].partition("\n\n")[0].strip()


def test_repairs_have_the_hours_and_the_money_since_the_gpus_are_lost_or_of_the_window() -> None:
    audit = documents.full()

    fresh, unknown = repaired(audit, since="2026-11-21T06:00:00Z"), repaired(audit, cost_per_hour=None)

    assert fresh == "1,152 USD, 384 GPU-hours  Node gpu-1: it has been cordoned for 2 days"
    assert unknown == "1,344 GPU-hours  Node gpu-1: it has been cordoned for 2 days"
    assert repaired(audit, gpus_lost=0.0) == repaired(audit, gpus_lost=None) == ""


def test_without_measurements_repairs_have_the_money_of_an_hour() -> None:
    assert repaired(NOT_MEASURED) == "24.00 USD an hour, 8 GPUs  Node gpu-1: it has been cordoned for 2 days"
    assert repaired(NOT_MEASURED, cost_per_hour=None) == "8 GPUs  Node gpu-1: it has been cordoned for 2 days"
