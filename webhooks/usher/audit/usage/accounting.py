"""From tracks and allocations to GPU-hours: what each pod held, what of it was measured, used and idle.

At each point a pod held the GPUs that kube-state-metrics or the cluster says; where neither knows, the devices whose
series name it. Devices of several pods at once count for each with an equal part. If a pod's devices are more than it
held, because its series end later than the pod, they count with the part that it held. So at every point measured is at
most allocated, and used and idle are at most measured.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from usher.audit.usage.devices import Track
from usher.audit.usage.labels import Device, PodName
from usher.audit.usage.merging import Line
from usher.audit.usage.series import Grid
from usher.audit.usage.tallies import BINS, Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    below: float
    """Activity from 0 to 1."""
    points: int
    """The fewest points in a row that are a stretch."""


class Place(NamedTuple):
    """A pod on a node."""

    pod: PodName
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A device while a pod held it, with the share of a GPU that counts for the pod at each point."""

    track: Track
    weights: Line
    """NaN where the pod did not hold it."""


def parts(tracks: Iterable[Track], share: Callable[[Track], float | None]) -> Iterator[Part]:
    """The tracks of pods with their weights: the share of the device, divided by the pods that hold it at a point.

    A track without a share is left out.
    """
    by_device: dict[Device, list[Track]] = {}
    for track in tracks:
        if track.holder is not None:
            by_device.setdefault(track.device, []).append(track)
    for found in by_device.values():
        for track in found:
            of_gpu = share(track)
            if of_gpu is not None:
                yield Part(track=track, weights=_weights(track, found, of_gpu))


def count(held: Line, found: Iterable[Part], *, grid: Grid, idle: Idle) -> Tally:
    """The GPU-hours of one pod on one node: `held` are the GPUs that it is known to have held."""
    tally = Tally()
    mine = [part for part in found if part.weights.values]
    lines = [held, *(part.weights for part in mine)]
    first = min((line.first for line in lines if line.values), default=0)
    end = max((line.end for line in lines if line.values), default=0)
    factors = _count_allocated(tally, held, mine, range(first, end), grid)
    for part in mine:
        _count_device(tally, part, factors, first, grid)
        _count_idle(tally, part, factors, first, grid, idle)
    # Sums of the same parts in another order may differ in the last digit.
    tally.measured = min(tally.measured, tally.allocated)
    tally.memory = min(tally.memory, tally.allocated)
    tally.idle = min(tally.idle, tally.measured)
    return tally


def _weights(track: Track, rivals: list[Track], share: float) -> Line:
    others = [other for other in rivals if other is not track]
    values = track.activity.values[:0]
    for point in range(track.first, track.end):
        others_hold = sum(other.has_sample(point) for other in others)
        if track.has_sample(point):
            values.append(share / (1 + others_hold))
        else:
            # Within a hole the pod still held the device, unless another pod did.
            values.append(math.nan if others_hold else share)
    return Line(first=track.first, values=values)


def _count_allocated(tally: Tally, held: Line, mine: list[Part], points: range, grid: Grid) -> list[float]:
    """Counts what was held; gives, by point, the part of the devices that counts."""
    factors = []
    for point in points:
        weight = sum(value for part in mine if (value := part.weights.at(point)) == value)
        gpus = held.at(point)
        if math.isnan(gpus):
            gpus = weight
        factors.append(min(1.0, gpus / weight) if weight else 0.0)
        tally.allocated += gpus * grid.hours
        tally.allocated_by_hour[grid.hour_of_day(point)] += gpus * grid.hours
    return factors


def _count_device(tally: Tally, part: Part, factors: list[float], first: int, grid: Grid) -> None:
    track, hours = part.track, grid.hours
    for point, weight in enumerate(part.weights.values, start=part.weights.first):
        counted = weight * factors[point - first] * hours
        if not counted > 0:
            continue
        activity = track.activity.at(point)
        if not math.isnan(activity):
            hour = grid.hour_of_day(point)
            tally.measured += counted
            tally.used += counted * activity
            tally.bins[math.ceil(activity * BINS - 1e-9)] += counted
            tally.measured_by_hour[hour] += counted
            tally.used_by_hour[hour] += counted * activity
        _count_memory(tally, track, point, counted)


def _count_memory(tally: Tally, track: Track, point: int, counted: float) -> None:
    used, of = track.memory_used.at(point), track.memory_total.at(point)
    if math.isnan(used):
        return
    peak = track.memory_peak.at(point)
    tally.memory_peak = max(tally.memory_peak, used if math.isnan(peak) else peak)
    if of > 0:
        tally.memory += counted
        tally.memory_used += counted * min(used / of, 1.0)
        tally.memory_total = max(tally.memory_total, of)


def _count_idle(tally: Tally, part: Part, factors: list[float], first: int, grid: Grid, idle: Idle) -> None:  # noqa: PLR0913, PLR0917 - what a stretch is counted with
    for start, end in stretches(part, below=idle.below, points=idle.points):
        for point in range(start, end):
            tally.idle += part.weights.at(point) * factors[point - first] * grid.hours


def stretches(part: Part, *, below: float, points: int) -> Iterator[tuple[int, int]]:
    """The stretches in which a held device stayed below an activity, each as its first point and the point after it.

    A point that was not measured ends a stretch.
    """
    start = -1
    for point in range(part.weights.first, part.weights.end + 1):
        activity = part.track.activity.at(point)
        # A comparison with NaN is false.
        if part.weights.at(point) > 0 and activity < below:
            start = point if start < 0 else start
        elif start >= 0:
            if point - start >= points:
                yield start, point
            start = -1
