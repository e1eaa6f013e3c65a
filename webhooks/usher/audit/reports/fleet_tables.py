"""The tables of a fleet, for its page and for text: clusters, groups, accelerators, findings, savings and gaps."""

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from usher.audit.document import fleet_document
from usher.audit.reports import cells, described, entry_words, numbers
from usher.audit.reports.described import Column, Table
from usher.audit.reports.numbers import PAGE, TEXT
from usher.check.formats import wording

_PROBLEM_BADGES: Final = {
    fleet_document.ProblemKind.MISSING: "bad",
    fleet_document.ProblemKind.DAMAGED: "bad",
    fleet_document.ProblemKind.INCOMPLETE: "warn",
    fleet_document.ProblemKind.AGE: "warn",
}
_PROBLEM_RANKS: Final = {kind: rank for rank, kind in enumerate(fleet_document.ProblemKind)}


class _HasUsage(Protocol):
    """A cluster, or a group of all clusters."""

    @property
    def usage(self) -> fleet_document.FleetUsage: ...


def _usage_columns() -> Iterator[Column[_HasUsage]]:
    yield Column(
        title="Allocated",
        unit=described.HOURS,
        value=lambda row: row.usage.allocated,
        meaning="GPU-hours that running pods held in the window",
    )
    yield Column(
        title="Idle",
        name="idle GPU-hours",
        unit=described.HOURS,
        value=lambda row: row.usage.idle,
        plain=lambda row: TEXT.number(row.usage.idle, ""),
        meaning="GPU-hours below the idle threshold",
    )
    yield Column(
        title="Activity",
        unit=described.DRAWN_SHARE,
        value=lambda row: row.usage.activity,
        meaning="Used hours / measured hours",
    )
    yield Column(
        title="Idle money",
        name="idle money",
        numeric=True,
        cell=lambda row: _money_cell(row.usage),
        plain=lambda row: money_words(row.usage),
        meaning="Idle hours x price; a sum for each currency",
    )


def _money_cell(usage: fleet_document.FleetUsage) -> cells.Cell:
    known = [(each.currency, each.idle) for each in usage.costs if each.idle is not None]
    shown = " + ".join(PAGE.money(idle, currency) for currency, idle in known)
    # Money of two currencies has no order.
    return cells.number(known[0][1] if len(known) == 1 else None, shown or numbers.NOT_PRICED)


def money_words(usage: fleet_document.FleetUsage, what: str = "") -> str:
    """`12,345 USD + 20 EUR`: what idle GPUs cost, for each currency; empty where nothing is priced."""
    found = [TEXT.money(each.idle, each.currency) for each in usage.costs if each.idle is not None]
    return f"{' + '.join(found)} {what}".rstrip() if found else ""


def change(now: int, before: int | None) -> str:
    """` (+3)`: how many more there are than in the merge before; empty where that is not known, or as many."""
    return "" if before is None or now == before else f" ({now - before:+,})"


def clusters(fleet: fleet_document.Fleet) -> Table[fleet_document.FleetRow]:
    """The clusters; the last row of a page sums up those that have no row."""
    columns: tuple[Column[fleet_document.FleetRow], ...] = (
        Column(title="Cluster", name="cluster", heads=True, value=lambda row: row.name, cell=_cluster_cell),
        Column(
            title="GPUs",
            name="GPUs",
            unit=described.DEVICES,
            value=lambda row: row.gpus,
            plain=lambda row: TEXT.number(row.gpus, "?"),
        ),
        Column(
            title="Held now",
            name="allocated",
            unit=described.DEVICES,
            value=lambda row: row.gpus_allocated,
            plain=lambda row: TEXT.number(row.gpus_allocated, "?"),
        ),
        *_usage_columns(),
        Column(
            title="Findings",
            name="findings",
            numeric=True,
            value=_found_words,
            cell=lambda row: cells.number(row.findings, _found_words(row)),
        ),
        Column(
            title="Never run",
            name="never",
            unit=described.PLAIN,
            value=lambda row: row.workloads_never,
            missing=lambda _: numbers.NOT_KNOWN,
            plain=lambda row: "?" if row.workloads_never is None else f"{row.workloads_never:,}",
            meaning="Workloads that can never run",
        ),
        Column(title="Taken", value=lambda row: numbers.minute(row.taken)),
    )
    rest = fleet.clusters_rest
    return Table(
        name="clusters-table",
        caption="Clusters",
        rows=fleet.clusters,
        columns=columns,
        filters={
            "complete": ("Complete", lambda row: "yes" if row.complete else "no"),
            "version": ("Version", lambda row: row.version),
        },
        last=rest,
    )


def _found_words(row: fleet_document.FleetRow) -> str:
    return f"{row.findings:,}{change(row.findings, row.findings_before)}"


def _cluster_cell(row: fleet_document.FleetRow) -> cells.Cell:
    missing = f"{row.shards_missing:,} of {row.shards:,} shards missing" if row.shards_missing else "incomplete"
    return cells.lines(("strong", row.name), None if row.complete else ("badge", missing, "warn"))


def groups(table: fleet_document.FleetTable, name: str, without: str) -> Table[fleet_document.GroupRow]:
    """The groups of all clusters by one property; the last row of a page sums up those that have no row."""
    columns: tuple[Column[fleet_document.GroupRow], ...] = (
        Column(
            title=wording.capitalised(name),
            name=name,
            heads=True,
            value=lambda row: row.name or f"({without})",
            cell=lambda row: cells.lines(("strong", row.name)) if row.name else cells.text("", without),
        ),
        _count_column("Clusters", "clusters", lambda row: row.clusters),
        _count_column("Workloads", "workloads", lambda row: row.workloads),
        Column(title="Held now", name="GPUs now", unit=described.DEVICES, value=lambda row: row.usage.gpus_now),
        *_usage_columns(),
        *([_count_column("Findings", "findings", _findings_of)] if table.by == "team" else ()),
    )
    return Table(
        name=f"by-{table.by.lower()}-table", caption=f"By {name}", rows=table.rows, columns=columns, last=table.rest
    )


def _findings_of(row: fleet_document.GroupRow) -> int | None:
    return row.findings


def _count_column(
    title: str, name: str, value: Callable[[described.Read_contra], int | None]
) -> Column[described.Read_contra]:
    return Column(title=title, name=name, unit=described.COUNT, value=value, missing=lambda _: "")


def accelerators(fleet: fleet_document.Fleet) -> Table[fleet_document.AcceleratorRow]:
    """The accelerators other than GPUs."""

    def amount(
        title: str, name: str, value: Callable[[fleet_document.AcceleratorRow], float | None], meaning: str = ""
    ) -> Column[fleet_document.AcceleratorRow]:
        return Column(title=title, name=name, unit=described.DEVICES, value=value, meaning=meaning)

    return Table(
        name="accelerators-table",
        caption="Other accelerators",
        rows=fleet.other_accelerators,
        columns=(
            Column(
                title="Accelerator",
                name="accelerator",
                heads=True,
                value=lambda row: numbers.short(row.resource),
                cell=lambda row: cells.lines(("strong", row.resource)),
            ),
            _count_column("Clusters", "clusters", lambda row: row.clusters),
            amount("Capacity", "capacity", lambda row: row.capacity, "Of the clusters where it is known"),
            amount("Held now", "allocated", lambda row: row.allocated),
            amount("Waiting", "waiting", lambda row: row.waiting),
            amount("Never run", "never", lambda row: row.never, "Wanted by workloads that can never run"),
        ),
    )


def findings(fleet: fleet_document.Fleet) -> Table[fleet_document.CodeRow]:
    """The findings of all clusters by code."""
    return Table(
        name="findings-table",
        caption="Findings",
        rows=fleet.findings,
        columns=(
            Column(name="code", value=lambda row: row.code),
            Column(
                title="Severity",
                name="severity",
                ranked=True,
                value=lambda row: row.severity.value,
                cell=lambda row: cells.badge(
                    row.severity.value, entry_words.BADGES[row.severity], entry_words.severity_rank(row.severity)
                ),
            ),
            Column(
                title="Finding",
                words=True,
                heads=True,
                cell=lambda row: cells.lines(("strong", row.title), ("code", f"{row.code} {row.name}")),
            ),
            Column(
                title="Found",
                name="findings",
                numeric=True,
                value=_code_words,
                cell=lambda row: cells.number(row.findings, _code_words(row)),
            ),
            _count_column("Clusters", "clusters", lambda row: row.clusters),
            Column(
                title="GPUs",
                unit=described.DEVICES,
                value=lambda row: row.gpus,
                meaning="GPUs that the objects hold or ask for",
            ),
            Column(
                title="Most in",
                cell=lambda row: cells.lines(*(("plain", f"{name}: {number:,}") for name, number in row.where)),
            ),
            Column(name="title", value=lambda row: row.title),
        ),
        filters={"severity": ("Severity", lambda row: row.severity.value)},
    )


def _code_words(row: fleet_document.CodeRow) -> str:
    return f"{row.findings:,}{change(row.findings, row.before)}"


def _object_cell(row: fleet_document.NamedSubject) -> cells.Cell:
    return entry_words.named(row.subject)


def _cost_cell(cost: float | None, currency: str) -> cells.Cell:
    """Money of a row, which may be in another currency than that of the next one."""
    return cells.number(cost, PAGE.money(cost, currency))


def idle_workloads(fleet: fleet_document.Fleet) -> Table[fleet_document.IdleWorkload]:
    """The workloads with the most idle GPU-hours."""
    return Table(
        name="idle-table",
        caption="Idle workloads",
        rows=fleet.idle_workloads,
        columns=(
            Column(title="Cluster", value=lambda row: row.cluster),
            Column(title="Workload", heads=True, cell=_object_cell),
            Column(title="Owner", value=lambda row: row.team, empty=entry_words.NO_TEAM),
            Column(title="Held now", unit=described.DEVICES, value=lambda row: row.gpus_now),
            Column(title="Idle", unit=described.HOURS, value=lambda row: row.idle),
            Column(title="Money", numeric=True, cell=lambda row: _cost_cell(row.cost, row.currency)),
        ),
        filters={"cluster": ("Cluster", lambda row: row.cluster), "team": ("Team", lambda row: row.team)},
        empty="No workload is known to be idle.",
    )


def savings(fleet: fleet_document.Fleet) -> Table[fleet_document.FleetSaving]:
    """The largest savings."""
    return Table(
        name="savings-table",
        caption="Savings",
        rows=fleet.savings,
        columns=(
            Column(
                title="Change", words=True, cell=lambda row: cells.lines(("strong", row.kind), ("plain", row.change))
            ),
            Column(title="Cluster", value=lambda row: row.cluster),
            Column(title="Workload", heads=True, cell=_object_cell),
            Column(title="Owner", value=lambda row: row.team, empty=entry_words.NO_TEAM),
            Column(title="GPU-hours", unit=described.HOURS, value=lambda row: row.gpu_hours),
            Column(title="Money", numeric=True, cell=lambda row: _cost_cell(row.cost, row.currency)),
        ),
        filters={
            "kind": ("Change", lambda row: row.kind),
            "cluster": ("Cluster", lambda row: row.cluster),
            "team": ("Team", lambda row: row.team),
        },
        empty="Nothing to save was found, or the use of GPUs was not measured.",
    )


def checklist(fleet: fleet_document.Fleet) -> Table[fleet_document.ReadinessRow]:
    """The items of the checklist, with the clusters where each fails."""
    return Table(
        name="readiness-table",
        caption="Readiness",
        rows=fleet.readiness,
        columns=(
            Column(title="Item", heads=True, value=lambda row: row.title),
            Column(title="Area", value=lambda row: row.area),
            Column(
                title="Fails in",
                unit=described.COUNT,
                value=lambda row: row.standings.get("fail", 0),
                meaning="Clusters",
            ),
            Column(title="Passes in", unit=described.COUNT, value=lambda row: row.standings.get("pass", 0)),
            Column(title="Not known in", unit=described.COUNT, value=lambda row: row.standings.get("not known", 0)),
            Column(title="Some that fail", cell=lambda row: cells.lines(*(("plain", name) for name in row.failing))),
        ),
        filters={"area": ("Area", lambda row: row.area)},
    )


def problems(fleet: fleet_document.Fleet) -> Table[fleet_document.FleetProblem]:
    """A row for each audit that is missing in the merge, damaged, incomplete, old or of another version."""
    return Table(
        name="gaps-table",
        caption="Gaps",
        rows=fleet.problems,
        columns=(
            Column(
                title="What",
                ranked=True,
                cell=lambda row: cells.badge(
                    row.kind.value, _PROBLEM_BADGES.get(row.kind, "plain"), _PROBLEM_RANKS[row.kind]
                ),
            ),
            Column(title="Cluster", heads=True, value=lambda row: row.cluster, empty=numbers.NOT_KNOWN),
            Column(title="Why", words=True, value=lambda row: row.reason),
        ),
        filters={"what": ("What", lambda row: row.kind.value), "cluster": ("Cluster", lambda row: row.cluster)},
        empty="Each cluster and shard is there, whole, and of this version of usher.",
    )
