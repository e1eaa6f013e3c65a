"""What to do first: the changes and repairs that are worth most, each with its owner and its way.

Each begins with a plain sentence for those who pay, and ends with the change for those who make it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from usher.audit.document import Audit, Saving
from usher.audit.reports import numbers, repairs
from usher.audit.reports.audit_html import labels
from usher.audit.reports.audit_html.findings import fragment
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.repairs import Repair
from usher.audit.reports.web import tables
from usher.audit.reports.web.markup import Html, element
from usher.dataclass import dataclass
from usher.reports import wording

SHOWN: Final = 5

_SAVINGS: Final = {
    "idle workload": "is idle most of the time: stop it, or make it smaller",
    "smaller MIG profile": "uses a small part of its GPU: give it a part alone (MIG)",
    "spot": "could run on spot nodes, which cost less",
    "fewer replicas at night": "has more copies at night than it needs",
}
"""By the kind of a saving."""

_REPAIRS: Final = {
    "half-started-gang": "holds GPUs and has waited for its other pods",
    "node-out-of-service": "has been out of service",
    "unhealthy-devices": "has GPUs that do not work",
}
"""By the name of a finding about GPUs that do no work until somebody acts."""

_WAITS: Final = "holds GPUs and cannot start: stop it until all its pods can start together"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    hours: float
    """GPU-hours of the window; where nothing was measured, GPUs."""
    cost: float | None
    about: str
    link: str
    chosen: str = ""
    """The rows of the table that the link leads to."""
    plain: str
    worth: str
    owner: str
    remedy: str


def html(audit: Audit) -> Iterator[Html]:
    """A list of at most `SHOWN` steps: the most money first, or the most GPU-hours where one of them has no price."""
    steps = _ranked(list(_steps(audit)))[:SHOWN]
    if not steps:
        measured = audit.summary.measured is not None
        text = "Nothing was found that gives back GPU time." if measured else "Savings need measured usage."
        yield element("p", text, class_="muted")
        return
    yield element("ol", *map(_shown, steps), class_="list")


def _ranked(steps: Sequence[_Step]) -> list[_Step]:
    priced = all(each.cost is not None for each in steps)
    return sorted(steps, key=lambda each: (-(each.cost or 0.0) if priced else 0.0, -each.hours, each.about))


def _steps(audit: Audit) -> Iterator[_Step]:
    for each in audit.savings:
        if each.adds_up:
            yield _saving(each, audit.summary.currency)
    for repair in repairs.of(audit):
        yield _repair(audit, repair)
    if audit.summary.free:
        yield _free(audit, audit.summary.free)


def _saving(each: Saving, currency: str) -> _Step:
    return _Step(
        hours=each.gpu_hours,
        cost=each.cost,
        about=labels.name_of(each.subject),
        link="#savings-table",
        chosen=tables.query(q=labels.place(each.subject)),
        plain=_WAITS if each.finding else _SAVINGS.get(each.kind, each.kind),
        worth=_worth(each.gpu_hours, each.cost, currency),
        owner=each.team or labels.NO_TEAM,
        remedy=each.change,
    )


def _repair(audit: Audit, repair: Repair) -> _Step:
    found, currency = repair.finding, audit.summary.currency
    lasting = numbers.seconds_between(found.since, audit.taken)
    doing = _REPAIRS.get(found.name, "has GPUs that do no work")
    if repair.hours is None:
        worth = "" if repair.cost is None else f"{PAGE.money(repair.cost, currency)} an hour"
    else:
        worth = _worth(repair.hours, repair.cost, currency)
    return _Step(
        hours=repair.gpus if repair.hours is None else repair.hours,
        cost=repair.cost,
        about=labels.name_of(found.subject),
        link=f"#{fragment(found)}",
        plain=f"{doing}{f' for {numbers.lasting(lasting)}' if lasting is not None else ''}",
        worth=", ".join(filter(None, (PAGE.gpus(repair.gpus), worth))),
        owner=labels.owner(found),
        remedy=found.remedy,
    )


def _free(audit: Audit, hours: float) -> _Step:
    """All free GPUs together; the tables of usage say which boards they are."""
    found = audit.summary
    by_nodes = next((table for table in audit.usage if table.by == "product"), None)
    return _Step(
        hours=hours,
        cost=found.cost_free,
        about="Free GPUs",
        link="#usage-product" if by_nodes is not None and by_nodes.rows else "#usage",
        plain="are paid for, and no pod held them",
        worth=_worth(hours, found.cost_free, found.currency),
        owner=labels.PLATFORM,
        remedy=(
            "Keep those that you want as a reserve. Give back on-demand and spot nodes that stay empty, and find work "
            "for reserved ones."
        ),
    )


def _worth(hours: float, cost: float | None, currency: str) -> str:
    parts = ("" if not hours and cost else PAGE.hours(hours), "" if cost is None else PAGE.money(cost, currency))
    return ", ".join(filter(None, parts))


def _shown(step: _Step) -> Html:
    return element(
        "li",
        element("a", step.about, href=step.link, data_filter=step.chosen or None),
        f" {step.plain}: ",
        element("strong", step.worth),
        element("small", f"{step.owner}: {wording.capitalised(step.remedy)}"),
    )
