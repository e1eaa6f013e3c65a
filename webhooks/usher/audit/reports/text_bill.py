"""What GPUs cost, as labelled rows of text: held by pods, held by no pod, and the boards that no pod held."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Group, Summary
from usher.audit.reports import numbers
from usher.audit.reports.numbers import TEXT
from usher.reports.lines import Row

_SHOWN: Final = 4
"""Boards, and ways of paying."""


def measured(audit: Audit) -> Iterator[Row]:
    """The bill of the window; where nodes have no series, what pods held and what GPUs cost now that no pod holds."""
    found = audit.summary
    if found.cost_idle is None:
        yield Row("money", "not priced; set audit.prices in usher.yaml")
    if found.bill is None:
        yield from _idle(found)
        yield from of_now(found)
    else:
        yield from _bill(audit, found.bill)
    if found.not_priced:
        yield Row("not priced", f"{TEXT.number(found.not_priced)} GPU-hours have no price in usher.yaml")


def of_now(found: Summary) -> Iterator[Row]:
    """What GPUs cost for an hour that no pod holds now."""
    free, out = found.cost_per_hour_free, found.cost_per_hour_out_of_use
    if free is not None and out is not None:
        yield Row(
            "not held",
            f"{TEXT.money(free + out, found.currency)} an hour now: {TEXT.money(free, found.currency)} for free "
            f"GPUs, {TEXT.money(out, found.currency)} for GPUs out of use",
        )


def _idle(found: Summary) -> Iterator[Row]:
    if found.cost_idle is not None:
        whole = "" if found.cost_allocated is None else TEXT.money(found.cost_allocated, found.currency)
        allocated = f", of {whole} for all allocated ones" if whole else ""
        yield Row("money", f"{TEXT.money(found.cost_idle, found.currency)} for idle GPUs{allocated}")


def _bill(audit: Audit, bill: float) -> Iterator[Row]:
    found = audit.summary
    whole = "the GPUs that have a price" if found.bill_has_gaps else "all GPUs, held by pods or not"
    yield Row("bill", f"{TEXT.money(bill, found.currency)} for {whole}")
    if found.cost_allocated is not None:
        held = f"{TEXT.money(found.cost_allocated, found.currency)}{_share(found.cost_allocated, bill)}"
        yield Row("held", f"{held} for GPUs that pods held{_of_it_idle(found)}")
    if found.cost_not_held is not None:
        parts = ((found.cost_free, "free"), (found.cost_out_of_use, "out of use"))
        shown = [f"{TEXT.money(cost, found.currency)} {name}" for cost, name in parts if cost is not None]
        rest = f"{TEXT.money(found.cost_not_held, found.currency)}{_share(found.cost_not_held, bill)}"
        yield Row("not held", f"{rest} for GPUs that no pod held: {', '.join(shown)}")
        yield from _of_nodes(audit)


def _of_it_idle(found: Summary) -> str:
    if found.cost_idle is None or not found.cost_allocated:
        return ""
    return f"; {TEXT.money(found.cost_idle, found.currency)}{_share(found.cost_idle, found.cost_allocated)} of it idle"


def _of_nodes(audit: Audit) -> Iterator[Row]:
    """What no pod held by board and by capacity type, the most expensive first, with its part of all their hours."""
    for table in audit.usage:
        currency = audit.summary.currency
        costs = {row.name: row.cost_not_held for row in table.rows if row.cost_not_held}
        rows = sorted((row for row in table.rows if row.name in costs), key=lambda row: (-costs[row.name], row.name))
        shown = [
            f"{numbers.short(row.name) or 'not known'} {TEXT.money(costs[row.name], currency)}{_part(row)}"
            for row in rows[:_SHOWN]
        ]
        if len(rows) > _SHOWN:
            shown.append(f"and {len(rows) - _SHOWN:,} more")
        if shown:
            yield Row("", ", ".join(shown))


def _part(row: Group) -> str:
    rest = row.not_held or 0.0
    return _share(rest, (row.usage.allocated or 0.0) + rest, " of its hours")


def _share(amount: float, whole: float, of: str = "") -> str:
    return f" ({TEXT.share(amount / whole)}{of})" if whole else ""
