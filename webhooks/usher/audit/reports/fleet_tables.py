"""The tables of a fleet, for its page and for text: clusters, groups, accelerators, findings, savings and gaps."""

from typing import Final

from msgspec.structs import replace

from usher.audit.document import fleet_document
from usher.audit.reports import cells, described, entry_words, numbers
from usher.audit.reports.described import Table
from usher.audit.reports.numbers import PAGE, TEXT
from usher.check.formats import wording

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


def money_words(usage: fleet_document.FleetUsage, what: str = "") -> str:
    """`12,345 USD + 20 EUR`: what idle GPUs cost, for each currency; empty where nothing is priced."""
    found = [TEXT.money(each.idle, each.currency) for each in usage.costs if each.idle is not None]
    return f"{' + '.join(found)} {what}".rstrip() if found else ""


_OF_USAGE: Final[described.Ways] = {
    "Idle": {"plain": lambda row: TEXT.number(row.usage.idle, "")},
    "Idle money": {"cell": lambda row: _money_cell(row.usage), "plain": lambda row: money_words(row.usage)},
}
"""The ways of the columns about usage, of clusters and groups."""


def change(now: int, before: int | None) -> str:
    """` (+3)`: how many more there are than in the merge before; empty where that is not known, or as many."""
    return "" if before is None or now == before else f" ({now - before:+,})"


def clusters(fleet: fleet_document.Fleet) -> Table[fleet_document.FleetRow]:
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


def _found_words(row: fleet_document.FleetRow) -> str:
    return f"{row.findings:,}{change(row.findings, row.findings_before)}"


def _cluster_cell(row: fleet_document.FleetRow) -> cells.Cell:
    missing = f"{row.shards_missing:,} of {row.shards:,} shards missing" if row.shards_missing else "incomplete"
    return cells.lines(("strong", row.name), None if row.complete else ("badge", missing, "warn"))


def groups(table: fleet_document.FleetTable, name: str, without: str) -> Table[fleet_document.GroupRow]:
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


def accelerators(fleet: fleet_document.Fleet) -> Table[fleet_document.AcceleratorRow]:
    """The accelerators other than GPUs."""
    of_resource = {
        "value": lambda row: numbers.short(row.resource),
        "cell": lambda row: cells.lines(("strong", row.resource)),
    }
    return described.table("accelerators of a fleet", fleet.other_accelerators, ways={"Accelerator": of_resource})


def findings(fleet: fleet_document.Fleet) -> Table[fleet_document.CodeRow]:
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
    return f"{row.findings:,}{change(row.findings, row.before)}"


_OBJECT: Final = {"cell": lambda row: entry_words.named(row.subject)}
_MONEY: Final = {"cell": lambda row: cells.number(row.cost, PAGE.money(row.cost, row.currency))}
"""Money of a row, which may be in another currency than that of the next one."""


def idle_workloads(fleet: fleet_document.Fleet) -> Table[fleet_document.IdleWorkload]:
    """The workloads with the most idle GPU-hours."""
    return described.table(
        "idle workloads of a fleet", fleet.idle_workloads, ways={"Workload": _OBJECT, "Money": _MONEY}
    )


def savings(fleet: fleet_document.Fleet) -> Table[fleet_document.FleetSaving]:
    """The largest savings."""
    change = {"cell": lambda row: cells.lines(("strong", row.kind), ("plain", row.change))}
    return described.table(
        "savings of a fleet", fleet.savings, ways={"Change": change, "Workload": _OBJECT, "Money": _MONEY}
    )


def checklist(fleet: fleet_document.Fleet) -> Table[fleet_document.ReadinessRow]:
    """The items of the checklist, with the clusters where each fails."""
    failing = {"cell": lambda row: cells.lines(*(("plain", name) for name in row.failing))}
    return described.table("checklist of a fleet", fleet.readiness, ways={"Some that fail": failing})


def problems(fleet: fleet_document.Fleet) -> Table[fleet_document.FleetProblem]:
    """A row for each audit that is missing in the merge, damaged, incomplete, old or of another version."""
    return described.table(
        "problems of a fleet", fleet.problems, ways={"What": {"cell": _kind_cell}}, choices={"what": _kind_words}
    )


def _kind_words(row: fleet_document.FleetProblem) -> str:
    return row.kind.value


def _kind_cell(row: fleet_document.FleetProblem) -> cells.Cell:
    return cells.badge(row.kind.value, _PROBLEM_BADGES.get(row.kind, "plain"), _PROBLEM_RANKS[row.kind])
