"""The lists of a fleet: findings by code, idle workloads, savings, the checklist, and what is missing."""

from typing import Final

from usher.audit.document import Severity
from usher.audit.document.fleet import CodeRow, Fleet, NamedSubject, ProblemKind
from usher.audit.reports.audit_html import labels
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.page import Section

_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}
_BADGES: Final = {
    ProblemKind.MISSING: "bad",
    ProblemKind.DAMAGED: "bad",
    ProblemKind.INCOMPLETE: "warn",
    ProblemKind.AGE: "warn",
}


def findings(fleet: Fleet) -> Section:
    columns = (
        tables.Column(title="Severity", ranked=True),
        tables.Column(title="Finding", heads=True),
        tables.Column(title="Found", numeric=True),
        tables.Column(title="Clusters", numeric=True),
        tables.Column(title="GPUs", numeric=True, explained="GPUs that the objects hold or ask for"),
        tables.Column(title="Most in"),
    )
    rows = [tables.Row(cells=_finding(each), facets=(each.severity.value,)) for each in fleet.findings]
    table = tables.Table(
        name="findings-table", caption="Findings", columns=columns, rows=rows, filters={"severity": "Severity"}
    )
    return Section(name="findings", title="Findings by code", count=len(rows), body=tables.html(table))


def _finding(each: CodeRow) -> tuple[cells.Cell, ...]:
    more = 0 if each.before is None else each.findings - each.before
    change = f" ({more:+,})" if more else ""
    return (
        cells.badge(each.severity.value, labels.BADGES[each.severity], _RANKS[each.severity]),
        cells.lines(("strong", each.title), ("code", f"{each.code} {each.name}")),
        cells.number(each.findings, f"{each.findings:,}{change}"),
        cells.number(each.clusters, f"{each.clusters:,}"),
        cells.number(each.gpus, PAGE.number(each.gpus)),
        cells.lines(*(("plain", f"{name}: {number:,}") for name, number in each.where)),
    )


def _object(each: NamedSubject) -> cells.Cell:
    return cells.lines(("muted", each.subject.kind), ("strong", labels.place(each.subject)))


def idle(fleet: Fleet) -> Section:
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
                _object(each),
                cells.text(each.team, labels.NO_TEAM),
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


def savings(fleet: Fleet) -> Section:
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
                _object(each),
                cells.text(each.team, labels.NO_TEAM),
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


def readiness(fleet: Fleet) -> Section:
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


def problems(fleet: Fleet) -> Section:
    columns = (
        tables.Column(title="What", ranked=True),
        tables.Column(title="Cluster", heads=True),
        tables.Column(title="Why"),
    )
    order = {kind: rank for rank, kind in enumerate(ProblemKind)}
    rows = [
        tables.Row(
            cells=(
                cells.badge(each.kind.value, _BADGES.get(each.kind, "plain"), order[each.kind]),
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
