"""The table of savings, with their sum."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Saving
from usher.reports.audit import ordering
from usher.reports.audit_html import glossary, labels
from usher.reports.web import cells, numbers, sums, tables
from usher.reports.web.page import Section

_COUNTED: Final = "the rows with “yes”"


def _columns(currency: str) -> Iterator[tables.Column]:
    yield tables.Column(title="Change")
    yield tables.Column(title="Workload", heads=True)
    yield tables.Column(title="Owner", narrow=True)
    meaning, money = glossary.meaning("savings"), sums.money(currency)
    yield tables.Column(title="GPU-hours", numeric=True, explained=meaning, adds=sums.HOURS)
    yield tables.Column(title="Money", numeric=True, explained=meaning, adds=money)
    yield tables.Column(title="A week", numeric=True, explained="The money of a week like the days on which it rests")
    yield tables.Column(
        title="In the sum",
        narrow=True,
        explained="Of several changes of one workload only the largest that can be made now",
    )


def section(audit: Audit) -> Section:
    listed = ordering.savings(audit.savings)
    currency, summary = audit.summary.currency, audit.summary
    measured = summary.measured is not None
    return Section(
        name="savings",
        title="Savings",
        count=len(audit.savings),
        lead=_lead(audit),
        body=tables.html(
            tables.Table(
                name="savings-table",
                caption="Savings",
                columns=tuple(_columns(currency)),
                rows=[_row(each, currency) for each in listed],
                filters={"kind": "Change", "team": "Team"},
                part=f"{_COUNTED} that the filters leave",
                total=(
                    cells.lines(("plain", "Sum"), ("muted", _COUNTED)),
                    *(cells.text("") for _ in range(2)),
                    cells.number(summary.savings_gpu_hours, numbers.hours(summary.savings_gpu_hours)),
                    cells.number(summary.savings_cost, numbers.money(summary.savings_cost, currency)),
                    cells.text(""),
                    cells.text(""),
                ),
                empty="Nothing to save was found." if measured else "Not measured: savings rest on the use of GPUs.",
            )
        ),
    )


def _lead(audit: Audit) -> str:
    found = audit.summary
    lead = "Amounts are for the measured window. They assume that the workloads go on as they did in it."
    if not found.savings_cost_freed:
        return lead
    freed = numbers.money(found.savings_cost_freed, found.currency)
    return f"{lead} {freed} of the sum is paid for anyway, on reserved capacity: there the GPUs become free for others."


def _row(each: Saving, currency: str) -> tables.Row:
    return tables.Row(cells=tuple(_cells(each, currency)), facets=(each.kind, each.team), adds=each.adds_up)


def _cells(each: Saving, currency: str) -> Iterator[cells.Cell]:
    evidence: cells.Piece | None = ("more", "Evidence", each.evidence) if each.evidence else None
    first = f"First: {each.needs}" if each.needs else ""
    yield cells.lines(("strong", each.kind), ("plain", each.change), ("muted", first), evidence)
    yield labels.named(each.subject)
    yield cells.text(each.team, labels.NO_TEAM)
    yield cells.number(each.gpu_hours, numbers.hours(each.gpu_hours))
    yield cells.lines(
        ("text" if each.cost is not None else "muted", numbers.money(each.cost, currency)),
        ("muted", "paid for anyway" if each.cost_freed and not each.cost_saved else ""),
        sort=each.cost,
    )
    yield cells.number(each.cost_per_week, numbers.money(each.cost_per_week, currency))
    yield cells.text("yes" if each.adds_up else "no")
