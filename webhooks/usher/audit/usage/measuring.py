"""Usage and money of an estate in a window: what `usher audit` shows of them. docs/audit.md has every formula.

The series of a source say which pod held which GPUs and what the devices did. A report also says where its numbers come
from, and what is missing in them.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from usher.audit import document_entries
from usher.audit.document import Measurement, Usage
from usher.audit.gather import estate, gpus
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Node
from usher.audit.gather.gpus import NodeType, node_type_of, price_per_hour, price_problems, splits_of_nodes
from usher.audit.usage import gpu_hours, held_gpus, series, usage_amounts, usage_metrics
from usher.audit.usage.gpu_hours import AllDevices, Attribution, Entry, IdleRule, Tally, attribution_of, share_of_track
from usher.audit.usage.held_gpus import JoinedTracks, NodeHours, Track, hours_of_nodes
from usher.audit.usage.possible_savings import all_savings
from usher.audit.usage.series import Answer, Grid, Source
from usher.audit.usage.usage_amounts import Holding, Measured, Now
from usher.audit.usage.usage_metrics import Readings
from usher.check.findings import Identity
from usher.config.models import Audit
from usher.config.selection import seconds

_LATE_POINTS: Final = 3

_NEARLY: Final = 0.99
_INTEL: Final = frozenset({"intel.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe"})


def sources_of_numbers(readings: Readings) -> Iterator[str]:
    """The source of each number that could come from several sources."""
    if readings.has_requests:
        yield "Allocated GPU-hours are those that kube-state-metrics recorded"


def source_problems(readings: Readings, grid: Grid, tracks: Sequence[Track], *, idle_seconds: float) -> Iterator[str]:
    """Data that the source lacks as a whole."""
    if readings.of(usage_metrics.REQUESTS).series and not readings.has_requests:
        yield (
            f"Prometheus has {usage_metrics.REQUESTS.metric} but no {usage_metrics.PHASES.metric}, which says "
            "when pods end, so neither is used"
        )
    if tracks and not readings.has_requests:
        yield (
            "Prometheus has no requests of pods for GPUs from kube-state-metrics. Allocated GPU-hours come from the "
            "pods that the cluster has now and from the labels of series, so those of ended pods on nodes without "
            "series are missing"
        )
    if not tracks and readings.devices_left_out:
        yield "Prometheus has no series of a GPU that is not held by other namespaces, so no usage was measured"
        return
    if not tracks:
        return
    first = min(track.first for track in tracks)
    if first >= _LATE_POINTS:
        began = document_entries.time_of_seconds(grid.time(first - 1))
        yield f"The first sample is of {began}: before, nothing was measured"
    window = grid.points * grid.step
    if window < 2 * idle_seconds:
        yield (
            f"The window has {window / 3600:.1f} hours, and a GPU is idle after {idle_seconds / 3600:.1f} hours "
            "without a break (audit.idle.lasting), so most idle GPU-hours are missing. Choose a --window of at least "
            f"{math.ceil(2 * idle_seconds / 3600)}h"
        )
    if grid.step > idle_seconds:
        yield (
            f"A step has {grid.step} s, which is longer than audit.idle.lasting ({idle_seconds:.0f} s): idle is what "
            "has a low mean over a step. Choose a shorter --step"
        )


def missing_series_problem(selection: str) -> str:
    """The sentence for a source without series to measure. `selection` are the labels that series must have; empty for
    all series.
    """
    exporters = (
        f"dcgm-exporter ({usage_metrics.ENGINE_ACTIVE.metric}, {usage_metrics.GPU_UTIL.metric}) and of AMD's exporter "
        f"({usage_metrics.AMD_ACTIVE.metric})"
    )
    if selection:
        return (
            f"Prometheus has no usable series of {exporters} with {selection}, so no usage was measured. Compare "
            "--prometheus-label with the labels of these series; or scrape the exporter of the GPU operator"
        )
    return (
        f"Prometheus has no usable series of {exporters}, so no usage was measured. Scrape the exporter of the GPU "
        "operator"
    )


def device_problems(tracks: Iterable[Track], nodes: Mapping[str, estate.Node]) -> Iterator[str]:
    """Weaknesses of the series about devices."""
    found = list(tracks)
    by_kernels = {track.device for track in found if track.by_kernels}
    if by_kernels:
        gpus = "1 GPU has" if len(by_kernels) == 1 else f"{len(by_kernels)} GPUs have"
        yield (
            f"{gpus} no {usage_metrics.ENGINE_ACTIVE.metric}. The activity is then "
            f"{usage_metrics.GPU_UTIL.metric}, the time in which any kernel ran, which is higher"
        )
    blind = {track.device for track in found if track.device.instance and not track.activity.values}
    if blind:
        yield (
            f"{len(blind)} MIG {'device has' if len(blind) == 1 else 'devices have'} no "
            f"{usage_metrics.ENGINE_ACTIVE.metric} and are not measured, because {usage_metrics.GPU_UTIL.metric} is 0 "
            "for MIG"
        )
    unknown = {track.device for track in found if share_of_track(track, nodes) is None}
    if unknown:
        number = len(unknown)
        parts = "1 device is a part of a GPU" if number == 1 else f"{number} devices are parts of GPUs"
        yield f"{parts} of unknown size and not counted"


def node_problems(joined: JoinedTracks, nodes: Mapping[str, estate.Node]) -> Iterator[str]:
    """The nodes that are not measured."""
    measured = {track.node for track in joined.tracks}
    missing = sorted(name for name, node in nodes.items() if node.capacity and name not in measured)
    if missing and any(track.node for track in joined.tracks):
        number = f"{len(missing)} of {len(nodes)} GPU nodes"
        yield f"{number} have no series, so their GPUs are not measured: {fields.listing(missing)}"
    intel = sorted(name for name, node in nodes.items() if not _INTEL.isdisjoint(node.capacity))
    if intel:
        yield f"GPUs of Intel are not measured, because usher reads no exporter of Intel: {fields.listing(intel)}"
    if nodes and joined.tracks and not any(track.node for track in joined.tracks):
        yield "No label of the series names a node of the cluster. Set NODE_NAME in the exporter, or add a label `node`"


def attribution_problems(joined: JoinedTracks) -> Iterator[str]:
    """The nodes whose series name no pods."""
    if joined.by_node:
        yield (
            f"Series of {fields.listing(joined.by_node)} name no pods; they count for the one pod that holds all GPUs "
            "of its node"
        )
    if joined.not_attributed:
        yield (
            f"Series of {fields.listing(joined.not_attributed)} name no pods though pods hold GPUs there: these "
            "GPU-hours are allocated and not measured"
        )


def capacity_problems(
    hours: Mapping[str, NodeHours] | None, nodes: Mapping[str, estate.Node], grid: Grid
) -> Iterator[str]:
    """Missing data about GPUs that no pod held."""
    if hours is None:
        if nodes:
            yield (
                f"Prometheus has no {usage_metrics.NODE_CAPACITY.metric} of kube-state-metrics, so the GPU-hours "
                "that no pod held in the window are not measured. What they cost now for an hour is known"
            )
        return
    missing = sorted(name for name, node in nodes.items() if node.capacity and name not in hours)
    if missing:
        yield (
            f"{usage_metrics.NODE_CAPACITY.metric} has no series of {len(missing)} of {len(nodes)} GPU nodes, so "
            f"GPU-hours that no pod held there are missing: {fields.listing(missing)}"
        )
    known, window = max(each.known for each in hours.values()), grid.points * grid.hours
    if known < _NEARLY * window and f"{known:.1f}" != f"{window:.1f}":
        yield (
            f"{usage_metrics.NODE_CAPACITY.metric} covers {known:.1f} of {window:.1f} hours: in the others, GPU-hours "
            "that no pod held are not measured"
        )


def sum_problems(entries: Iterable[Entry], total: Tally) -> Iterator[str]:
    """GPU-hours that could not be measured, or belong to no workload."""
    if total.allocated - total.measured > 0.01:
        yield (
            f"{total.allocated - total.measured:.1f} of {total.allocated:.1f} allocated GPU-hours have no sample of "
            "activity, so they are neither used nor idle"
        )
    lost = sum(entry.tally.allocated for entry in entries if entry.owner.workload < 0)
    if lost > 0:
        yield (
            f"{lost:.1f} GPU-hours are of pods whose workload the cluster no longer has; they count for their namespace"
        )


class Observation(Struct, frozen=True, kw_only=True):
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
    """The problems that cause missing usage."""

    def all_devices(self, nodes: Mapping[str, Node]) -> AllDevices | None:
        """The devices of all tracks together; None if no device was measured."""
        return gpu_hours.all_device_hours(self.tracks, nodes, self.grid) if self.tracks else None


def observe_usage(
    estate: Estate, source: Source, *, nodes: Mapping[str, Node], config: Audit, grid: Grid
) -> Observation:
    """Reads all series and joins them with the pods and nodes of the estate.

    Args:
        source: the source of the series. A question that it cannot answer becomes a problem.
    """
    readings = usage_metrics.read_all(source, grid)
    is_answered = not readings.problems or usage_metrics.ENGINE_ACTIVE in readings.answers
    requests, phases = readings.of(usage_metrics.REQUESTS), readings.of(usage_metrics.PHASES)
    held = held_gpus.recorded_allocations(requests, phases, nodes) if readings.has_requests else ()
    pods = [pod for workload in estate.workloads for pod in workload.pods]
    names = series.known_nodes([*nodes, *(each.node for each in held), *(pod.node for pod in pods if pod.node)])
    elsewhere = readings.devices_left_out
    joined = held_gpus.join_pods(held_gpus.read_tracks(readings.devices, names), estate, nodes, grid)
    readings.forget_devices()
    lines = held_gpus.joined_allocations(held, held_gpus.present_allocations(estate.workloads, nodes, grid))
    node_hours = hours_of_nodes(readings, lines, nodes, grid)
    entries: tuple[Entry, ...] = ()
    if joined.tracks or held:
        entries = gpu_hours.ledger_entries(
            joined.tracks,
            lines,
            nodes=nodes,
            attribution=_attribution_of_pods(estate, readings),
            price=lambda node_type: gpus.price_per_hour(config.prices, node_type),
            grid=grid,
            idle=IdleRule(below=config.idle.below, points=max(math.ceil(seconds(config.idle.lasting) / grid.step), 1)),
        )
    # Some series need all other series to find out which pod they name.
    entries = tuple(each for each in entries if estate.scope.has(each.owner.namespace))
    has_series = joined.tracks or elsewhere or not is_answered
    no_series = () if has_series else (missing_series_problem(source.selection),)
    problems = _problems_of_series(
        readings, joined, entries, node_hours, estate=estate, nodes=nodes, config=config, grid=grid
    )
    return Observation(
        readings=readings,
        grid=grid,
        tracks=joined.tracks,
        entries=entries,
        node_hours=node_hours,
        problems=(*readings.problems, *no_series, *(problems if is_answered else ())),
        failures=(*readings.failures, *(no_series if gpus.has_gpus(estate) else ())),
    )


def _attribution_of_pods(estate: Estate, readings: Readings) -> Attribution:
    return attribution_of(
        estate.workloads,
        pods=readings.of(usage_metrics.POD_OWNERS),
        replicasets=readings.of(usage_metrics.REPLICASET_OWNERS),
        jobs=readings.of(usage_metrics.JOB_OWNERS),
    )


def _problems_of_series(  # noqa: PLR0913 - all results by name
    readings: Readings,
    joined: JoinedTracks,
    entries: tuple[Entry, ...],
    node_hours: Mapping[str, NodeHours] | None,
    *,
    estate: Estate,
    nodes: Mapping[str, Node],
    config: Audit,
    grid: Grid,
) -> Iterator[str]:
    """Sentences about missing data, from a source that answers at all."""
    yield from source_problems(readings, grid, joined.tracks, idle_seconds=seconds(config.idle.lasting))
    yield from device_problems(joined.tracks, nodes)
    yield from attribution_problems(joined)
    if estate.scope.is_whole:
        # To this part, the nodes of other parts only seem to have no series.
        yield from node_problems(joined, nodes)
        yield from capacity_problems(node_hours, nodes, grid)
    yield from sum_problems(entries, gpu_hours.total_tally(entry.tally for entry in entries))


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
        source: the source of the series. A question that it cannot answer becomes a problem of the measurement, not an
            error.
        window: the time to measure back from `now`, in whole steps.
        now: the time of the audit, aware.
        step: the length of a step; by default chosen so that the window has at most 1,100 steps.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    holdings = tuple(_holdings(estate, nodes, config))
    observed = None
    if source is not None:
        grid = series.grid_of_window(window, now=now, step=step)
        observed = observe_usage(estate, source, nodes=nodes, config=config, grid=grid)
    return _sums_of(estate, observed, holdings, nodes=nodes, config=config, source=source)


def _sums_of(  # noqa: PLR0913 - all addends by name
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
    rests = usage_amounts.rests(
        splits_of_nodes(estate),
        observed.node_hours if observed else None,
        entries,
        price=lambda node_type: price_per_hour(config.prices, node_type),
    )
    of_workload = defaultdict[int, list[Entry]](list)
    for entry in entries:
        of_workload[entry.owner.workload].append(entry)
    total = gpu_hours.total_tally(entry.tally for entry in entries) if entries else None
    wait, formula = _waited(estate, observed)
    return Measured(
        measurement=_measurement_of(estate, observed, holdings, config=config, source=source),
        total=usage_amounts.usage_of(entries, (each.now for each in holdings), currency=currency),
        workloads=_usage_by_workload(estate, of_workload, holdings, currency=currency),
        groups=usage_amounts.group_tables(
            entries,
            holdings,
            workloads=estate.workloads,
            rests=rests if estate.pods_known and estate.scope.is_whole else usage_amounts.Rests(),
            teams=estate.teams,
            currency=currency,
        ),
        prices=usage_amounts.price_rows(config.prices, nodes, entries, is_measured=total is not None),
        not_held=usage_amounts.not_held_of(rests),
        targets=usage_amounts.target_rows(
            config.targets,
            devices=observed.all_devices(nodes) if observed else None,
            tally=total,
            queue_wait=wait,
            wait_formula=formula,
        ),
        savings=all_savings(estate, of_workload, config=config, grid=observed.grid) if observed else (),
        queue_wait_p95_seconds=usage_amounts.rounded_or_none(wait),
        currency=currency,
    )


def _holdings(estate: Estate, nodes: Mapping[str, Node], config: Audit) -> Iterator[Holding]:
    """The GPUs that pods hold now, each at the price of its node."""
    node_types = {name: node_type_of(node) for name, node in nodes.items()}
    for index, workload in enumerate(estate.workloads):
        for pod in workload.pods:
            gpus = held_gpus.held_now(pod, nodes)
            if gpus:
                node_type = node_types.get(pod.node, NodeType(product=""))
                now = Now(gpus=gpus, price=price_per_hour(config.prices, node_type))
                yield Holding(workload=index, node_type=node_type, now=now)


def _usage_by_workload(
    estate: Estate, entries: Mapping[int, Sequence[Entry]], holdings: Iterable[Holding], *, currency: str
) -> dict[Identity, Usage]:
    now = defaultdict[int, list[Now]](list)
    for each in holdings:
        now[each.workload].append(each.now)
    return {
        workload.identity: usage_amounts.usage_of(entries.get(index, ()), now.get(index, ()), currency=currency)
        for index, workload in enumerate(estate.workloads)
    }


def _waited(estate: Estate, observed: Observation | None) -> tuple[float | None, str]:
    """The queue wait of workloads in seconds, and how it was computed."""
    if observed is None:
        return usage_metrics.queue_wait(estate, Answer(), start=None)
    start = datetime.fromtimestamp(observed.grid.start, tz=UTC)
    return usage_metrics.queue_wait(estate, observed.readings.of(usage_metrics.QUEUE_WAIT), start=start)


def _measurement_of(
    estate: Estate,
    observed: Observation | None,
    holdings: Sequence[Holding],
    *,
    config: Audit,
    source: Source | None,
) -> Measurement:
    seen = {node_type_of(node) for node in estate.nodes or ()}
    seen |= {each.node_type for each in (observed.entries if observed else holdings)}
    problems = (*(observed.problems if observed else ()), *price_problems(config.prices, seen))
    nothing = Measurement(
        source="none",
        idle_below=config.idle.below,
        idle_minutes=math.ceil(seconds(config.idle.lasting) / 60),
        problems=problems,
    )
    if observed is None or source is None:
        return nothing
    return nothing.model_copy(
        update={
            "source": source.name,
            "url": source.url,
            "start": document_entries.time_of_seconds(observed.grid.start),
            "end": document_entries.time_of_seconds(observed.grid.end),
            "step_seconds": observed.grid.step,
            "sources": tuple(sources_of_numbers(observed.readings)),
            "failures": observed.failures,
        }
    )
