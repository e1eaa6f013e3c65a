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

from usher.audit.document import fleet_document
from usher.audit.document.fleet_document import Fleet, FleetPoint, FleetRow
from usher.audit.reports import cells, described, entry_words, html_elements, html_tables, numbers
from usher.audit.reports.described import Table
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
    yield Row("money", _money_words(usage, "for idle GPUs") or "not priced; set audit.prices in usher.yaml")
    if usage.not_priced:
        yield Row("not priced", f"{TEXT.number(usage.not_priced)} GPU-hours have no price in usher.yaml")
    if found.savings.number:
        saved = "".join(f", {TEXT.money(value, currency)}" for currency, value in sorted(found.savings.costs.items()))
        changes = wording.count(found.savings.number, "change")
        yield Row("savings", f"{TEXT.number(found.savings.gpu_hours)} GPU-hours{saved}, by {changes}")


def _accelerators(fleet: Fleet, lines: Lines) -> None:
    if not fleet.other_accelerators:
        return
    headers, rows = _accelerator_table(fleet).text(SHOWN)
    lines.table(headers, rows, right=set(headers[1:]), indent=2)
    _write_more(len(fleet.other_accelerators) - SHOWN, "accelerator", lines)
    lines.write()


def _clusters(fleet: Fleet, lines: Lines) -> None:
    headers, rows = _cluster_table(fleet).text(SHOWN)
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
    headers, rows = _group_table(table, *entry_words.BY["team"]).text(SHOWN)
    lines.table(headers, rows, right=set(headers[1:]), indent=2)
    _write_more(len(table.rows) - SHOWN + (0 if table.rest is None else 1), "row", lines)
    lines.write()


def _findings(fleet: Fleet, lines: Lines) -> None:
    if not fleet.findings:
        lines.write("No findings.")
        return
    headers, rows = _finding_table(fleet).text(SHOWN)
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
    yield replace(_cluster_table(fleet).section(lead), count=fleet.summary.clusters)
    for table in fleet.tables:
        name, without = entry_words.BY.get(table.by, (table.by, ""))
        last = f" The last row is the sum of {table.rest.name}." if table.rest is not None else ""
        yield _group_table(table, name, without).section(f"In all clusters together.{last}")
    if fleet.other_accelerators:
        yield _accelerator_table(fleet).section("Each in units of its resource.")
    yield _finding_table(fleet).section(title="Findings by code")
    idle = "The workloads with the most idle GPU-hours." if fleet.idle_workloads else ""
    yield _idle_table(fleet).section(idle)
    largest = f"The largest of {fleet.summary.savings.number:,}. Amounts are for the measured windows."
    yield _saving_table(fleet).section(largest if fleet.savings else "")
    yield _checklist_table(fleet).section()
    left_out = f"{fleet.problems_left_out:,} more are left out." if fleet.problems_left_out else ""
    yield _problem_table(fleet).section(left_out)


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


_PROBLEM_BADGES: Final = {
    fleet_document.ProblemKind.MISSING: "bad",
    fleet_document.ProblemKind.DAMAGED: "bad",
    fleet_document.ProblemKind.INCOMPLETE: "warn",
    fleet_document.ProblemKind.AGE: "warn",
}
_PROBLEM_RANKS: Final = {kind: rank for rank, kind in enumerate(fleet_document.ProblemKind)}


def _money_cell(usage: fleet_document.FleetUsage) -> cells.Cell:
    known = [(each.currency, each.idle) for each in usage.costs if each.idle is not None]
    shown = " + ".join(PAGE.money(idle, currency) for currency, idle in known)
    # Money of two currencies has no order.
    return cells.number(known[0][1] if len(known) == 1 else None, shown or numbers.NOT_PRICED)


def _money_words(usage: fleet_document.FleetUsage, what: str = "") -> str:
    """`12,345 USD + 20 EUR`: what idle GPUs cost, for each currency; empty where nothing is priced."""
    found = [TEXT.money(each.idle, each.currency) for each in usage.costs if each.idle is not None]
    return f"{' + '.join(found)} {what}".rstrip() if found else ""


_OF_USAGE: Final[described.Ways] = {
    "Idle": {"plain": lambda row: TEXT.number(row.usage.idle, "")},
    "Idle money": {"cell": lambda row: _money_cell(row.usage), "plain": lambda row: _money_words(row.usage)},
}
"""The ways of the columns about usage, of clusters and groups."""


def _change(now: int, before: int | None) -> str:
    """` (+3)`: how many more there are than in the merge before; empty where that is not known, or as many."""
    return "" if before is None or now == before else f" ({now - before:+,})"


def _cluster_table(fleet: Fleet) -> Table[FleetRow]:
    """The clusters; the last row of a page sums up those that have no row."""
    return described.table(
        "clusters of a fleet",
        fleet.clusters,
        ways={
            **_OF_USAGE,
            "Cluster": {"cell": _cluster_cell},
            "GPUs": {"plain": lambda row: TEXT.number(row.gpus, "?")},
            "Held now": {"plain": lambda row: TEXT.number(row.gpus_allocated, "?")},
            "Findings": {"value": _found_words, "cell": lambda row: cells.number(row.findings, _found_words(row))},
            "Never run": {"plain": lambda row: "?" if row.workloads_never is None else f"{row.workloads_never:,}"},
            "Taken": {"value": lambda row: numbers.minute(row.taken)},
        },
        choices={"complete": lambda row: "yes" if row.complete else "no"},
        last=fleet.clusters_rest,
    )


def _found_words(row: FleetRow) -> str:
    return f"{row.findings:,}{_change(row.findings, row.findings_before)}"


def _cluster_cell(row: FleetRow) -> cells.Cell:
    missing = f"{row.shards_missing:,} of {row.shards:,} shards missing" if row.shards_missing else "incomplete"
    return cells.lines(("strong", row.name), None if row.complete else ("badge", missing, "warn"))


def _group_table(table: fleet_document.FleetTable, name: str, without: str) -> Table[fleet_document.GroupRow]:
    """The groups of all clusters by one property; the last row of a page sums up those that have no row."""
    of_group = {
        "value": lambda row: row.name or f"({without})",
        "cell": lambda row: cells.lines(("strong", row.name)) if row.name else cells.text("", without),
    }
    found = described.columns("groups of a fleet", {**_OF_USAGE, "": of_group})
    first = replace(found[0], title=wording.capitalised(name), name=name)
    columns = (first, *(each for each in found[1:] if table.by == "team" or each.key != "Findings"))
    return Table(
        name=f"by-{table.by.lower()}-table", caption=f"By {name}", rows=table.rows, columns=columns, last=table.rest
    )


def _accelerator_table(fleet: Fleet) -> Table[fleet_document.AcceleratorRow]:
    """The accelerators other than GPUs."""
    of_resource = {
        "value": lambda row: numbers.short(row.resource),
        "cell": lambda row: cells.lines(("strong", row.resource)),
    }
    return described.table("accelerators of a fleet", fleet.other_accelerators, ways={"Accelerator": of_resource})


def _finding_table(fleet: Fleet) -> Table[fleet_document.CodeRow]:
    """The findings of all clusters by code."""
    return described.table(
        "findings of a fleet",
        fleet.findings,
        ways={
            "Severity": {"cell": _severity_cell},
            "Finding": {"cell": lambda row: cells.lines(("strong", row.title), ("code", f"{row.code} {row.name}"))},
            "Found": {"value": _code_words, "cell": lambda row: cells.number(row.findings, _code_words(row))},
            "Most in": {
                "cell": lambda row: cells.lines(*(("plain", f"{name}: {number:,}") for name, number in row.where))
            },
        },
        choices={"severity": lambda row: row.severity.value},
    )


def _severity_cell(row: fleet_document.CodeRow) -> cells.Cell:
    severity = row.severity
    return cells.badge(severity.value, entry_words.BADGES[severity], entry_words.severity_rank(severity))


def _code_words(row: fleet_document.CodeRow) -> str:
    return f"{row.findings:,}{_change(row.findings, row.before)}"


_OBJECT: Final = {"cell": lambda row: entry_words.named(row.subject)}
_MONEY: Final = {"cell": lambda row: cells.number(row.cost, PAGE.money(row.cost, row.currency))}
"""Money of a row, which may be in another currency than that of the next one."""


def _idle_table(fleet: Fleet) -> Table[fleet_document.IdleWorkload]:
    """The workloads with the most idle GPU-hours."""
    return described.table(
        "idle workloads of a fleet", fleet.idle_workloads, ways={"Workload": _OBJECT, "Money": _MONEY}
    )


def _saving_table(fleet: Fleet) -> Table[fleet_document.FleetSaving]:
    """The largest savings."""
    change = {"cell": lambda row: cells.lines(("strong", row.kind), ("plain", row.change))}
    return described.table(
        "savings of a fleet", fleet.savings, ways={"Change": change, "Workload": _OBJECT, "Money": _MONEY}
    )


def _checklist_table(fleet: Fleet) -> Table[fleet_document.ReadinessRow]:
    """The items of the checklist, with the clusters where each fails."""
    failing = {"cell": lambda row: cells.lines(*(("plain", name) for name in row.failing))}
    return described.table("checklist of a fleet", fleet.readiness, ways={"Some that fail": failing})


def _problem_table(fleet: Fleet) -> Table[fleet_document.FleetProblem]:
    """A row for each audit that is missing in the merge, damaged, incomplete, old or of another version."""
    return described.table(
        "problems of a fleet", fleet.problems, ways={"What": {"cell": _kind_cell}}, choices={"what": _kind_words}
    )


def _kind_words(row: fleet_document.FleetProblem) -> str:
    return row.kind.value


def _kind_cell(row: fleet_document.FleetProblem) -> cells.Cell:
    return cells.badge(row.kind.value, _PROBLEM_BADGES.get(row.kind, "plain"), _PROBLEM_RANKS[row.kind])
