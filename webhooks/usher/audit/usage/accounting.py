"""Computes GPU-hours from tracks and allocations: what each pod held, and which part was measured, used and idle.

At each point a pod held the GPUs that kube-state-metrics or the cluster reports; if both are silent, the devices whose
series name the pod. A device of several pods counts for each with an equal part. If a pod has more devices than GPUs,
because its series end later than the pod, each device counts with a part, so that the sum is what the pod held. So at
every point measured is at most allocated, and used and idle are at most measured.
"""

import math
import operator
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from usher.audit.usage import merging
from usher.audit.usage.devices import Track
from usher.audit.usage.labels import Device, PodName
from usher.audit.usage.merging import Line
from usher.audit.usage.series import Grid
from usher.audit.usage.tallies import BINS, Tally
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    below: float
    """Idle below this activity, from 0 to 1."""
    points: int
    """The fewest idle points in a row that count as a stretch."""


class Place(NamedTuple):
    """A pod on a node."""

    pod: PodName
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDevice:
    """A device while a pod held it, with the share of a GPU that counts for the pod at each point."""

    track: Track
    weights: Line
    """Shares of a GPU; NaN at points where the pod did not hold the device."""


def held_devices(tracks: Iterable[Track], share: Callable[[Track], float | None]) -> Iterator[HeldDevice]:
    """The tracks of pods with their weights: the share of the device divided by the number of pods that hold it at a
    point.

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
                yield HeldDevice(track=track, weights=_weights(track, found, of_gpu))


def count(held: Line, found: Iterable[HeldDevice], *, grid: Grid, idle: Idle) -> Tally:
    """The GPU-hours of one pod on one node; `held` are the GPUs that it is known to have held."""
    tally = Tally()
    mine = [device for device in found if device.weights.values]
    lines = [held, *(device.weights for device in mine)]
    first = min((line.first for line in lines if line.values), default=0)
    end = max((line.end for line in lines if line.values), default=0)
    factors = _count_allocated(tally, held, mine, range(first, end), grid)
    for device in mine:
        counted = _counted(device, factors, first, grid)
        _count_activity(tally, device, counted, grid)
        _count_memory(tally, device, counted)
        for start, stop in stretches(device, below=idle.below, points=idle.points):
            tally.idle += sum(counted[start - device.weights.first : stop - device.weights.first])
    # Sums of the same parts in another order may differ in the last digit.
    tally.measured = min(tally.measured, tally.allocated)
    tally.memory = min(tally.memory, tally.allocated)
    tally.idle = min(tally.idle, tally.measured)
    return tally


def _weights(track: Track, rivals: list[Track], share: float) -> Line:
    first, end = track.first, track.end
    mine = _samples(track, first, end)
    others = [_samples(other, first, end) for other in rivals if other is not track]
    if not others:
        # Within a hole the pod still held the device.
        return Line(first=first, values=array("d", [share]) * len(mine))
    values = array("d")
    for has_sample, *theirs in zip(mine, *others, strict=True):
        holding = sum(theirs)
        values.append(share / (1 + holding) if has_sample else math.nan if holding else share)
    return Line(first=first, values=values)


def _samples(track: Track, first: int, end: int) -> list[bool]:
    """Whether the device has a sample of this pod, by point."""
    lines = (merging.spread(line, first, end) for line in (track.activity, track.memory_used))
    return [not (math.isnan(activity) and math.isnan(used)) for activity, used in zip(*lines, strict=True)]


def _count_allocated(tally: Tally, held: Line, mine: list[HeldDevice], points: range, grid: Grid) -> "array[float]":
    """Counts the allocated GPU-hours, and gives for each point the part of the devices that counts."""
    factors = array("d")
    hours = grid.hours
    weights = [merging.spread(device.weights, points.start, points.stop) for device in mine]
    known = merging.spread(held, points.start, points.stop)
    for point, gpus, *each in zip(points, known, *weights, strict=True):
        weight = sum(value for value in each if not math.isnan(value))
        amount = weight if math.isnan(gpus) else gpus
        factors.append(min(1.0, amount / weight) if weight else 0.0)
        if amount > 0 and tally.first is None:
            tally.first = point
        tally.allocated += amount * hours
        tally.allocated_by_hour[grid.hour_of_day(point)] += amount * hours
    return factors


def _counted(device: HeldDevice, factors: "array[float]", first: int, grid: Grid) -> "array[float]":
    """The GPU-hours of a device that count for the pod at each point; NaN at points where it did not hold
    the device.
    """
    start = device.weights.first - first
    of_device = factors[start : start + len(device.weights.values)]
    return array("d", map(operator.mul, device.weights.values, (factor * grid.hours for factor in of_device)))


def _count_activity(tally: Tally, device: HeldDevice, counted: "array[float]", grid: Grid) -> None:
    first, bins = device.weights.first, tally.bins
    measured = used = 0.0
    activities = merging.spread(device.track.activity, first, device.weights.end)
    for point, (hours, activity) in enumerate(zip(counted, activities, strict=True), start=first):
        # Comparisons with NaN are false.
        if hours > 0 and activity >= 0:
            hour, busy = grid.hour_of_day(point), hours * activity
            measured += hours
            used += busy
            bins[math.ceil(activity * BINS - 1e-9)] += hours
            tally.measured_by_hour[hour] += hours
            tally.used_by_hour[hour] += busy
    tally.measured += measured
    tally.used += used


def _count_memory(tally: Tally, device: HeldDevice, counted: "array[float]") -> None:
    track, first, end = device.track, device.weights.first, device.weights.end
    if not track.memory_used.values:
        return
    lines = (merging.spread(line, first, end) for line in (track.memory_used, track.memory_total, track.memory_peak))
    for hours, used, total, peak in zip(counted, *lines, strict=True):
        if not (hours > 0 and used >= 0):
            continue
        highest = max(used, peak)
        tally.memory_peak = max(tally.memory_peak, highest)
        if total > 0:
            tally.memory += hours
            tally.memory_used += hours * min(used / total, 1.0)
            tally.memory_total = max(tally.memory_total, total)


def stretches(device: HeldDevice, *, below: float, points: int) -> Iterator[tuple[int, int]]:
    """The stretches in which a held device stayed below an activity, each with its first point and the point after it.

    A point without a measurement ends a stretch.
    """
    first, weights = device.weights.first, device.weights
    activities = merging.spread(device.track.activity, first, weights.end)
    start = -1
    for point, (weight, activity) in enumerate(zip(weights.values, activities, strict=True), start=first):
        # A comparison with NaN is false.
        if weight > 0 and activity < below:
            start = point if start < 0 else start
        elif start >= 0:
            if point - start >= points:
                yield start, point
            start = -1
    if start >= 0 and weights.end - start >= points:
        yield start, weights.end
