"""The first sentences of an audit, the same in each form: for people who pay, with at most three numbers each."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Summary
from usher.audit.reports import entry_words, numbers, usage_tables
from usher.audit.reports.numbers import Form
from usher.check.formats import wording

_PODS: Final = "pods (running programs)"


def sentences(audit: Audit, form: Form) -> list[str]:
    """The bill and where it went, how busy the GPUs were, who holds them now, and which workloads can never run.

    Args:
        audit: the document; of a cluster or of a part of it.
        form: how numbers are written.
    """
    found = audit.summary
    if found.gpus == 0:
        return [*_without_gpus(audit, form)]
    return [*_bill(audit, form), *_busy(audit, form), *_now(audit, form), *_never(audit, form)]


def _bill(audit: Audit, form: Form) -> Iterator[str]:
    """Money where it is known, else GPU-hours, else the money of an hour; nothing where all of this is unknown."""
    found = audit.summary
    if found.bill is not None:
        yield from _in_money(audit, found.bill, form)
    elif found.capacity is not None:
        yield from _in_hours(audit, found.capacity, form)
    elif found.idle is not None:
        yield from _idle(audit, form)
    else:
        yield from _an_hour(found, form)


def _in_money(audit: Audit, bill: float, form: Form) -> Iterator[str]:
    found, money = audit.summary, audit.summary.currency
    held, other = found.cost_allocated or 0.0, found.cost_not_held or 0.0
    yield f"In {_window(audit)} {_priced_gpus(found)} cost {form.money(bill, money)}."
    idle = "" if found.cost_idle is None else f"; {form.money(found.cost_idle, money)} of that was idle"
    yield f"Of this, {_PODS} held {form.money(held, money)}{_share(held, bill, form)}{idle}."
    if other:
        yield f"No pod held the other {form.money(other, money)}{_share(other, bill, form)}."
    if found.savings_cost_saved:
        saved = form.money(found.savings_cost_saved, money)
        yield f"{saved} could come off the bill once emptied nodes are given back."


def _in_hours(audit: Audit, capacity: float, form: Form) -> Iterator[str]:
    found = audit.summary
    held, other = found.allocated or 0.0, found.not_held or 0.0
    yield f"In {_window(audit)} the GPUs of this cluster had {form.hours(capacity)}."
    idle = "" if found.idle is None else f"; {form.hours(found.idle)} of that were idle"
    yield f"Of these, {_PODS} held {form.hours(held)}{_share(held, capacity, form)}{idle}."
    if other:
        yield f"No pod held the other {form.hours(other)}{_share(other, capacity, form)}."


def _idle(audit: Audit, form: Form) -> Iterator[str]:
    """Without series of nodes only what pods held is known."""
    found, money = audit.summary, audit.summary.currency
    part = form.share(numbers.part(found.idle, found.measured))
    yield f"Of the GPU time that {_PODS} held in {_window(audit)}, {part} was idle: {form.hours(found.idle)}."
    if found.cost_idle:
        whole = form.money(found.cost_allocated, money)
        yield f"The idle time cost {form.money(found.cost_idle, money)}, of {whole} for all that pods held."


def _an_hour(found: Summary, form: Form) -> Iterator[str]:
    parts = (
        (found.cost_per_hour_allocated, f"GPUs held by {_PODS}"),
        (found.cost_per_hour_free, "free GPUs"),
        (found.cost_per_hour_out_of_use, "GPUs out of use"),
    )
    known = [(cost, name) for cost, name in parts if cost]
    whole = sum(cost for cost, _ in known)
    if whole and found.cost_per_hour_free is not None:
        shown = ", ".join(f"{form.money(cost, found.currency)} for {name}" for cost, name in known)
        yield f"An hour of {_priced_gpus(found)} costs {form.money(whole, found.currency)}."
        yield f"This is {shown}."


def _window(audit: Audit) -> str:
    """`the last 7 days`; `the window` where its times are not known."""
    seconds = numbers.seconds_between(audit.measurement.start, audit.measurement.end)
    return f"the last {numbers.days(seconds)}" if seconds else "the window"


def _priced_gpus(found: Summary) -> str:
    """The GPUs that the bill is about."""
    return "the GPUs that have a price" if found.bill_has_gaps else "the GPUs of this cluster"


def _share(amount: float, whole: float, form: Form) -> str:
    return f" ({form.share(amount / whole)})" if whole else ""


def _busy(audit: Audit, form: Form) -> Iterator[str]:
    busy = next((each for each in audit.targets if each.name == "activity"), None)
    if busy is not None and busy.actual is not None:
        part = usage_tables.target_base(busy, audit.summary)
        measured = f", measured for {part} of their hours" if part else ""
        yield f"All GPUs together, also those that no pod held, were {form.share(busy.actual)} busy{measured}."


def _now(audit: Audit, form: Form) -> Iterator[str]:
    found = audit.summary
    if found.gpus is None:
        yield (
            "The nodes were not read, so it is not known how many GPUs there are."
            if audit.cluster.is_whole
            else f"Now pods of this part of the cluster hold {form.gpus(found.gpus_allocated)}."
        )
    elif found.gpus_allocated is not None:
        yield f"Now pods hold {form.number(found.gpus_allocated)} of {form.gpus(found.gpus)}."
    if found.gpus_allocated is None:
        if found.gpus is not None:
            yield f"The nodes have {form.gpus(found.gpus)}."
        yield "The pods were not read, so it is not known which GPUs they hold, what waits and what never runs."


def _never(audit: Audit, form: Form) -> Iterator[str]:
    found = audit.summary
    if found.workloads_never:
        can = wording.count(found.workloads_never, "workload")
        asks = "asks" if found.workloads_never == 1 else "ask"
        gpus = form.gpus(found.gpus_never, least=entry_words.least_never(audit))
        yield f"{can} can never run as written, and {asks} for {gpus}."


def _without_gpus(audit: Audit, form: Form) -> Iterator[str]:
    held = entry_words.others_held(audit.summary)
    has = form.others({each.resource: each.capacity or 0.0 for each in audit.other_accelerators})
    yield "The nodes of this cluster have no GPUs."
    if has:
        yield f"They have {has}."
        yield f"Now pods hold {held}." if held else "Now no pod holds any of them."
    elif held:
        yield f"Pods hold {held}."
    if waiting := form.others({each.resource: each.waiting or 0.0 for each in audit.other_accelerators}):
        yield f"Pods and suspended workloads wait for {waiting}."
    if audit.summary.workloads_not_known:
        yield f"The accelerators of {wording.count(audit.summary.workloads_not_known, 'workload')} are not known."
