"""Accelerators other than GPUs, on the first screen: where those of each resource are now."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import AcceleratorEntry, Audit
from usher.audit.reports import numbers
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import charts
from usher.audit.reports.web.markup import Html, element
from usher.reports import wording

_SHOWN: Final = 12
_LOOKS: Final = (("busy", "held by pods"), ("free", "free"), ("out", "out of use"))


def card(audit: Audit) -> Html | None:
    """A bar for each resource, on a scale of its own; None where the cluster has GPUs alone."""
    found = audit.other_accelerators
    if not found:
        return None
    rows = (
        element("li", charts.row(numbers.short(each.resource), _bar(each), _amounts(each))) for each in found[:_SHOWN]
    )
    more = len(found) - _SHOWN
    rest = f"and {wording.count(more, 'more resource')}, in the other formats"
    return element(
        "article",
        element("h3", "Other accelerators now" if not audit.summary.without_gpus else "Accelerators now"),
        element("ul", *rows, class_="bars long"),
        element("p", rest, class_="muted") if more > 0 else None,
        charts.legend([charts.Part(look=look, amount=1, title=title) for look, title in _LOOKS]),
        class_="card wide",
    )


def _bar(found: AcceleratorEntry) -> Html:
    amounts = (found.allocated, found.free, found.out_of_use)
    parts = [
        charts.Part(look=look, amount=amount or 0.0, title=f"{PAGE.number(amount, 'not known')} {name}")
        for (look, name), amount in zip(_LOOKS, amounts, strict=True)
    ]
    return charts.stacked(parts, found.capacity or found.allocated or 0.0)


def _amounts(found: AcceleratorEntry) -> str:
    return ", ".join(_said(found))


def _said(found: AcceleratorEntry) -> Iterator[str]:
    """`12 of 16 held`, `4 waiting`, `4 can never run`."""
    held = PAGE.number(found.allocated, "not known")
    if found.capacity is None:
        yield f"{held} held"
        yield "capacity not known"
    else:
        yield f"{held} of {PAGE.number(found.capacity)} held"
    if found.waiting:
        yield f"{PAGE.number(found.waiting)} waiting"
    if found.never:
        yield f"{PAGE.number(found.never)} can never run"
