"""What to do first: the changes and repairs that give back the most GPU time, each with its owner and its way."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, FindingEntry, Saving
from usher.dataclass import dataclass
from usher.reports import wording
from usher.reports.audit_html import labels
from usher.reports.audit_html.findings import fragment
from usher.reports.web import numbers, tables
from usher.reports.web.markup import Html, element

SHOWN: Final = 5

_LOST: Final = frozenset({"half-started-gang", "node-out-of-service", "unhealthy-devices"})
"""Findings about GPUs that do no work until somebody acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    weight: float
    """GPU-hours of the window; where nothing was measured, GPUs."""
    about: str
    link: str
    chosen: str = ""
    """The rows of the table that the link leads to."""
    worth: str
    owner: str
    remedy: str


def html(audit: Audit) -> Iterator[Html]:
    """A list of at most `SHOWN` steps, the largest first."""
    steps = sorted(_steps(audit), key=lambda each: (-each.weight, each.about))[:SHOWN]
    if not steps:
        measured = audit.summary.measured is not None
        text = "Nothing was found that gives back GPU time." if measured else "Savings need measured usage."
        yield element("p", text, class_="muted")
        return
    yield element("ol", *map(_shown, steps), class_="list")


def _steps(audit: Audit) -> Iterator[_Step]:
    saved = [each for each in audit.savings if each.adds_up]
    for each in saved:
        yield _saving(each, audit.summary.currency)
    known = {each.subject for each in saved}
    window = numbers.seconds_between(audit.measurement.start, audit.measurement.end)
    for found in audit.findings:
        if found.name in _LOST and found.gpus and found.subject not in known:
            yield _repair(found, window)


def _saving(each: Saving, currency: str) -> _Step:
    cost = "" if each.cost is None else f", {numbers.money(each.cost, currency)}"
    return _Step(
        weight=each.gpu_hours,
        about=labels.name_of(each.subject),
        link="#savings-table",
        chosen=tables.query(q=labels.place(each.subject)),
        worth=f"{each.kind}: {numbers.hours(each.gpu_hours)}{cost}",
        owner=each.team or labels.NO_TEAM,
        remedy=each.change,
    )


def _repair(found: FindingEntry, window: float | None) -> _Step:
    """A GPU that is lost now counts for the whole window, because most of them were lost before it."""
    return _Step(
        weight=found.known_gpus * (window / 3_600 if window else 1),
        about=labels.name_of(found.subject),
        link=f"#{fragment(found)}",
        worth=f"{found.title[:1].lower()}{found.title[1:]}: {numbers.gpus(found.gpus)} without work",
        owner=found.team or "platform",
        remedy=found.remedy,
    )


def _shown(step: _Step) -> Html:
    return element(
        "li",
        element("a", step.about, href=step.link, data_filter=step.chosen or None),
        f" {step.worth}",
        element("small", f"{step.owner}: {wording.capitalised(step.remedy)}"),
    )
