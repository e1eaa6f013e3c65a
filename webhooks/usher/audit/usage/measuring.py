"""Usage and money of an estate in a window: what `usher audit` shows of them. docs/audit.md has every formula."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from usher.audit import capacity, estate
from usher.audit.document.usage import Measurement, Usage
from usher.audit.usage import (
    allocations,
    amounts,
    devices,
    grids,
    joining,
    labels,
    ledger,
    metrics,
    not_held,
    price_table,
    prices,
    problems,
    queue_wait,
    reading,
    tables,
    tallies,
)
from usher.audit.usage import targets as target_values
from usher.audit.usage.accounting import Idle
from usher.audit.usage.amounts import Now
from usher.audit.usage.attribution import attribution
from usher.audit.usage.devices import Track
from usher.audit.usage.ledger import Entry, Fleet
from usher.audit.usage.measured import Measured
from usher.audit.usage.node_hours import NodeHours, of_nodes
from usher.audit.usage.prices import Priced
from usher.audit.usage.reading import Readings
from usher.audit.usage.savings.choice import savings
from usher.audit.usage.series import Answer, Grid, Source, moment
from usher.audit.usage.tables import Holding
from usher.config import audit as config_audit
from usher.config.fields import seconds
from usher.dataclass import dataclass
from usher.scan.findings import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What was read of a source, before anything is added up."""

    readings: Readings
    grid: Grid
    tracks: tuple[Track, ...]
    entries: tuple[Entry, ...]
    node_hours: Mapping[str, NodeHours] | None
    """None where no series says what nodes have."""
    problems: tuple[str, ...]


def measure(  # noqa: PLR0913 - the arguments of an audit, all named
    found: estate.Estate,
    source: Source | None,
    *,
    config: config_audit.Audit,
    window: timedelta,
    now: datetime,
    step: timedelta | None = None,
) -> Measured:
    """The usage of an estate; without a source only what its pods hold now.

    Args:
        found: the nodes and workloads of the cluster.
        source: of the series; what it cannot answer is a problem of the measurement, not an error.
        config: the section `audit` of usher.yaml.
        window: how far back from `now`; whole steps of it are measured.
        now: the time of the audit, aware.
        step: the length of a step; without it one by the window, so that it has at most 1,100 steps.
    """
    nodes = {node.name: node for node in found.nodes or ()}
    by_node = prices.by_node(nodes)
    holdings = _holdings(found.workloads, nodes, by_node, config)
    if source is None:
        return _result(found, None, holdings=holdings, config=config, source=None)
    read = _read(found, source, nodes=nodes, config=config, grid=grids.of_window(window, now=now, step=step))
    return _result(found, read, holdings=holdings, config=config, source=source)


def _read(
    found: estate.Estate, source: Source, *, nodes: Mapping[str, estate.Node], config: config_audit.Audit, grid: Grid
) -> _Read:
    readings = reading.read(source, grid)
    asked = not readings.problems or metrics.ENGINE_ACTIVE in readings.answers
    requests, phases = readings.of(metrics.REQUESTS), readings.of(metrics.PHASES)
    held = allocations.recorded(requests, phases, nodes) if readings.has_requests else ()
    pods = [pod for workload in found.workloads for pod in workload.pods]
    names = labels.nodes([*nodes, *(each.node for each in held), *(pod.node for pod in pods if pod.node)])
    joined = joining.join(devices.read(readings.devices, names), found.workloads, nodes, grid)
    readings.forget_devices()
    entries: tuple[Entry, ...] = ()
    lines = allocations.together(held, allocations.present(found.workloads, nodes, grid))
    node_hours = of_nodes(readings, lines, nodes, grid)
    if joined.tracks or held:
        entries = ledger.entries(
            joined.tracks,
            lines,
            nodes=nodes,
            attribution=attribution(
                found.workloads,
                pods=readings.of(metrics.POD_OWNERS),
                replicasets=readings.of(metrics.REPLICASET_OWNERS),
                jobs=readings.of(metrics.JOB_OWNERS),
            ),
            price=lambda what: prices.per_gpu_hour(config.prices, what),
            grid=grid,
            idle=_idle(config, grid),
        )
    said = [*readings.problems]
    if asked:
        said += problems.of_source(readings, grid, joined.tracks, idle_seconds=seconds(config.idle.lasting))
        said += problems.of_devices(joined.tracks, nodes)
        said += problems.of_nodes(joined, nodes)
        said += problems.of_capacity(node_hours, nodes, grid)
        said += problems.of_sums(entries, tallies.total(entry.tally for entry in entries))
    return _Read(
        readings=readings, grid=grid, tracks=joined.tracks, entries=entries, node_hours=node_hours, problems=tuple(said)
    )


def _result(
    found: estate.Estate,
    read: _Read | None,
    *,
    holdings: Sequence[Holding],
    config: config_audit.Audit,
    source: Source | None,
) -> Measured:
    entries = read.entries if read else ()
    currency = config.prices.currency
    rests = not_held.rests(
        capacity.splits(found),
        read.node_hours if read else None,
        entries,
        price=lambda what: prices.per_gpu_hour(config.prices, what),
    )
    nodes = {node.name: node for node in found.nodes or ()}
    of_workload = defaultdict[int, list[Entry]](list)
    for entry in entries:
        of_workload[entry.owner.workload].append(entry)
    total = tallies.total(entry.tally for entry in entries) if entries else None
    wait, formula = queue_wait.of_estate(
        found,
        read.readings.of(metrics.QUEUE_WAIT) if read else Answer(),
        start=datetime.fromtimestamp(read.grid.start, tz=UTC) if read else None,
    )
    return Measured(
        measurement=_measurement(found, read, holdings, config=config, source=source),
        total=amounts.usage(entries, (each.now for each in holdings), currency=currency),
        workloads=_usages(found, of_workload, holdings, currency=currency),
        groups=tables.tables(
            entries,
            holdings,
            workloads=found.workloads,
            rests=rests if found.pods_known and not found.only_namespace else not_held.Rests(),
            teams=tables.teams(found, config.team_labels),
            currency=currency,
        ),
        prices=price_table.rows(config.prices, nodes, entries, is_measured=total is not None),
        not_held=not_held.of(rests),
        targets=target_values.targets(
            config.targets, fleet=_fleet(read, nodes), tally=total, queue_wait=wait, wait_formula=formula
        ),
        savings=savings(found, of_workload, config=config, grid=read.grid) if read else (),
        queue_wait_p95_seconds=amounts.optional(wait),
        currency=currency,
    )


def _usages(
    found: estate.Estate, entries: Mapping[int, Sequence[Entry]], holdings: Iterable[Holding], *, currency: str
) -> dict[Identity, Usage]:
    now = defaultdict[int, list[Now]](list)
    for each in holdings:
        now[each.workload].append(each.now)
    return {
        workload.identity: amounts.usage(entries.get(index, ()), now.get(index, ()), currency=currency)
        for index, workload in enumerate(found.workloads)
    }


def _measurement(
    found: estate.Estate,
    read: _Read | None,
    holdings: Sequence[Holding],
    *,
    config: config_audit.Audit,
    source: Source | None,
) -> Measurement:
    seen = {prices.of_node(node) for node in found.nodes or ()}
    seen |= {entry.what for entry in read.entries} if read else {each.what for each in holdings}
    said = [*(read.problems if read else ()), *prices.problems(config.prices, seen)]
    nothing = Measurement(
        source="none",
        idle_below=config.idle.below,
        idle_minutes=math.ceil(seconds(config.idle.lasting) / 60),
        problems=tuple(said),
    )
    if read is None or source is None:
        return nothing
    return nothing.model_copy(
        update={
            "source": source.name,
            "url": source.url,
            "start": moment(read.grid.start),
            "end": moment(read.grid.end),
            "step_seconds": read.grid.step,
            "sources": tuple(problems.sources(read.readings)),
        }
    )


def _holdings(
    workloads: Sequence[estate.Workload],
    nodes: Mapping[str, estate.Node],
    by_node: Mapping[str, Priced],
    config: config_audit.Audit,
) -> tuple[Holding, ...]:
    result = []
    for index, workload in enumerate(workloads):
        for pod in workload.pods:
            gpus = allocations.held_now(pod, nodes)
            if gpus:
                what = by_node.get(pod.node, Priced(product=""))
                now = Now(gpus=gpus, price=prices.per_gpu_hour(config.prices, what))
                result.append(Holding(workload=index, what=what, now=now))
    return tuple(result)


def _idle(config: config_audit.Audit, grid: Grid) -> Idle:
    return Idle(below=config.idle.below, points=max(math.ceil(seconds(config.idle.lasting) / grid.step), 1))


def _fleet(read: _Read | None, nodes: Mapping[str, estate.Node]) -> Fleet | None:
    return ledger.fleet(read.tracks, nodes, read.grid) if read is not None and read.tracks else None
