"""The tables of clusters, teams, boards and other groups."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document.fleet import AcceleratorRow, Fleet, FleetRow, FleetTable, FleetUsage, GroupRow
from usher.audit.reports import numbers, words
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.page import Section

_USAGE: Final = (
    tables.Column(title="Allocated", numeric=True, explained="GPU-hours that running pods held in the window"),
    tables.Column(title="Idle", numeric=True, explained="GPU-hours below the idle threshold"),
    tables.Column(title="Activity", numeric=True, explained="Used hours / measured hours"),
    tables.Column(title="Idle money", numeric=True, explained="Idle hours x price; a sum for each currency"),
)
_ACCELERATORS: Final = (
    tables.Column(title="Accelerator", heads=True),
    tables.Column(title="Clusters", numeric=True),
    tables.Column(title="Capacity", numeric=True, explained="Of the clusters where it is known"),
    tables.Column(title="Held now", numeric=True),
    tables.Column(title="Waiting", numeric=True),
    tables.Column(title="Never run", numeric=True, explained="Wanted by workloads that can never run"),
)
_CLUSTERS: Final = (
    tables.Column(title="Cluster", heads=True),
    tables.Column(title="GPUs", numeric=True),
    tables.Column(title="Held now", numeric=True),
    *_USAGE,
    tables.Column(title="Findings", numeric=True),
    tables.Column(title="Never run", numeric=True, explained="Workloads that can never run"),
    tables.Column(title="Taken"),
)


def clusters(fleet: Fleet) -> Section:
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
                columns=_CLUSTERS,
                rows=[
                    tables.Row(cells=tuple(_cluster(each)), facets=("yes" if each.complete else "no", each.version))
                    for each in fleet.clusters
                ],
                filters={"complete": "Complete", "version": "Version"},
                total=() if rest is None else tuple(_cluster(rest)),
            )
        ),
    )


def _cluster(row: FleetRow) -> Iterator[cells.Cell]:
    missing = f"{row.shards_missing:,} of {row.shards:,} shards missing" if row.shards_missing else "incomplete"
    yield cells.lines(("strong", row.name), None if row.complete else ("badge", missing, "warn"))
    yield cells.number(row.gpus, PAGE.number(row.gpus, "not known"))
    yield cells.number(row.gpus_allocated, PAGE.number(row.gpus_allocated, "not known"))
    yield from _usage(row.usage)
    more = 0 if row.findings_before is None else row.findings - row.findings_before
    change = f" ({more:+,})" if more else ""
    yield cells.number(row.findings, f"{row.findings:,}{change}")
    yield cells.number(row.workloads_never, numbers.plain(row.workloads_never, "not known"))
    yield cells.text(numbers.minute(row.taken))


def _usage(usage: FleetUsage) -> Iterator[cells.Cell]:
    yield cells.number(usage.allocated, PAGE.hours(usage.allocated))
    yield cells.number(usage.idle, PAGE.hours(usage.idle))
    yield cells.bar(usage.activity, PAGE.share(usage.activity))
    known = [(each.currency, each.idle) for each in usage.costs if each.idle is not None]
    shown = " + ".join(PAGE.money(idle, currency) for currency, idle in known)
    # Money of two currencies has no order.
    yield cells.number(known[0][1] if len(known) == 1 else None, shown or "not priced")


def tables_of(fleet: Fleet) -> Iterator[Section]:
    for table in fleet.tables:
        name, without = words.BY.get(table.by, (table.by, ""))
        yield Section(
            name=f"by-{table.by.lower()}",
            title=f"By {name}",
            count=len(table.rows),
            lead="In all clusters together."
            + (f" The last row is the sum of {table.rest.name}." if table.rest is not None else ""),
            body=tables.html(_table(table, name, without)),
        )


def _table(table: FleetTable, name: str, without: str) -> tables.Table:
    has_findings = table.by == "team"
    return tables.Table(
        name=f"by-{table.by.lower()}-table",
        caption=f"By {name}",
        columns=(
            tables.Column(title=name.capitalize(), heads=True),
            tables.Column(title="Clusters", numeric=True),
            tables.Column(title="Workloads", numeric=True),
            tables.Column(title="Held now", numeric=True),
            *_USAGE,
            *((tables.Column(title="Findings", numeric=True),) if has_findings else ()),
        ),
        rows=[tables.Row(cells=tuple(_group(each, without))) for each in table.rows],
        total=() if table.rest is None else tuple(_group(table.rest, without)),
    )


def _group(row: GroupRow, without: str) -> Iterator[cells.Cell]:
    yield cells.lines(("strong", row.name)) if row.name else cells.text("", without)
    yield cells.number(row.clusters, f"{row.clusters:,}")
    yield cells.number(row.workloads, f"{row.workloads:,}")
    yield cells.number(row.usage.gpus_now, PAGE.number(row.usage.gpus_now))
    yield from _usage(row.usage)
    if row.findings is not None:
        yield cells.number(row.findings, f"{row.findings:,}")


def accelerators(fleet: Fleet) -> Iterator[Section]:
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
                    columns=_ACCELERATORS,
                    rows=[tables.Row(cells=tuple(_accelerator(each))) for each in fleet.other_accelerators],
                )
            ),
        )


def _accelerator(row: AcceleratorRow) -> Iterator[cells.Cell]:
    yield cells.lines(("strong", row.resource))
    yield cells.number(row.clusters, f"{row.clusters:,}")
    for amount in (row.capacity, row.allocated, row.waiting, row.never):
        yield cells.number(amount, PAGE.number(amount, "not known"))
