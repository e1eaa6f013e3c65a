"""Where GPUs are now, which boards the free ones are, and what waits for them."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Group, Summary, WorkloadState
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import charts
from usher.audit.reports.web.markup import Html, element
from usher.reports import wording

_SHOWN: Final = 6
"""Boards with free GPUs."""


def card(audit: Audit) -> Html:
    summary = audit.summary
    if summary.gpus is None or summary.gpus_allocated is None:
        body = element("p", _why_not(audit), class_="muted")
        return element("article", element("h3", "Capacity"), body, class_="card wide")
    now, waits = [*_now(summary, summary.gpus, summary.gpus_allocated)], [*_waits(audit)]
    whole = max(summary.gpus, summary.gpus_waiting or 0.0, 1)
    rows = (
        element("li", charts.row(name, charts.stacked(parts, whole), PAGE.gpus(amount)))
        for name, parts, amount in (("On nodes", now, summary.gpus), ("Waiting", waits, summary.gpus_waiting))
    )
    return element(
        "article",
        element("h3", "GPUs now"),
        element("ul", *rows, class_="bars"),
        charts.legend([each for each in (*now, *waits) if each.amount]),
        *_free(audit),
        class_="card wide",
    )


def _why_not(audit: Audit) -> str:
    summary = audit.summary
    if summary.gpus is not None:
        return f"The pods were not read, so it is not known which of {PAGE.gpus(summary.gpus)} they hold."
    if not audit.cluster.is_whole:
        return "This report is about a part of the cluster, so it does not show the capacity of the nodes."
    return "The nodes are not known, so the capacity is not known either."


def for_ever(audit: Audit) -> float:
    """GPUs of workloads that can never run, if not one of their pods runs, so that all of them count as waiting."""
    never = {each.subject for each in audit.findings if each.never}
    waiting = {WorkloadState.PENDING, WorkloadState.SUSPENDED}
    found = sum(each.known_gpus for each in audit.workloads if each.state in waiting and each.subject in never)
    return min(found, audit.summary.gpus_waiting or 0.0)


def _now(summary: Summary, gpus: float, allocated: float) -> Iterator[charts.Part]:
    half_started = summary.gpus_half_started or 0.0
    yield _part("busy", allocated - half_started, "held by pods")
    yield _part("stuck", half_started, "held by gangs that wait for their other pods")
    if summary.gpus_free is None:
        yield _part("unknown", gpus - allocated, "not known to be held or free")
        return
    yield _part("free", summary.gpus_free, "free")
    yield _part("out", gpus - allocated - summary.gpus_free, "out of use")


def _waits(audit: Audit) -> Iterator[charts.Part]:
    stuck = for_ever(audit)
    yield _part("never", stuck, "wait and can never run")
    yield _part("waiting", (audit.summary.gpus_waiting or 0.0) - stuck, "wait and could run")


def _free(audit: Audit) -> Iterator[Html]:
    """Which boards are free, because pods that wait may ask for others."""
    groups = next((table.rows for table in audit.usage if table.by == "product"), ())
    found = sorted((each for each in groups if each.gpus_free), key=lambda each: (-(each.gpus_free or 0.0), each.name))
    if not found:
        return
    more = len(found) - _SHOWN
    boards = [*map(_board, found[:_SHOWN]), *([wording.count(more, "more model")] if more > 0 else [])]
    why = (
        " Pods may wait all the same: for another model, for more GPUs of one node, or for room in their queue."
        if audit.summary.gpus_waiting
        else ""
    )
    yield element("p", f"Free are {wording.sentence(boards)}.{why}", class_="muted")


def _board(group: Group) -> str:
    return f"{PAGE.number(group.gpus_free)} {group.name or 'of a model that is not known'}"


def _part(look: str, amount: float, name: str) -> charts.Part:
    return charts.Part(look=look, amount=max(0.0, amount), title=f"{PAGE.gpus(amount)} {name}")
