"""The tables of use and money of an audit in Markdown."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Cost, GroupTable, Prevented, Usage, WorkloadEntry
from usher.audit.reports import accelerator_rows, never_held, numbers, ordering, words
from usher.audit.reports.markdown_cells import code, prose, subject
from usher.audit.reports.markdown_table import ROWS, Table
from usher.audit.reports.numbers import TEXT

_SAVINGS: Final = 10
"""Rows of savings: their texts are long, and the findings below them need room as well."""
_REST: Final = ("held by no pod", "its cost")
_GROUPS: Final = 10
"""Rows of a table that is not by team, for the same reason."""


def teams(audit: Audit) -> Iterator[Table]:
    yield from (_group(audit, each) for each in audit.usage if each.by == "team")


def others(audit: Audit) -> Iterator[Table]:
    """Usage by every other property."""
    yield from (_group(audit, each, most=_GROUPS) for each in audit.usage if each.by != "team")


def _group(audit: Audit, table: GroupTable, *, most: int = ROWS) -> Table:
    name, without = words.BY.get(table.by, (table.by, "not known"))
    found = audit.summary
    cost = None
    if found.cost_allocated is not None:
        cost = Cost(currency=found.currency, allocated=found.cost_allocated, idle=found.cost_idle)
    rest = any(row.not_held is not None for row in table.rows)
    whole = Usage(
        gpus_now=sum(row.usage.gpus_now for row in table.rows),
        allocated=found.allocated,
        idle=found.idle,
        activity=found.activity,
        cost=cost,
    )
    return Table(
        title=f"GPU-hours by {name}",
        header=(name, "GPUs now", "activity", "idle", "allocated", "cost of idle", "cost", *(_REST if rest else ())),
        rows=[
            (
                code(row.name) if row.name else without,
                *_usage(row.usage),
                *(_rest(row.not_held, row.cost_not_held, found.currency) if rest else ()),
            )
            for row in table.rows
        ],
        total=(
            "**sum**",
            *_usage(whole),
            *(_rest(found.not_held, found.cost_not_held, found.currency) if rest else ()),
        )
        if len(table.rows) > 1
        else (),
        most=most,
    )


def _rest(hours: float | None, cost: float | None, currency: str) -> tuple[str, str]:
    missing = numbers.NOT_MEASURED if hours is None else numbers.NOT_PRICED
    return TEXT.hours(hours), missing if cost is None else TEXT.money(cost, prose(currency))


def _usage(usage: Usage) -> Iterator[str]:
    yield TEXT.number(usage.gpus_now)
    yield TEXT.share(usage.activity)
    yield TEXT.hours(usage.idle)
    yield TEXT.hours(usage.allocated)
    missing = numbers.NOT_MEASURED if usage.allocated is None else numbers.NOT_PRICED
    cost = usage.cost
    for amount in (cost.idle, cost.allocated) if cost is not None else (None, None):
        yield missing if amount is None or cost is None else TEXT.money(amount, prose(cost.currency))


def accelerators(audit: Audit) -> Table:
    found = audit.other_accelerators if audit.summary.knows_cluster else ()
    cells = ((code(name), *map(prose, amounts)) for name, *amounts in accelerator_rows.rows(found))
    return Table(title="Other accelerators", header=accelerator_rows.HEADERS, rows=[*cells])


def savings(audit: Audit) -> Table:
    found, currency = audit.summary, prose(audit.summary.currency)
    return Table(
        title="What could be saved",
        header=("change", "workload", "team", "why", "GPU-hours", "money", "in the sum"),
        rows=[
            (
                f"{prose(each.kind)}: {prose(f'{each.change}. First: {each.needs}' if each.needs else each.change)}",
                subject(each.subject),
                prose(each.team, empty=""),
                prose("; ".join(each.evidence)),
                TEXT.hours(each.gpu_hours),
                TEXT.money(each.cost, currency),
                "yes" if each.adds_up else "no",
            )
            for each in ordering.savings(audit.savings)
        ],
        total=(
            "**sum**",
            *[""] * 3,
            TEXT.hours(found.savings_gpu_hours),
            TEXT.money(found.savings_cost, currency),
            "",
        ),
        most=_SAVINGS,
    )


def workloads(audit: Audit) -> Table:
    found, measured = words.about(audit.findings), audit.summary.measured is not None
    use = ("activity", "idle", "cost of idle") if measured else ()
    return Table(
        title="Workloads",
        header=("workload", "team", "state", "GPUs", *use, "findings"),
        rows=[
            (
                subject(each.subject) + (f" {code(each.place)}" if each.place else ""),
                prose(each.team, empty=""),
                each.state.value,
                prose(TEXT.accelerators(each.gpus, each.gpus_least, each.other_accelerators)),
                *(_idle(each) if measured else ()),
                f"{found[words.subject(each.subject)]:,}",
            )
            for each in ordering.workloads(audit.workloads)
        ],
    )


def _idle(each: WorkloadEntry) -> tuple[str, ...]:
    if never_held.by_workload(each):
        return never_held.WASTE
    activity, idle, _, cost, _ = [*_usage(each.usage)][1:]
    return activity, idle, cost


def prevented(audit: Audit) -> Table:
    return Table(
        title="What rules of usher would have prevented",
        header=("rule", "at admission", "workloads", "GPUs", "idle", "stuck", "money"),
        rows=[
            (
                f"{code(each.code)} {prose(each.title)}",
                "would deny" if each.denies else "would only warn",
                f"{each.workloads:,}",
                TEXT.number(each.gpus),
                *_waste(audit, each),
            )
            for each in sorted(audit.prevented, key=lambda each: not each.denies)
        ],
    )


def _waste(audit: Audit, each: Prevented) -> tuple[str, ...]:
    if never_held.by_rule(audit, each):
        return never_held.WASTE
    cost = TEXT.money(each.cost, prose(audit.summary.currency))
    return TEXT.hours(each.idle), TEXT.hours(each.stuck), cost
