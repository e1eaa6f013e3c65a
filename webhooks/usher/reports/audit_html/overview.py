"""The first screen: idle GPUs by owner, what changed, what can never run, which exceptions end."""

from collections.abc import Iterator

from usher.audit.document import Audit
from usher.reports import wording
from usher.reports.audit_html import highlights, tiles
from usher.reports.web import charts, numbers
from usher.reports.web.markup import Html, element


def html(audit: Audit) -> Html:
    cards = (_capacity(audit), *highlights.cards(audit))
    return element(
        "div",
        element("h2", "At a glance", class_="hidden"),
        element("p", *_story(audit), class_="story"),
        element("div", *tiles.of(audit), class_="tiles"),
        element("div", *cards, class_="cards"),
        id="overview",
    )


def _story(audit: Audit) -> Iterator[str]:
    """The report in a few sentences."""
    summary = audit.summary
    if summary.gpus == 0:
        yield "No node of this cluster has GPUs."
        return
    if summary.idle is not None:
        window = numbers.seconds_between(audit.measurement.start, audit.measurement.end)
        yield f"{numbers.share(numbers.part(summary.idle, summary.measured))} of the measured GPU time was idle"
        yield f" in the last {numbers.days(window)}" if window else ""
        cost = f", which cost {numbers.money(summary.cost_idle, summary.currency)}" if summary.cost_idle else ""
        yield f": {numbers.hours(summary.idle)}{cost}. "
    if summary.gpus is not None and summary.gpus_allocated is not None:
        yield f"Running pods hold {numbers.plain(summary.gpus_allocated)} of {numbers.gpus(summary.gpus)}. "
    if summary.workloads_never:
        can = wording.count(summary.workloads_never, "workload")
        yield f"{can} can never run as written; {'it asks' if summary.workloads_never == 1 else 'they ask'} for "
        yield f"{numbers.gpus(summary.gpus_never)}."


def _capacity(audit: Audit) -> Html:
    summary = audit.summary
    if summary.gpus is None or summary.gpus_allocated is None:
        body = element("p", "The nodes are not known, so the capacity is not known either.", class_="muted")
        return element("article", element("h3", "Capacity"), body, class_="card wide")
    free = summary.gpus_free or 0.0
    allocated, half_started = summary.gpus_allocated or 0.0, summary.gpus_half_started or 0.0
    now = [
        _part("busy", allocated - half_started, "allocated"),
        _part("idle", half_started, "held by gangs that wait for their other pods"),
        _part("free", free, "free"),
        _part("unknown", summary.gpus - allocated - free, "out of use"),
    ]
    waiting = _part("waiting", summary.gpus_waiting or 0.0, "waiting")
    never = _part("never", summary.gpus_never or 0.0, "can never run")
    whole = max(summary.gpus, waiting.amount, never.amount, 1)
    rows = (
        element("li", charts.row(name, charts.stacked(parts, whole), numbers.gpus(amount)))
        for name, parts, amount in (
            ("On nodes", now, summary.gpus),
            ("Waiting", [waiting], waiting.amount),
            ("Can never run", [never], never.amount),
        )
    )
    return element(
        "article",
        element("h3", "GPUs now"),
        element("ul", *rows, class_="bars"),
        charts.legend([each for each in now if each.amount]),
        class_="card wide",
    )


def _part(look: str, amount: float, name: str) -> charts.Part:
    return charts.Part(look=look, amount=max(0.0, amount), title=f"{numbers.gpus(amount)} {name}")
