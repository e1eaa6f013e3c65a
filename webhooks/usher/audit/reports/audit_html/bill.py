"""What the GPUs of a cluster cost, in sentences whose parts add up: held by pods, and held by no pod."""

from collections.abc import Iterator

from usher.audit.document import Audit, Summary
from usher.audit.reports import numbers
from usher.audit.reports.numbers import PAGE

_PODS = "pods (running programs)"


def sentences(audit: Audit) -> Iterator[str]:
    """Money where it is known, else GPU-hours, else the money of an hour; nothing where all of this is unknown."""
    found = audit.summary
    if found.bill is not None:
        yield from _in_money(audit, found.bill)
    elif found.capacity is not None:
        yield from _in_hours(audit, found.capacity)
    elif found.idle is not None:
        yield from _idle(audit)
    else:
        yield from _an_hour(found)


def window(audit: Audit) -> str:
    """`the last 7 days`; `the window` where its times are not known."""
    seconds = numbers.seconds_between(audit.measurement.start, audit.measurement.end)
    return f"the last {numbers.days(seconds)}" if seconds else "the window"


def priced(found: Summary) -> str:
    """The GPUs that the bill is about."""
    return "the GPUs that have a price" if found.bill_has_gaps else "the GPUs of this cluster"


def rest(found: Summary) -> str:
    """`USD 14,179 free, USD 4,099 out of use`; GPU-hours where they have no price."""
    money = (found.cost_free, found.cost_out_of_use)
    if found.cost_not_held is None:
        parts = [(hours, PAGE.hours(hours)) for hours in (found.free, found.out_of_use)]
    else:
        parts = [(each, PAGE.money(each, found.currency)) for each in money]
    return ", ".join(
        f"{shown} {name}" for (amount, shown), name in zip(parts, ("free", "out of use"), strict=True) if amount
    )


def _in_money(audit: Audit, bill: float) -> Iterator[str]:
    found = audit.summary
    held, other = found.cost_allocated or 0.0, found.cost_not_held or 0.0
    yield f"In {window(audit)} {priced(found)} cost {PAGE.money(bill, found.currency)}. "
    idle = "" if found.cost_idle is None else f"; {PAGE.money(found.cost_idle, found.currency)} of that was idle"
    yield f"Of this, {_PODS} held {PAGE.money(held, found.currency)}{_share(held, bill)}{idle}. "
    if other:
        yield f"No pod held the other {PAGE.money(other, found.currency)}{_share(other, bill)}: {rest(found)}. "


def _in_hours(audit: Audit, capacity: float) -> Iterator[str]:
    found = audit.summary
    held, other = found.allocated or 0.0, found.not_held or 0.0
    yield f"In {window(audit)} the GPUs of this cluster had {PAGE.hours(capacity)}. "
    idle = "" if found.idle is None else f"; {PAGE.hours(found.idle)} of that were idle"
    yield f"Of these, {_PODS} held {PAGE.hours(held)}{_share(held, capacity)}{idle}. "
    if other:
        yield f"No pod held the other {PAGE.hours(other)}{_share(other, capacity)}: {rest(found)}. "


def _idle(audit: Audit) -> Iterator[str]:
    """Without series of nodes only what pods held is known."""
    found = audit.summary
    part = PAGE.share(numbers.part(found.idle, found.measured))
    cost = f", which cost {PAGE.money(found.cost_idle, found.currency)}" if found.cost_idle else ""
    whole = f" of {PAGE.money(found.cost_allocated, found.currency)}" if cost else ""
    yield f"Of the GPU time that {_PODS} held in {window(audit)}, {part} was idle: "
    yield f"{PAGE.hours(found.idle)}{cost}{whole}. "


def _an_hour(found: Summary) -> Iterator[str]:
    parts = (
        (found.cost_per_hour_allocated, f"held by {_PODS}"),
        (found.cost_per_hour_free, "free"),
        (found.cost_per_hour_out_of_use, "out of use"),
    )
    known = [(cost, name) for cost, name in parts if cost is not None]
    whole = sum(cost for cost, _ in known)
    if whole and found.cost_per_hour_free is not None:
        shown = ", ".join(f"{PAGE.money(cost, found.currency)} {name}" for cost, name in known if cost)
        yield f"An hour of {priced(found)} costs {PAGE.money(whole, found.currency)}: {shown}. "


def _share(amount: float, whole: float) -> str:
    return f" ({PAGE.share(amount / whole)})" if whole else ""
