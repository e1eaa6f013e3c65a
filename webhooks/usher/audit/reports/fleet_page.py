"""The merged audits of a fleet as one HTML file: it loads nothing, and reads well without JavaScript and on paper.

The same document makes the same bytes. What was not measured has no number anywhere.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TextIO

from usher.audit.document import Severity
from usher.audit.document.fleet import (
    AcceleratorRow,
    CodeRow,
    Fleet,
    FleetPoint,
    FleetRow,
    FleetTable,
    FleetUsage,
    GroupRow,
    NamedSubject,
    ProblemKind,
)
from usher.audit.reports import entry_words, numbers
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, charts, page, tables
from usher.audit.reports.web.markup import Html, element
from usher.audit.reports.web.page import Section
from usher.check.formats import wording


def write(fleet: Fleet, stream: TextIO, /) -> None:
    """Writes the page."""
    stream.write(text(fleet))


def text(fleet: Fleet) -> str:
    """The page."""
    return page.html(
        page.Page(
            title=f"Fleet: audit of {numbers.day(fleet.taken)}",
            heading="Fleet",
            facts=tuple(_facts(fleet)),
            notices=tuple(_notices(fleet)),
            first=_first_screen(fleet),
            sections=(
                _clusters(fleet),
                *_group_sections(fleet),
                *_accelerators(fleet),
                _findings(fleet),
                _idle(fleet),
                _savings(fleet),
                _readiness(fleet),
                _problems(fleet),
            ),
        )
    )


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
    return element(
        "div",
        element("span", label, class_="label"),
        element("span", missing if value is None else value, class_="value missing" if value is None else "value"),
        element("span", note, class_="note") if note else None,
        class_="tile",
    )


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


_USAGE_COLUMNS: Final = (
    tables.Column(title="Allocated", numeric=True, explained="GPU-hours that running pods held in the window"),
    tables.Column(title="Idle", numeric=True, explained="GPU-hours below the idle threshold"),
    tables.Column(title="Activity", numeric=True, explained="Used hours / measured hours"),
    tables.Column(title="Idle money", numeric=True, explained="Idle hours x price; a sum for each currency"),
)


_ACCELERATOR_COLUMNS: Final = (
    tables.Column(title="Accelerator", heads=True),
    tables.Column(title="Clusters", numeric=True),
    tables.Column(title="Capacity", numeric=True, explained="Of the clusters where it is known"),
    tables.Column(title="Held now", numeric=True),
    tables.Column(title="Waiting", numeric=True),
    tables.Column(title="Never run", numeric=True, explained="Wanted by workloads that can never run"),
)


_CLUSTER_COLUMNS: Final = (
    tables.Column(title="Cluster", heads=True),
    tables.Column(title="GPUs", numeric=True),
    tables.Column(title="Held now", numeric=True),
    *_USAGE_COLUMNS,
    tables.Column(title="Findings", numeric=True),
    tables.Column(title="Never run", numeric=True, explained="Workloads that can never run"),
    tables.Column(title="Taken"),
)


def _clusters(fleet: Fleet) -> Section:
    rest = fleet.clusters_rest
    return Section(
        name="clusters",
        title="Clusters",
        count=fleet.summary.clusters,
        lead="" if rest is None else f"The last row is the sum of {rest.name}.",
        body=tables.html(
            tables.Table(
                name="clusters-table",
                caption="Clusters",
                columns=_CLUSTER_COLUMNS,
                rows=[
                    tables.Row(
                        cells=tuple(_cluster_cells(each)), facets=("yes" if each.complete else "no", each.version)
                    )
                    for each in fleet.clusters
                ],
                filters={"complete": "Complete", "version": "Version"},
                total=() if rest is None else tuple(_cluster_cells(rest)),
            )
        ),
    )


def _cluster_cells(row: FleetRow) -> Iterator[cells.Cell]:
    missing = f"{row.shards_missing:,} of {row.shards:,} shards missing" if row.shards_missing else "incomplete"
    yield cells.lines(("strong", row.name), None if row.complete else ("badge", missing, "warn"))
    yield cells.number(row.gpus, PAGE.number(row.gpus, "not known"))
    yield cells.number(row.gpus_allocated, PAGE.number(row.gpus_allocated, "not known"))
    yield from _usage_cells(row.usage)
    more = 0 if row.findings_before is None else row.findings - row.findings_before
    change = f" ({more:+,})" if more else ""
    yield cells.number(row.findings, f"{row.findings:,}{change}")
    yield cells.number(row.workloads_never, numbers.plain(row.workloads_never, "not known"))
    yield cells.text(numbers.minute(row.taken))


def _usage_cells(usage: FleetUsage) -> Iterator[cells.Cell]:
    yield cells.number(usage.allocated, PAGE.hours(usage.allocated))
    yield cells.number(usage.idle, PAGE.hours(usage.idle))
    yield cells.bar(usage.activity, PAGE.share(usage.activity))
    known = [(each.currency, each.idle) for each in usage.costs if each.idle is not None]
    shown = " + ".join(PAGE.money(idle, currency) for currency, idle in known)
    # Money of two currencies has no order.
    yield cells.number(known[0][1] if len(known) == 1 else None, shown or "not priced")


def _group_sections(fleet: Fleet) -> Iterator[Section]:
    for table in fleet.tables:
        name, without = entry_words.BY.get(table.by, (table.by, ""))
        yield Section(
            name=f"by-{table.by.lower()}",
            title=f"By {name}",
            count=len(table.rows),
            lead="In all clusters together."
            + (f" The last row is the sum of {table.rest.name}." if table.rest is not None else ""),
            body=tables.html(_group_table(table, name, without)),
        )


def _group_table(table: FleetTable, name: str, without: str) -> tables.Table:
    has_findings = table.by == "team"
    return tables.Table(
        name=f"by-{table.by.lower()}-table",
        caption=f"By {name}",
        columns=(
            tables.Column(title=name.capitalize(), heads=True),
            tables.Column(title="Clusters", numeric=True),
            tables.Column(title="Workloads", numeric=True),
            tables.Column(title="Held now", numeric=True),
            *_USAGE_COLUMNS,
            *((tables.Column(title="Findings", numeric=True),) if has_findings else ()),
        ),
        rows=[tables.Row(cells=tuple(_group_cells(each, without))) for each in table.rows],
        total=() if table.rest is None else tuple(_group_cells(table.rest, without)),
    )


def _group_cells(row: GroupRow, without: str) -> Iterator[cells.Cell]:
    yield cells.lines(("strong", row.name)) if row.name else cells.text("", without)
    yield cells.number(row.clusters, f"{row.clusters:,}")
    yield cells.number(row.workloads, f"{row.workloads:,}")
    yield cells.number(row.usage.gpus_now, PAGE.number(row.usage.gpus_now))
    yield from _usage_cells(row.usage)
    if row.findings is not None:
        yield cells.number(row.findings, f"{row.findings:,}")


def _accelerators(fleet: Fleet) -> Iterator[Section]:
    """The accelerators other than GPUs, where there are some."""
    if fleet.other_accelerators:
        yield Section(
            name="accelerators",
            title="Other accelerators",
            count=len(fleet.other_accelerators),
            lead="Each in units of its resource.",
            body=tables.html(
                tables.Table(
                    name="accelerators-table",
                    caption="Other accelerators",
                    columns=_ACCELERATOR_COLUMNS,
                    rows=[tables.Row(cells=tuple(_accelerator_cells(each))) for each in fleet.other_accelerators],
                )
            ),
        )


def _accelerator_cells(row: AcceleratorRow) -> Iterator[cells.Cell]:
    yield cells.lines(("strong", row.resource))
    yield cells.number(row.clusters, f"{row.clusters:,}")
    for amount in (row.capacity, row.allocated, row.waiting, row.never):
        yield cells.number(amount, PAGE.number(amount, "not known"))


_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


_PROBLEM_BADGES: Final = {
    ProblemKind.MISSING: "bad",
    ProblemKind.DAMAGED: "bad",
    ProblemKind.INCOMPLETE: "warn",
    ProblemKind.AGE: "warn",
}


def _findings(fleet: Fleet) -> Section:
    columns = (
        tables.Column(title="Severity", ranked=True),
        tables.Column(title="Finding", heads=True),
        tables.Column(title="Found", numeric=True),
        tables.Column(title="Clusters", numeric=True),
        tables.Column(title="GPUs", numeric=True, explained="GPUs that the objects hold or ask for"),
        tables.Column(title="Most in"),
    )
    rows = [tables.Row(cells=_finding_cells(each), facets=(each.severity.value,)) for each in fleet.findings]
    table = tables.Table(
        name="findings-table", caption="Findings", columns=columns, rows=rows, filters={"severity": "Severity"}
    )
    return Section(name="findings", title="Findings by code", count=len(rows), body=tables.html(table))


def _finding_cells(each: CodeRow) -> tuple[cells.Cell, ...]:
    more = 0 if each.before is None else each.findings - each.before
    change = f" ({more:+,})" if more else ""
    return (
        cells.badge(each.severity.value, entry_words.BADGES[each.severity], _RANKS[each.severity]),
        cells.lines(("strong", each.title), ("code", f"{each.code} {each.name}")),
        cells.number(each.findings, f"{each.findings:,}{change}"),
        cells.number(each.clusters, f"{each.clusters:,}"),
        cells.number(each.gpus, PAGE.number(each.gpus)),
        cells.lines(*(("plain", f"{name}: {number:,}") for name, number in each.where)),
    )


def _object_cell(each: NamedSubject) -> cells.Cell:
    return cells.lines(("muted", each.subject.kind), ("strong", entry_words.place(each.subject)))


def _idle(fleet: Fleet) -> Section:
    columns = (
        tables.Column(title="Cluster"),
        tables.Column(title="Workload", heads=True),
        tables.Column(title="Owner"),
        tables.Column(title="Held now", numeric=True),
        tables.Column(title="Idle", numeric=True),
        tables.Column(title="Money", numeric=True),
    )
    rows = [
        tables.Row(
            cells=(
                cells.text(each.cluster),
                _object_cell(each),
                cells.text(each.team, entry_words.NO_TEAM),
                cells.number(each.gpus_now, PAGE.number(each.gpus_now)),
                cells.number(each.idle, PAGE.hours(each.idle)),
                cells.number(each.cost, PAGE.money(each.cost, each.currency)),
            ),
            facets=(each.cluster, each.team),
        )
        for each in fleet.idle_workloads
    ]
    filters = {"cluster": "Cluster", "team": "Team"}
    missing = "No workload is known to be idle."
    table = tables.Table(
        name="idle-table", caption="Idle workloads", columns=columns, rows=rows, filters=filters, empty=missing
    )
    lead = "The workloads with the most idle GPU-hours." if rows else ""
    return Section(name="idle", title="Idle workloads", lead=lead, count=len(rows), body=tables.html(table))


def _savings(fleet: Fleet) -> Section:
    columns = (
        tables.Column(title="Change"),
        tables.Column(title="Cluster"),
        tables.Column(title="Workload", heads=True),
        tables.Column(title="Owner"),
        tables.Column(title="GPU-hours", numeric=True),
        tables.Column(title="Money", numeric=True),
    )
    rows = [
        tables.Row(
            cells=(
                cells.lines(("strong", each.kind), ("plain", each.change)),
                cells.text(each.cluster),
                _object_cell(each),
                cells.text(each.team, entry_words.NO_TEAM),
                cells.number(each.gpu_hours, PAGE.hours(each.gpu_hours)),
                cells.number(each.cost, PAGE.money(each.cost, each.currency)),
            ),
            facets=(each.kind, each.cluster, each.team),
        )
        for each in fleet.savings
    ]
    filters = {"kind": "Change", "cluster": "Cluster", "team": "Team"}
    table = tables.Table(
        name="savings-table",
        caption="Savings",
        columns=columns,
        rows=rows,
        filters=filters,
        empty="Nothing to save was found, or the use of GPUs was not measured.",
    )
    lead = f"The largest of {fleet.summary.savings.number:,}. Amounts are for the measured windows." if rows else ""
    return Section(name="savings", title="Savings", lead=lead, count=len(rows), body=tables.html(table))


def _readiness(fleet: Fleet) -> Section:
    columns = (
        tables.Column(title="Item", heads=True),
        tables.Column(title="Area"),
        tables.Column(title="Fails in", numeric=True, explained="Clusters"),
        tables.Column(title="Passes in", numeric=True),
        tables.Column(title="Not known in", numeric=True),
        tables.Column(title="Some that fail"),
    )
    rows = [
        tables.Row(
            cells=(
                cells.text(each.title),
                cells.text(each.area),
                *(
                    cells.number(number, f"{number:,}")
                    for number in (each.standings.get(name, 0) for name in ("fail", "pass", "not known"))
                ),
                cells.lines(*(("plain", name) for name in each.failing)),
            ),
            facets=(each.area,),
        )
        for each in fleet.readiness
    ]
    table = tables.Table(
        name="readiness-table", caption="Readiness", columns=columns, rows=rows, filters={"area": "Area"}
    )
    return Section(name="readiness", title="Readiness", count=len(rows), body=tables.html(table))


def _problems(fleet: Fleet) -> Section:
    columns = (
        tables.Column(title="What", ranked=True),
        tables.Column(title="Cluster", heads=True),
        tables.Column(title="Why"),
    )
    order = {kind: rank for rank, kind in enumerate(ProblemKind)}
    rows = [
        tables.Row(
            cells=(
                cells.badge(each.kind.value, _PROBLEM_BADGES.get(each.kind, "plain"), order[each.kind]),
                cells.text(each.cluster, "not known"),
                cells.text(each.reason),
            ),
            facets=(each.kind.value, each.cluster),
        )
        for each in fleet.problems
    ]
    left_out = f"{fleet.problems_left_out:,} more are left out." if fleet.problems_left_out else ""
    table = tables.Table(
        name="gaps-table",
        caption="Gaps",
        columns=columns,
        rows=rows,
        filters={"what": "What", "cluster": "Cluster"},
        empty="Each cluster and shard is there, whole, and of this version of usher.",
    )
    return Section(name="gaps", title="Gaps", lead=left_out, count=len(rows), body=tables.html(table))
