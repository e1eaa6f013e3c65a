"""The table of GPU-hours that rules of usher would have kept from being wasted."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Prevented
from usher.audit.reports import never_held, words
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.page import Section

_COLUMNS: Final = (
    tables.Column(title="Rule", heads=True),
    tables.Column(
        title="At admission",
        narrow=True,
        explained="What the rule does by usher.yaml; one that only warns would have prevented this if it denied",
    ),
    tables.Column(title="Workloads", numeric=True, explained="Workloads of now in which the rule finds a mistake"),
    tables.Column(title="GPUs", numeric=True, explained="That they hold; else those that they ask for"),
    tables.Column(title="Idle", numeric=True, explained="Their idle GPU-hours in the window"),
    tables.Column(title="Stuck", numeric=True, explained="GPU-hours that they hold while they cannot start"),
    tables.Column(title="Cost", numeric=True, explained="Of the idle and the stuck GPU-hours"),
)


_LEAD: Final = (
    "What workloads waste in which rules of usher find a mistake: with enforcement they would not be there. A workload "
    "counts for each rule that finds one, so the rows do not add up."
)


def section(audit: Audit) -> Section:
    currency = audit.summary.currency
    listed = sorted(audit.prevented, key=lambda each: not each.denies)
    return Section(
        name="prevented",
        title="What rules would have prevented",
        count=len(audit.prevented),
        lead=" ".join(filter(None, (_LEAD, words.switched_off(audit)))),
        body=tables.html(
            tables.Table(
                name="prevented-table",
                caption="What rules would have prevented",
                columns=_COLUMNS,
                rows=[tables.Row(cells=tuple(_cells(audit, each, currency))) for each in listed],
                empty="No rule of usher finds a mistake in a workload that wastes GPUs.",
            )
        ),
    )


def _cells(audit: Audit, each: Prevented, currency: str) -> Iterator[cells.Cell]:
    yield cells.lines(("link", each.code, f"#findings-table?{tables.query(q=each.code)}"), ("plain", each.title))
    yield cells.badge("would deny", "bad") if each.denies else cells.badge("would only warn", "warn")
    yield cells.number(each.workloads, f"{each.workloads:,}")
    yield cells.number(each.gpus, PAGE.number(each.gpus))
    if never_held.by_rule(audit, each):
        yield from (
            cells.text("", never_held.HELD_NONE),
            cells.text("", never_held.HELD_NONE),
            cells.text("", never_held.NO_MONEY),
        )
        return
    yield cells.number(each.idle, PAGE.hours(each.idle))
    yield cells.number(each.stuck, PAGE.hours(each.stuck))
    yield cells.number(each.cost, PAGE.money(each.cost, currency))
