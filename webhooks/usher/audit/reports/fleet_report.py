"""The merged audits of a fleet: a first screen in text, and one HTML file.

The screen says how complete it is, and has GPUs, money, the clusters, teams and findings at the top. The page loads
nothing, and reads well without JavaScript and on paper. The same document makes the same bytes. A number that was not
measured is missing everywhere.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TextIO

from msgspec.structs import replace
from rich.text import Text

from usher.audit.document.fleet_document import Fleet, FleetPoint, FleetRow
from usher.audit.reports import entry_words, fleet_tables, html_elements, html_tables, numbers
from usher.audit.reports.html_elements import Html, Section, element
from usher.audit.reports.numbers import PAGE, TEXT
from usher.check.formats import wording
from usher.check.formats.lines import Lines, Row

SHOWN: Final = 10

_MORE: Final = "--format json has all"


def write_text(fleet: Fleet, stream: TextIO, /, *, color: bool = False) -> None:
    """Writes the first screen; the JSON document has the rest."""
    lines = Lines(stream, color=color)
    _heading(fleet, lines)
    lines.labelled([*_gpus(fleet), *_usage(fleet)])
    lines.write()
    _accelerators(fleet, lines)
    _clusters(fleet, lines)
    _teams(fleet, lines)
    _findings(fleet, lines)
    _savings(fleet, lines)


def _heading(fleet: Fleet, lines: Lines) -> None:
    number = entry_words.clusters(fleet.summary)
    between = numbers.minute(fleet.taken)
    if fleet.oldest[:16] != fleet.taken[:16]:
        between = f"{numbers.minute(fleet.oldest)} to {between}"
    lines.wrapped(f"Audit of {number}, {between}", first=Text(""), rest="  ", style="bold")
    if not fleet.complete:
        text = "these numbers may be too small, and something that seems unused may be in use"
        lines.wrapped(text, first=Text("INCOMPLETE: ", style="bold red"), rest="  ")
    for problem in fleet.problems[:SHOWN]:
        lines.wrapped(
            f"{problem.cluster or 'a part'}: {problem.kind.value}: {problem.reason}", first=Text("  "), rest="    "
        )
    if more := len(fleet.problems[SHOWN:]) + fleet.problems_left_out:
        kinds = Counter(each.kind.value for each in fleet.problems[SHOWN:])
        by_kind = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
        lines.write(f"  and {wording.count(more, 'other problem')} ({by_kind}); {_MORE}")
    lines.write()


def _gpus(fleet: Fleet) -> Iterator[Row]:
    found = fleet.summary
    if found.gpus is None:
        yield Row("GPUs", "not known: usher has read the nodes of no cluster", indent=0)
    else:
        lacking = f", without {wording.count(found.clusters_without_nodes, 'cluster')} whose nodes are not known"
        yield Row("GPUs", f"{TEXT.number(found.gpus)}{lacking if found.clusters_without_nodes else ''}", indent=0)
    if found.gpus_allocated is None:
        yield Row("allocated", "not known: usher has read the pods of no cluster")
    else:
        of = f" ({TEXT.share(found.gpus_allocated / found.gpus)})" if found.gpus else ""
        lacking = f", without {wording.count(found.clusters_without_pods, 'cluster')} whose pods are not known"
        without = lacking if found.clusters_without_pods else ""
        yield Row("allocated", f"{TEXT.number(found.gpus_allocated)}{of}, held by pods on nodes{without}")
    without = wording.count(found.clusters_without_free, "cluster")
    if found.gpus_free is not None:
        lacking = f", without {without} where they are not known" if found.clusters_without_free else ""
        yield Row("free", f"{TEXT.number(found.gpus_free)}, on nodes that take new pods{lacking}")
    elif found.clusters_without_free:
        yield Row("free", f"not known: not all pods of {without} were read")
    if found.gpus_waiting is not None:
        yield Row("waiting", TEXT.number(found.gpus_waiting))
    if found.workloads_never is None:
        yield Row("never", "not known: usher knows of no cluster what waits there")
    else:
        never = wording.count(found.workloads_never, "workload")
        yield Row("never", f"{TEXT.number(found.gpus_never)}, wanted by {never} that can never run")


def _usage(fleet: Fleet) -> Iterator[Row]:
    found, usage = fleet.summary, fleet.summary.usage
    if usage.idle is None or usage.measured is None:
        yield Row("idle", "not measured in any cluster; `usher audit --prometheus URL` measures it")
        return
    part = f" ({TEXT.share(usage.idle / usage.measured)})" if usage.measured else ""
    lacking = wording.count(found.clusters_not_measured, "cluster")
    without = f", without {lacking} where usage was not measured" if found.clusters_not_measured else ""
    yield Row("idle", f"{TEXT.number(usage.idle)} of {TEXT.number(usage.measured)} measured GPU-hours{part}{without}")
    if usage.activity is not None:
        yield Row("activity", f"{TEXT.share(usage.activity)} of the allocated GPUs")
    yield Row("money", fleet_tables.money_words(usage, "for idle GPUs") or "not priced; set audit.prices in usher.yaml")
    if usage.not_priced:
        yield Row("not priced", f"{TEXT.number(usage.not_priced)} GPU-hours have no price in usher.yaml")
    if found.savings.number:
        saved = "".join(f", {TEXT.money(value, currency)}" for currency, value in sorted(found.savings.costs.items()))
        changes = wording.count(found.savings.number, "change")
        yield Row("savings", f"{TEXT.number(found.savings.gpu_hours)} GPU-hours{saved}, by {changes}")


def _accelerators(fleet: Fleet, lines: Lines) -> None:
    if not fleet.other_accelerators:
        return
    headers, rows = fleet_tables.accelerators(fleet).text(SHOWN)
    lines.table(headers, rows, right=set(headers[1:]), indent=2)
    _write_more(len(fleet.other_accelerators) - SHOWN, "accelerator", lines)
    lines.write()


def _clusters(fleet: Fleet, lines: Lines) -> None:
    headers, rows = fleet_tables.clusters(fleet).text(SHOWN)
    shown = [[*row, _incomplete(each)] for row, each in zip(rows, fleet.clusters, strict=False)]
    lines.table([*headers, ""], shown, right=set(headers[1:]), indent=2)
    _write_more(fleet.summary.clusters - len(rows), "cluster", lines)
    lines.write()


def _incomplete(row: FleetRow) -> str:
    missing = f", {row.shards_missing:,} of {row.shards:,} shards missing" if row.shards_missing else ""
    return "" if row.complete else f"incomplete{missing}"


def _teams(fleet: Fleet, lines: Lines) -> None:
    table = next((each for each in fleet.tables if each.by == "team"), None)
    if table is None:
        return
    headers, rows = fleet_tables.groups(table, *entry_words.BY["team"]).text(SHOWN)
    lines.table(headers, rows, right=set(headers[1:]), indent=2)
    _write_more(len(table.rows) - SHOWN + (0 if table.rest is None else 1), "row", lines)
    lines.write()


def _findings(fleet: Fleet, lines: Lines) -> None:
    if not fleet.findings:
        lines.write("No findings.")
        return
    headers, rows = fleet_tables.findings(fleet).text(SHOWN)
    lines.table(headers, rows, right={"findings", "clusters"}, indent=2)
    _write_more(len(fleet.findings) - SHOWN, "code", lines)
    lines.write()


def _savings(fleet: Fleet, lines: Lines) -> None:
    if not fleet.savings:
        return
    lines.write("Largest savings")
    for each in fleet.savings[:SHOWN]:
        cost = "" if each.cost is None else f", {TEXT.money(each.cost, each.currency)}"
        whose = f" of {each.team}" if each.team else ""
        text = f"{each.cluster}: {entry_words.subject(each.subject)}{whose}: {each.change}"
        lines.wrapped(f"{text} ({TEXT.number(each.gpu_hours)} GPU-hours{cost})", first=Text("  "), rest="    ")
    _write_more(len(fleet.savings) - SHOWN, "saving", lines)


def _write_more(number: int, thing: str, lines: Lines) -> None:
    if number > 0:
        lines.write(f"  and {wording.count(number, f'more {thing}')}; {_MORE}")


def write_page(fleet: Fleet, stream: TextIO, /) -> None:
    """Writes the page."""
    stream.write(page_text(fleet))


def page_text(fleet: Fleet) -> str:
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
    yield replace(fleet_tables.clusters(fleet).section(lead), count=fleet.summary.clusters)
    for table in fleet.tables:
        name, without = entry_words.BY.get(table.by, (table.by, ""))
        last = f" The last row is the sum of {table.rest.name}." if table.rest is not None else ""
        yield fleet_tables.groups(table, name, without).section(f"In all clusters together.{last}")
    if fleet.other_accelerators:
        yield fleet_tables.accelerators(fleet).section("Each in units of its resource.")
    yield fleet_tables.findings(fleet).section(title="Findings by code")
    idle = "The workloads with the most idle GPU-hours." if fleet.idle_workloads else ""
    yield fleet_tables.idle_workloads(fleet).section(idle)
    largest = f"The largest of {fleet.summary.savings.number:,}. Amounts are for the measured windows."
    yield fleet_tables.savings(fleet).section(largest if fleet.savings else "")
    yield fleet_tables.checklist(fleet).section()
    left_out = f"{fleet.problems_left_out:,} more are left out." if fleet.problems_left_out else ""
    yield fleet_tables.problems(fleet).section(left_out)


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
