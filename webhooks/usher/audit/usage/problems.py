"""Sentences for a report about its numbers: their source, and missing data."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from usher.audit import estate, fields, times
from usher.audit.usage import metrics
from usher.audit.usage.devices import Track
from usher.audit.usage.joining import Joined
from usher.audit.usage.ledger import Entry, share
from usher.audit.usage.node_hours import NodeHours
from usher.audit.usage.reading import Readings
from usher.audit.usage.series import Grid
from usher.audit.usage.tallies import Tally

_LATE: Final = 3

_NEARLY: Final = 0.99
_INTEL: Final = frozenset({"intel.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe"})


def sources(readings: Readings) -> Iterator[str]:
    """The source of each number that could come from several sources."""
    if readings.has_requests:
        yield "Allocated GPU-hours are those that kube-state-metrics recorded"


def of_source(readings: Readings, grid: Grid, tracks: Sequence[Track], *, idle_seconds: float) -> Iterator[str]:
    """Data that the source lacks as a whole."""
    if readings.of(metrics.REQUESTS).series and not readings.has_requests:
        yield (
            f"Prometheus has {metrics.REQUESTS.metric} but no {metrics.PHASES.metric}, which says when pods end, so "
            "neither is used"
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
    if first >= _LATE:
        yield f"The first sample is of {times.of_seconds(grid.time(first - 1))}: before, nothing was measured"
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


def no_series(selection: str) -> str:
    """The sentence for a source without series to measure. `selection` are the labels that series must have; empty for
    all series.
    """
    exporters = (
        f"dcgm-exporter ({metrics.ENGINE_ACTIVE.metric}, {metrics.GPU_UTIL.metric}) and of AMD's exporter "
        f"({metrics.AMD_ACTIVE.metric})"
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


def of_devices(tracks: Iterable[Track], nodes: Mapping[str, estate.Node]) -> Iterator[str]:
    """Weaknesses of the series about devices."""
    found = list(tracks)
    by_kernels = {track.device for track in found if track.by_kernels}
    if by_kernels:
        gpus = "1 GPU has" if len(by_kernels) == 1 else f"{len(by_kernels)} GPUs have"
        yield (
            f"{gpus} no {metrics.ENGINE_ACTIVE.metric}. The activity is then "
            f"{metrics.GPU_UTIL.metric}, the time in which any kernel ran, which is higher"
        )
    blind = {track.device for track in found if track.device.instance and not track.activity.values}
    if blind:
        yield (
            f"{len(blind)} MIG {'device has' if len(blind) == 1 else 'devices have'} no {metrics.ENGINE_ACTIVE.metric} "
            f"and are not measured, because {metrics.GPU_UTIL.metric} is 0 for MIG"
        )
    unknown = {track.device for track in found if share(track, nodes) is None}
    if unknown:
        number = len(unknown)
        parts = "1 device is a part of a GPU" if number == 1 else f"{number} devices are parts of GPUs"
        yield f"{parts} of unknown size and not counted"


def of_nodes(joined: Joined, nodes: Mapping[str, estate.Node]) -> Iterator[str]:
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


def of_attribution(joined: Joined) -> Iterator[str]:
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


def of_capacity(hours: Mapping[str, NodeHours] | None, nodes: Mapping[str, estate.Node], grid: Grid) -> Iterator[str]:
    """Missing data about GPUs that no pod held."""
    if hours is None:
        if nodes:
            yield (
                f"Prometheus has no {metrics.NODE_CAPACITY.metric} of kube-state-metrics, so the GPU-hours that no pod "
                "held in the window are not measured. What they cost now for an hour is known"
            )
        return
    missing = sorted(name for name, node in nodes.items() if node.capacity and name not in hours)
    if missing:
        yield (
            f"{metrics.NODE_CAPACITY.metric} has no series of {len(missing)} of {len(nodes)} GPU nodes, so GPU-hours "
            f"that no pod held there are missing: {fields.listing(missing)}"
        )
    known, window = max(each.known for each in hours.values()), grid.points * grid.hours
    if known < _NEARLY * window and f"{known:.1f}" != f"{window:.1f}":
        yield (
            f"{metrics.NODE_CAPACITY.metric} covers {known:.1f} of {window:.1f} hours: in the others, GPU-hours that "
            "no pod held are not measured"
        )


def of_sums(entries: Iterable[Entry], total: Tally) -> Iterator[str]:
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
