"""The table of savings, with their sum."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Saving
from usher.reports.audit_html import glossary, words
from usher.reports.web import cells, numbers, tables
from usher.reports.web.page import Section

_COLUMNS: Final = (
    tables.Column(title="Change"),
    tables.Column(title="Workload", heads=True),
    tables.Column(title="Owner"),
    tables.Column(title="Evidence"),
    tables.Column(title="GPU-hours", numeric=True, explained=glossary.meaning("savings")),
    tables.Column(title="Money", numeric=True, explained=glossary.meaning("savings")),
    tables.Column(
        title="In the sum", narrow=True, explained="Of several changes of one workload only the largest counts"
    ),
)


def section(audit: Audit) -> Section:
    listed = sorted(audit.savings, key=lambda each: (not each.adds_up, -(each.cost or 0.0), -each.gpu_hours, each.kind))
    currency, summary = audit.summary.currency, audit.summary
    measured = summary.measured is not None
    return Section(
        name="savings",
        title="Savings",
        count=len(audit.savings),
        lead="Amounts are for the measured window. They assume that the workloads go on as they did in it.",
        body=tables.html(
            tables.Table(
                name="savings-table",
                caption="Savings",
                columns=_COLUMNS,
                rows=[
                    tables.Row(cells=tuple(_cells(each, currency)), facets=(each.kind, each.team)) for each in listed
                ],
                filters={"kind": "Change", "team": "Team"},
                total=(
                    cells.text("Sum"),
                    *(cells.text("") for _ in range(3)),
                    cells.number(summary.savings_gpu_hours, numbers.hours(summary.savings_gpu_hours)),
                    cells.number(summary.savings_cost, numbers.money(summary.savings_cost, currency)),
                    cells.text(""),
                ),
                empty="Nothing to save was found." if measured else "Not measured: savings rest on the use of GPUs.",
            )
        ),
    )


def _cells(each: Saving, currency: str) -> Iterator[cells.Cell]:
    yield cells.lines(("strong", each.kind), ("plain", each.change))
    yield cells.lines(("muted", each.subject.kind), ("strong", words.place(each.subject)))
    yield cells.text(each.team, words.NO_TEAM)
    yield cells.lines(*(("plain", line) for line in each.evidence))
    yield cells.number(each.gpu_hours, numbers.hours(each.gpu_hours))
    yield cells.number(each.cost, numbers.money(each.cost, currency))
    yield cells.text("yes" if each.adds_up else "no")
