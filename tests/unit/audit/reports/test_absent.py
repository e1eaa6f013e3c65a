"""Reports of clusters where everything is absent: no GPUs, no rights, no measurement; and of far too many names."""

import io
from typing import Final

import pytest

from builders import audit_documents as audits
from usher.audit.document import Audit, Cluster, Completeness, Gap, Group, GroupTable, Measurement, PriceEntry, Summary
from usher.audit.reports import audit_page, audit_text, data_tables

WITHOUT_GPUS: Final = audits.audit(
    cluster=Cluster(name="web", nodes=0),
    completeness=Completeness(complete=True, objects=4_000, pods=3_000),
    summary=Summary(gpus=0, gpus_allocatable=0, gpus_free=0),
)
FORBIDDEN: Final = audits.audit(
    cluster=Cluster(name="locked"),
    completeness=Completeness(
        complete=False,
        gaps=tuple(Gap(source=each, reason="usher may not list them (403)") for each in ("pods", "nodes")),
        left_out=tuple(Gap(source=f"kind-{each}.example.com", reason="no right to list") for each in range(40)),
    ),
)
SILENT: Final = audits.audit(
    summary=Summary(gpus=16, gpus_free=16),
    measurement=Measurement(source="prometheus", problems=("Prometheus answers 401",)),
)


def in_text(audit: Audit, *, width: int = 80) -> str:
    stream = io.StringIO()
    audit_text.write(audit, stream, width=width)
    return stream.getvalue()


def in_markdown(audit: Audit) -> str:
    stream = io.StringIO()
    audit_text.write_markdown(audit, stream)
    return stream.getvalue()


def in_html(audit: Audit) -> str:
    return audit_page.text(audit).partition('<section id="words"')[0]


def test_a_cluster_without_gpus_says_so_in_one_line() -> None:
    shown = in_text(WITHOUT_GPUS)

    assert "GPUs  0: no node has GPUs, and no workload asks for accelerators" in shown
    assert "not measured" not in shown
    assert "The nodes of this cluster have no GPUs." in in_html(WITHOUT_GPUS)
    assert "--prometheus" not in in_markdown(WITHOUT_GPUS)


def test_what_may_not_be_read_is_not_known_and_stands_first() -> None:
    assert in_text(FORBIDDEN).index("INCOMPLETE") < in_text(FORBIDDEN).index("not known: usher has read no nodes")
    assert in_markdown(FORBIDDEN).index("incomplete") < in_markdown(FORBIDDEN).index("| GPUs | not known")
    assert "it is not known how many GPUs there are" in in_html(FORBIDDEN)
    assert "but parts of the cluster were not read" in in_html(FORBIDDEN)
    assert "as far as usher knows" not in in_html(FORBIDDEN)


def test_an_audit_that_read_nothing_does_not_claim_to_have_no_errors() -> None:
    assert in_text(FORBIDDEN).endswith("INCOMPLETE, nothing was judged\n")


def test_with_prices_only_the_usage_of_gpus_is_missing_for_money() -> None:
    note = "audit.prices.rules[1] matches no node (product B200, instance type *, capacity type *). The GPUs are H100"
    priced = audits.audit(
        summary=Summary(gpus=16, gpus_free=16),
        measurement=Measurement(source="none", problems=(note,)),
        prices=(PriceEntry(product="H100", capacity_type="on-demand", per_gpu_hour=2.0),),
    )

    shown = in_text(priced, width=200)

    assert "money        not measured; it needs the usage of GPUs\n" in shown
    assert f"measurement  {note}\n" in shown


def test_forty_kinds_that_were_left_out_for_one_reason_are_one_entry() -> None:
    shown = in_text(FORBIDDEN, width=200)

    assert shown.count("left out: ") == 1
    assert "kind-5.example.com and 34 more: no right to list\n" in shown


def test_forty_reasons_take_ten_lines_and_one_that_counts_the_others() -> None:
    left_out = tuple(Gap(source=f"kind-{number}", reason=f"reason {number}") for number in range(40))
    given = FORBIDDEN.completeness.model_copy(update={"left_out": left_out})

    shown = in_text(FORBIDDEN.model_copy(update={"completeness": given}))

    assert shown.count("left out: kind-") == 10
    assert "left out: 30 more; --format json lists all" in shown


def test_without_prometheus_every_report_says_how_to_measure() -> None:
    for shown in (in_text(FORBIDDEN), in_markdown(FORBIDDEN), in_html(FORBIDDEN)):
        assert "--prometheus URL" in shown


def test_a_prometheus_that_did_not_answer_is_the_reason_and_not_the_advice() -> None:
    for shown in (in_text(SILENT), in_markdown(SILENT), in_html(SILENT)):
        assert "Prometheus answers 401" in shown
        assert "--prometheus" not in shown


@pytest.mark.parametrize("audit", [WITHOUT_GPUS, FORBIDDEN, SILENT], ids=["without GPUs", "forbidden", "silent"])
def test_metrics_and_tables_of_nothing_have_no_invented_number(audit: Audit) -> None:
    stream = io.StringIO()
    data_tables.write_metrics(audit, stream)
    tables = dict(data_tables.csv_files(audit))

    assert "gpu_seconds{" not in stream.getvalue()
    assert {name: content.count(b"\r\n") for name, content in tables.items() if name != "gaps.csv"} == {
        name: 1 + (name == "audits.csv") for name in tables if name != "gaps.csv"
    }


@pytest.mark.costly
def test_names_of_253_characters_leave_the_numbers_where_people_see_them() -> None:
    hostile = "=<b>x\x1b[31m" * 31
    names = [f"{number:05}{hostile}"[:253] for number in range(1_000)]
    many = audits.audit(
        workloads=tuple(audits.workload(each, team=each) for each in names),
        usage=(GroupTable(by="team", rows=tuple(Group(name=each, workloads=1, usage=audits.USED) for each in names)),),
    )
    row = next(line for line in in_text(many).splitlines() if line.startswith("  00000"))

    assert row.index("…") < 200
    assert "and 990 more teams" in in_text(many)
    assert len(in_markdown(many)) < audit_text.MAX_SIZE
    assert "\x1b" not in in_html(many)
    assert "<b>x" not in in_html(many)
