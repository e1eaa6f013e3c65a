"""The merged audits of a fleet as one HTML file: it loads nothing, and reads well without JavaScript and on paper.

The same document makes the same bytes. What was not measured has no number anywhere.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TextIO

from usher.audit.document.fleet_document import Fleet, FleetPoint
from usher.audit.reports import entry_words, fleet_tables, html_elements, html_tables, numbers
from usher.audit.reports.described import Row, Table
from usher.audit.reports.html_elements import Html, Section, element
from usher.audit.reports.numbers import PAGE
from usher.check.formats import wording


def write(fleet: Fleet, stream: TextIO, /) -> None:
    """Writes the page."""
    stream.write(text(fleet))


def text(fleet: Fleet) -> str:
    """The page."""
    return html_elements.page_html(
        html_elements.Page(
            title=f"Fleet: audit of {numbers.day(fleet.taken)}",
            heading="Fleet",
            facts=tuple(_facts(fleet)),
            notices=tuple(_notices(fleet)),
            first=_first_screen(fleet),
            sections=tuple(_sections(fleet)),
        )
    )


def _sections(fleet: Fleet) -> Iterator[Section]:
    rest = fleet.clusters_rest
    lead = "" if rest is None else f"The last row is the sum of {rest.name}."
    clusters = fleet_tables.clusters(fleet)
    yield Section(name="clusters", title="Clusters", count=fleet.summary.clusters, lead=lead, body=clusters.html())
    yield from _groups(fleet)
    if fleet.other_accelerators:
        accelerators, lead = fleet_tables.accelerators(fleet), "Each in units of its resource."
        yield _section("accelerators", "Other accelerators", accelerators, lead)
    yield _section("findings", "Findings by code", fleet_tables.findings(fleet))
    idle = "The workloads with the most idle GPU-hours." if fleet.idle_workloads else ""
    yield _section("idle", "Idle workloads", fleet_tables.idle_workloads(fleet), idle)
    largest = f"The largest of {fleet.summary.savings.number:,}. Amounts are for the measured windows."
    yield _section("savings", "Savings", fleet_tables.savings(fleet), largest if fleet.savings else "")
    yield _section("readiness", "Readiness", fleet_tables.checklist(fleet))
    left_out = f"{fleet.problems_left_out:,} more are left out." if fleet.problems_left_out else ""
    yield _section("gaps", "Gaps", fleet_tables.problems(fleet), left_out)


def _section(name: str, title: str, table: Table[Row], lead: str = "") -> Section:
    return Section(name=name, title=title, lead=lead, count=len(table.rows), body=table.html())


def _groups(fleet: Fleet) -> Iterator[Section]:
    for table in fleet.tables:
        name, without = entry_words.BY.get(table.by, (table.by, ""))
        rest = f" The last row is the sum of {table.rest.name}." if table.rest is not None else ""
        made = fleet_tables.groups(table, name, without)
        yield _section(f"by-{table.by.lower()}", f"By {name}", made, f"In all clusters together.{rest}")


def _facts(fleet: Fleet) -> Iterator[str]:
    yield entry_words.clusters(fleet.summary)
    if numbers.minute(fleet.oldest) == numbers.minute(fleet.taken):
        yield f"Taken {numbers.minute(fleet.taken)}"
    else:
        yield f"Taken {numbers.minute(fleet.oldest)} to {numbers.minute(fleet.taken)}"
    yield f"gpu-usher {fleet.version}"


def _notices(fleet: Fleet) -> Iterator[str]:
    if not fleet.complete:
        yield "Parts of the fleet are missing or incomplete, so these numbers may be wrong. See Gaps."
    if fleet.summary.clusters_not_measured:
        lacking = wording.count(fleet.summary.clusters_not_measured, "cluster")
        yield f"The use of GPUs was not measured in {lacking}; idle hours and money leave them out."


_Number = Callable[[FleetPoint], float | None]

_TREND_SERIES: Final[tuple[tuple[str, _Number, Callable[[float], str]], ...]] = (
    ("Idle GPU-hours", lambda point: point.idle, PAGE.hours),
    ("Activity", lambda point: point.activity, PAGE.share),
    ("GPUs allocated", lambda point: point.gpus_allocated, PAGE.gpus),
    ("Findings", lambda point: point.findings, numbers.plain),
)


def _first_screen(fleet: Fleet) -> Html:
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
    return html_tables.tile(label, value, note, missing=missing)


def _trends(fleet: Fleet) -> Iterator[Html]:
    points = fleet.trend.points
    for title, number, shown in _TREND_SERIES:
        known = [value for point in points if (value := number(point)) is not None]
        if known:
            label = f"{title}: from {shown(known[0])} to {shown(known[-1])}, at most {shown(max(known))}"
            yield element(
                "article",
                element("h3", title),
                element("p", shown(known[-1]), element("small", f"at most {shown(max(known))}"), class_="value"),
                html_tables.line(_drawn(points, number, shown), label),
                class_="card",
            )


def _drawn(points: Sequence[FleetPoint], number: _Number, shown: Callable[[float], str]) -> list[html_tables.Point]:
    return [
        html_tables.Point(
            at=place / (len(points) - 1),
            value=(value := number(point)),
            title=f"{numbers.day(point.taken)}: {numbers.NOT_MEASURED if value is None else shown(value)}",
            unsure=not point.complete,
        )
        for place, point in enumerate(points)
    ]
