"""Observes an estate through the series of a source: which pod held which GPUs, and how active the devices were."""

import math
from collections.abc import Iterator, Mapping

from usher.audit import capacity
from usher.audit.estate import Estate, Node
from usher.audit.usage import allocations, devices, joining, labels, ledger, metrics, prices, problems, reading, tallies
from usher.audit.usage.accounting import Idle
from usher.audit.usage.attribution import Attribution, attribution
from usher.audit.usage.devices import Track
from usher.audit.usage.joining import Joined
from usher.audit.usage.ledger import AllDevices, Entry
from usher.audit.usage.node_hours import NodeHours, of_nodes
from usher.audit.usage.reading import Readings
from usher.audit.usage.series import Grid, Source
from usher.config.audit_settings import Audit
from usher.config.fields import seconds
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The entries of the ledger, and the data behind them."""

    readings: Readings
    """Answers without the series of devices, which are most of the memory of an audit."""
    grid: Grid
    tracks: tuple[Track, ...]
    entries: tuple[Entry, ...]
    node_hours: Mapping[str, NodeHours] | None
    """By node; None if no series shows the capacity of nodes."""
    problems: tuple[str, ...]
    failures: tuple[str, ...]
    """The problems because of which usage is missing."""

    def all_devices(self, nodes: Mapping[str, Node]) -> AllDevices | None:
        """The devices of all tracks together; None if no device was measured."""
        return ledger.all_devices(self.tracks, nodes, self.grid) if self.tracks else None


def observe(estate: Estate, source: Source, *, nodes: Mapping[str, Node], config: Audit, grid: Grid) -> Observation:
    """Reads all series and joins them with the pods and nodes of the estate.

    Args:
        estate: the workloads of the cluster.
        source: the source of the series. A question that it cannot answer becomes a problem.
        nodes: the nodes of the estate, by name.
        config: the section `audit` of usher.yaml.
        grid: the window.
    """
    readings = reading.read(source, grid)
    is_answered = not readings.problems or metrics.ENGINE_ACTIVE in readings.answers
    requests, phases = readings.of(metrics.REQUESTS), readings.of(metrics.PHASES)
    held = allocations.recorded(requests, phases, nodes) if readings.has_requests else ()
    pods = [pod for workload in estate.workloads for pod in workload.pods]
    names = labels.nodes([*nodes, *(each.node for each in held), *(pod.node for pod in pods if pod.node)])
    elsewhere = readings.devices_left_out
    joined = joining.join(devices.read(readings.devices, names), estate, nodes, grid)
    readings.forget_devices()
    lines = allocations.together(held, allocations.present(estate.workloads, nodes, grid))
    node_hours = of_nodes(readings, lines, nodes, grid)
    entries: tuple[Entry, ...] = ()
    if joined.tracks or held:
        entries = ledger.entries(
            joined.tracks,
            lines,
            nodes=nodes,
            attribution=_attribution(estate, readings),
            price=lambda node_type: prices.per_gpu_hour(config.prices, node_type),
            grid=grid,
            idle=_idle(config, grid),
        )
    # Some series need all other series to find out which pod they name.
    entries = tuple(each for each in entries if estate.scope.has(each.owner.namespace))
    has_series = joined.tracks or elsewhere or not is_answered
    no_series = () if has_series else (problems.no_series(source.selection),)
    said = _problems(readings, joined, entries, node_hours, estate=estate, nodes=nodes, config=config, grid=grid)
    return Observation(
        readings=readings,
        grid=grid,
        tracks=joined.tracks,
        entries=entries,
        node_hours=node_hours,
        problems=(*readings.problems, *no_series, *(said if is_answered else ())),
        failures=(*readings.failures, *(no_series if capacity.has_gpus(estate) else ())),
    )


def _attribution(estate: Estate, readings: Readings) -> Attribution:
    return attribution(
        estate.workloads,
        pods=readings.of(metrics.POD_OWNERS),
        replicasets=readings.of(metrics.REPLICASET_OWNERS),
        jobs=readings.of(metrics.JOB_OWNERS),
    )


def _idle(config: Audit, grid: Grid) -> Idle:
    return Idle(below=config.idle.below, points=max(math.ceil(seconds(config.idle.lasting) / grid.step), 1))


def _problems(  # noqa: PLR0913 - all results by name
    readings: Readings,
    joined: Joined,
    entries: tuple[Entry, ...],
    node_hours: Mapping[str, NodeHours] | None,
    *,
    estate: Estate,
    nodes: Mapping[str, Node],
    config: Audit,
    grid: Grid,
) -> Iterator[str]:
    """Sentences about missing data, from a source that answers at all."""
    yield from problems.of_source(readings, grid, joined.tracks, idle_seconds=seconds(config.idle.lasting))
    yield from problems.of_devices(joined.tracks, nodes)
    yield from problems.of_attribution(joined)
    if estate.scope.is_whole:
        # To this part, the nodes of other parts only seem to have no series.
        yield from problems.of_nodes(joined, nodes)
        yield from problems.of_capacity(node_hours, nodes, grid)
    yield from problems.of_sums(entries, tallies.total(entry.tally for entry in entries))
