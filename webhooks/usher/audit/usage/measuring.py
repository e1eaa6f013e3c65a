"""Usage and money of an estate in a window, as `usher audit` shows them. docs/audit.md has every formula."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from usher.audit import capacity, times
from usher.audit.document.usage import Measurement, Usage
from usher.audit.estate import Estate, Node
from usher.audit.usage import (
    allocations,
    amounts,
    grids,
    metrics,
    not_held,
    observation,
    price_table,
    prices,
    problems,
    queue_wait,
    tables,
    tallies,
    targets,
)
from usher.audit.usage.amounts import Now
from usher.audit.usage.ledger import Entry
from usher.audit.usage.measured import Measured
from usher.audit.usage.observation import Observation
from usher.audit.usage.prices import NodeType
from usher.audit.usage.savings.choice import savings
from usher.audit.usage.series import Answer, Source
from usher.audit.usage.tables import Holding
from usher.check.findings import Identity
from usher.config.audit_settings import Audit
from usher.config.fields import seconds


def measure(  # noqa: PLR0913 - all arguments of an audit by name
    estate: Estate,
    source: Source | None,
    *,
    config: Audit,
    window: timedelta,
    now: datetime,
    step: timedelta | None = None,
) -> Measured:
    """The usage of an estate; without a source, only what its pods hold now.

    Args:
        estate: the nodes and workloads of the cluster.
        source: the source of the series. A question that it cannot answer becomes a problem of the measurement, not an
            error.
        config: the section `audit` of usher.yaml.
        window: the time to measure back from `now`, in whole steps.
        now: the time of the audit, aware.
        step: the length of a step; by default chosen so that the window has at most 1,100 steps.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    holdings = tuple(_holdings(estate, nodes, config))
    observed = None
    if source is not None:
        grid = grids.of_window(window, now=now, step=step)
        observed = observation.observe(estate, source, nodes=nodes, config=config, grid=grid)
    return _measured(estate, observed, holdings, nodes=nodes, config=config, source=source)


def _measured(  # noqa: PLR0913 - all addends by name
    estate: Estate,
    observed: Observation | None,
    holdings: Sequence[Holding],
    *,
    nodes: Mapping[str, Node],
    config: Audit,
    source: Source | None,
) -> Measured:
    """The sums of what was observed, and of what pods hold now."""
    entries = observed.entries if observed else ()
    currency = config.prices.currency
    rests = not_held.rests(
        capacity.splits(estate),
        observed.node_hours if observed else None,
        entries,
        price=lambda node_type: prices.per_gpu_hour(config.prices, node_type),
    )
    of_workload = defaultdict[int, list[Entry]](list)
    for entry in entries:
        of_workload[entry.owner.workload].append(entry)
    total = tallies.total(entry.tally for entry in entries) if entries else None
    wait, formula = _queue_wait(estate, observed)
    return Measured(
        measurement=_measurement(estate, observed, holdings, config=config, source=source),
        total=amounts.usage(entries, (each.now for each in holdings), currency=currency),
        workloads=_usages(estate, of_workload, holdings, currency=currency),
        groups=tables.tables(
            entries,
            holdings,
            workloads=estate.workloads,
            rests=rests if estate.pods_known and estate.scope.is_whole else not_held.Rests(),
            teams=estate.teams,
            currency=currency,
        ),
        prices=price_table.rows(config.prices, nodes, entries, is_measured=total is not None),
        not_held=not_held.of(rests),
        targets=targets.targets(
            config.targets,
            devices=observed.all_devices(nodes) if observed else None,
            tally=total,
            queue_wait=wait,
            wait_formula=formula,
        ),
        savings=savings(estate, of_workload, config=config, grid=observed.grid) if observed else (),
        queue_wait_p95_seconds=amounts.optional(wait),
        currency=currency,
    )


def _holdings(estate: Estate, nodes: Mapping[str, Node], config: Audit) -> Iterator[Holding]:
    """The GPUs that pods hold now, each at the price of its node."""
    node_types = {name: prices.of_node(node) for name, node in nodes.items()}
    for index, workload in enumerate(estate.workloads):
        for pod in workload.pods:
            gpus = allocations.held_now(pod, nodes)
            if gpus:
                node_type = node_types.get(pod.node, NodeType(product=""))
                now = Now(gpus=gpus, price=prices.per_gpu_hour(config.prices, node_type))
                yield Holding(workload=index, node_type=node_type, now=now)


def _usages(
    estate: Estate, entries: Mapping[int, Sequence[Entry]], holdings: Iterable[Holding], *, currency: str
) -> dict[Identity, Usage]:
    now = defaultdict[int, list[Now]](list)
    for each in holdings:
        now[each.workload].append(each.now)
    return {
        workload.identity: amounts.usage(entries.get(index, ()), now.get(index, ()), currency=currency)
        for index, workload in enumerate(estate.workloads)
    }


def _queue_wait(estate: Estate, observed: Observation | None) -> tuple[float | None, str]:
    """The queue wait of workloads in seconds, and how it was computed."""
    if observed is None:
        return queue_wait.of_estate(estate, Answer(), start=None)
    start = datetime.fromtimestamp(observed.grid.start, tz=UTC)
    return queue_wait.of_estate(estate, observed.readings.of(metrics.QUEUE_WAIT), start=start)


def _measurement(
    estate: Estate,
    observed: Observation | None,
    holdings: Sequence[Holding],
    *,
    config: Audit,
    source: Source | None,
) -> Measurement:
    seen = {prices.of_node(node) for node in estate.nodes or ()}
    seen |= {each.node_type for each in (observed.entries if observed else holdings)}
    said = (*(observed.problems if observed else ()), *prices.problems(config.prices, seen))
    nothing = Measurement(
        source="none",
        idle_below=config.idle.below,
        idle_minutes=math.ceil(seconds(config.idle.lasting) / 60),
        problems=said,
    )
    if observed is None or source is None:
        return nothing
    return nothing.model_copy(
        update={
            "source": source.name,
            "url": source.url,
            "start": times.of_seconds(observed.grid.start),
            "end": times.of_seconds(observed.grid.end),
            "step_seconds": observed.grid.step,
            "sources": tuple(problems.sources(observed.readings)),
            "failures": observed.failures,
        }
    )
