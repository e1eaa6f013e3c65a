"""The table of savings, with their sum."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Saving
from usher.audit.reports import ordering
from usher.audit.reports.audit_html import glossary, labels
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, sums, tables
from usher.audit.reports.web.page import Section

_COUNTED: Final = "the rows with “yes”"


def _columns(currency: str) -> Iterator[tables.Column]:
    money = sums.money(currency)
    yield tables.Column(title="Change")
    yield tables.Column(title="Workload", heads=True)
    yield tables.Column(title="Owner", narrow=True)
    yield tables.Column(title="GPU-hours", numeric=True, explained=glossary.meaning("savings"), adds=sums.HOURS)
    yield tables.Column(title="Money", numeric=True, explained=glossary.meaning("savings-cost"), adds=money)
    yield tables.Column(
        title="A whole week",
        numeric=True,
        explained="The money if the workload had been there for all of a week",
        adds=sums.money(currency, whole=True),
    )
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
                    cells.number(summary.savings_gpu_hours, PAGE.hours(summary.savings_gpu_hours)),
                    cells.number(summary.savings_cost, PAGE.money(summary.savings_cost, currency)),
                    cells.number(week := _week(audit), PAGE.money(week, currency, "")),
                    cells.text(""),
                ),
                empty="Nothing to save was found." if measured else "Not measured: savings rest on the use of GPUs.",
            )
        ),
    )


def _lead(audit: Audit) -> str:
    found = audit.summary
    parts = ((found.savings_cost_saved, "can come off it"), (found.savings_cost_freed, "is paid for anyway"))
    shown = " and ".join(f"{PAGE.money(cost, found.currency)} {name}" for cost, name in parts if cost)
    of_sum = f" Of the sum {shown}." if shown else ""
    return (
        "Amounts are for the measured window. They assume that the workloads go on as they did in it. The bill falls "
        f"only when emptied nodes are given back.{of_sum} On reserved nodes, and on nodes that no label says anything "
        "about, GPUs become free for others, and the bill stays."
    )


def _week(audit: Audit) -> float | None:
    """The sum of what the savings in the sum give in a whole week; None where one of them has no number."""
    found = [each.cost_per_week for each in audit.savings if each.adds_up and each.cost is not None]
    known = [each for each in found if each is not None]
    return sum(known) if known and len(known) == len(found) else None


def _row(each: Saving, currency: str) -> tables.Row:
    return tables.Row(cells=tuple(_cells(each, currency)), facets=(each.kind, each.team), adds=each.adds_up)


def _cells(each: Saving, currency: str) -> Iterator[cells.Cell]:
    evidence: cells.Piece | None = ("more", "Evidence", each.evidence) if each.evidence else None
    first = f"First: {each.needs}" if each.needs else ""
    yield cells.lines(("strong", each.kind), ("plain", each.change), ("muted", first), evidence)
    yield labels.named(each.subject)
    yield cells.text(each.team, labels.NO_TEAM)
    yield cells.number(each.gpu_hours, PAGE.hours(each.gpu_hours))
    yield cells.lines(
        ("text" if each.cost is not None else "muted", PAGE.money(each.cost, currency)),
        ("muted", "paid for anyway" if each.cost_freed and not each.cost_saved else ""),
        sort=each.cost,
    )
    yield cells.number(each.cost_per_week, PAGE.money(each.cost_per_week, currency))
    yield cells.text("yes" if each.adds_up else "no")
