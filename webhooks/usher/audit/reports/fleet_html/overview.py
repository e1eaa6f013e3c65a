"""The first screen: idle GPUs and money of the whole fleet, what waits, what can be saved, and how it went."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from usher.audit.document.fleet import Fleet, FleetPoint
from usher.audit.reports import numbers
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import charts
from usher.audit.reports.web.markup import Html, element
from usher.reports import wording

_Number = Callable[[FleetPoint], float | None]

_SERIES: Final[tuple[tuple[str, _Number, Callable[[float], str]], ...]] = (
    ("Idle GPU-hours", lambda point: point.idle, PAGE.hours),
    ("Activity", lambda point: point.activity, PAGE.share),
    ("GPUs allocated", lambda point: point.gpus_allocated, PAGE.gpus),
    ("Findings", lambda point: point.findings, numbers.plain),
)


def html(fleet: Fleet) -> Html:
    return element(
        "div",
        element("h2", "At a glance", class_="hidden"),
        element("p", *_story(fleet), class_="story"),
        element("div", *_tiles(fleet), class_="tiles"),
        element("div", *_trends(fleet), class_="trends") if len(fleet.trend.points) > 1 else None,
        id="overview",
    )


def _story(fleet: Fleet) -> Iterator[str]:
    """The fleet in a few sentences."""
    found, usage = fleet.summary, fleet.summary.usage
    if usage.idle is not None:
        share = PAGE.share(numbers.part(usage.idle, usage.measured))
        yield f"{share} of the measured GPU time was idle: {PAGE.hours(usage.idle)}. "
    if fleet.clusters and fleet.clusters[0].usage.idle:
        largest = fleet.clusters[0]
        yield f"Most of it is in {largest.name}: {PAGE.hours(largest.usage.idle)}. "
    if found.gpus is not None and found.gpus_allocated is not None:
        yield f"Running pods hold {PAGE.number(found.gpus_allocated)} of {PAGE.gpus(found.gpus)}. "
    if found.workloads_never:
        yield f"{wording.count(found.workloads_never, 'workload')} can never run as written."


def _tiles(fleet: Fleet) -> Iterator[Html]:
    found, usage = fleet.summary, fleet.summary.usage
    some_free = found.gpus_free is not None and found.clusters_without_free
    yield _tile(
        "GPUs",
        None if found.gpus is None else PAGE.number(found.gpus),
        f"{PAGE.gpus(found.gpus_allocated)} allocated, {PAGE.number(found.gpus_free, 'not known')} free"
        + (f" in the clusters where all pods are known (not in {found.clusters_without_free:,})" if some_free else ""),
        missing="not known",
    )
    idle = numbers.part(usage.idle, usage.measured)
    of_measured = f"{PAGE.share(idle)} of {PAGE.hours(usage.measured)} measured" if idle is not None else ""
    yield _tile("Idle", None if usage.idle is None else PAGE.hours(usage.idle), of_measured)
    yield from _costs(fleet)
    of = wording.count(found.workloads, "workload")
    never = "" if found.workloads_never is None else f"{found.workloads_never:,} of {of}"
    yield _tile("Can never run", PAGE.gpus(found.gpus_never), never)
    yield _tile("Waiting", PAGE.gpus(found.gpus_waiting), "pods without a node, and suspended workloads")
    money = ", ".join(PAGE.money(value, currency) for currency, value in sorted(found.savings.costs.items()))
    yield _tile("Savings found", PAGE.hours(found.savings.gpu_hours), money)
    findings = ", ".join(f"{number:,} {severity}" for severity, number in found.severities.items())
    yield _tile("Findings", f"{sum(found.findings.values()):,}", findings)


def _costs(fleet: Fleet) -> Iterator[Html]:
    """One tile for each currency."""
    for each in fleet.summary.usage.costs:
        shown = None if each.idle is None else PAGE.money(each.idle, each.currency)
        yield _tile("Cost of idle GPUs", shown, f"of {PAGE.money(each.allocated, each.currency)} allocated")


def _tile(label: str, value: str | None, note: str, *, missing: str = numbers.NOT_MEASURED) -> Html:
    return element(
        "div",
        element("span", label, class_="label"),
        element("span", missing if value is None else value, class_="value missing" if value is None else "value"),
        element("span", note, class_="note") if note else None,
        class_="tile",
    )


def _trends(fleet: Fleet) -> Iterator[Html]:
    points = fleet.trend.points
    for title, number, shown in _SERIES:
        known = [value for point in points if (value := number(point)) is not None]
        if known:
            label = f"{title}: from {shown(known[0])} to {shown(known[-1])}, at most {shown(max(known))}"
            yield element(
                "article",
                element("h3", title),
                element("p", shown(known[-1]), element("small", f"at most {shown(max(known))}"), class_="value"),
                charts.line(_drawn(points, number, shown), label),
            )


def _drawn(points: Sequence[FleetPoint], number: _Number, shown: Callable[[float], str]) -> list[charts.Point]:
    return [
        charts.Point(
            at=place / (len(points) - 1),
            value=(value := number(point)),
            title=f"{numbers.day(point.taken)}: {numbers.NOT_MEASURED if value is None else shown(value)}",
            unsure=not point.complete,
        )
        for place, point in enumerate(points)
    ]
