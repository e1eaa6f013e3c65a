"""Turns series of exporters into tracks: the activity of one device while one pod, or no pod, held it."""

import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from usher.audit.usage import labels, merging, metrics
from usher.audit.usage.labels import Device, PodName
from usher.audit.usage.merging import EMPTY, Line
from usher.audit.usage.series import Answer, Question, Series
from usher.dataclass import dataclass

_HIGHEST_SHARE: Final = 1.01
"""Times the unit. A little more than 1 is rounding. DCGM writes very large numbers for values that it cannot read."""

_MOST_MEBIBYTES: Final = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A device while one pod held it; `holder` is None while no pod did."""

    device: Device
    holder: PodName | None
    node: str
    """Empty if no label names a known node."""
    product: str
    """From the labels of its series; empty if they do not have it."""
    profile: str
    """The MIG profile; empty for whole GPUs."""
    activity: Line
    """From 0 to 1."""
    by_kernels: bool = False
    """Whether the activity comes from DCGM_FI_DEV_GPU_UTIL: the time in which any kernel ran."""
    memory_used: Line = EMPTY
    """In MiB, like the next one."""
    memory_total: Line = EMPTY
    memory_peak: Line = EMPTY

    @property
    def first(self) -> int:
        return min((line.first for line in (self.activity, self.memory_used) if line.values), default=0)

    @property
    def end(self) -> int:
        """The point after the last one that has a sample."""
        return max(self.activity.end, self.memory_used.end)


Key = tuple[Device, PodName | None]


@dataclass(slots=True)
class _Parts:
    """The series of one device and holder, by metric."""

    labels: Mapping[str, str]
    series: dict[Question, list[Series]] = field(default_factory=dict)

    def line(self, question: Question, most: float) -> Line:
        """The values from 0 to `most`. An exporter writes other values if it could not read the device."""

        def usable(value: float) -> bool:
            return 0 <= value <= most

        return merging.bridge(merging.merge(self.series.get(question, ()), usable=usable))

    def share(self, question: Question, unit: float) -> Line:
        """Values from 0 to `unit` as shares from 0 to 1."""
        found = self.line(question, unit * _HIGHEST_SHARE)
        return merging.mapped(found, lambda value: min(value / unit, 1.0))

    def memory(self, question: Question) -> Line:
        return self.line(question, _MOST_MEBIBYTES)


def read(answers: Mapping[Question, Answer], nodes: labels.Nodes) -> tuple[Track, ...]:
    """The tracks in the series of all exporters, in the order of their devices and holders."""
    parts: dict[Key, _Parts] = {}
    everything = [each for answer in answers.values() for each in answer.series]
    renamed = labels.renamed(everything)
    for question, answer in answers.items():
        for each in answer.series:
            key = labels.device(each.labels, nodes), labels.holder(each.labels, renamed)
            found = parts.setdefault(key, _Parts(labels=each.labels))
            found.series.setdefault(question, []).append(each)
    with_engine = {device for (device, _), each in parts.items() if metrics.ENGINE_ACTIVE in each.series}
    tracks = [
        _track(key, each, nodes, has_engine=key[0] in with_engine)
        for key, each in sorted(parts.items(), key=lambda item: (item[0][0], item[0][1] or ("", "")))
    ]
    return tuple(_without_divided_gpus(track for track in tracks if track.end))


def _track(key: Key, parts: _Parts, nodes: labels.Nodes, *, has_engine: bool) -> Track:
    device, holder = key
    profile = parts.labels.get("GPU_I_PROFILE", "")
    activity = parts.share(metrics.ENGINE_ACTIVE, 1)
    by_kernels = False
    if not has_engine and not device.instance:
        # The GPU_UTIL of a MIG device is always 0.
        activity = parts.share(metrics.GPU_UTIL, 100)
        by_kernels = bool(activity.values)
    if not activity.values:
        activity = parts.share(metrics.AMD_ACTIVE, 100)
    return Track(
        device=device,
        holder=holder,
        node=labels.node(parts.labels, nodes),
        product=_product(parts.labels),
        profile=profile,
        activity=activity,
        by_kernels=by_kernels,
        memory_used=_either(parts, metrics.MEMORY_USED, metrics.AMD_MEMORY_USED),
        memory_peak=_either(parts, metrics.MEMORY_PEAK, metrics.AMD_MEMORY_PEAK),
        memory_total=_total(parts),
    )


def _either(parts: _Parts, nvidia: Question, amd: Question) -> Line:
    return parts.memory(nvidia if nvidia in parts.series else amd)


def _total(parts: _Parts) -> Line:
    """The memory of the device: the reported total, else used + free + reserved."""
    total = _either(parts, metrics.MEMORY_TOTAL, metrics.AMD_MEMORY_TOTAL)
    if total.values:
        return total
    used, free = parts.memory(metrics.MEMORY_USED), parts.memory(metrics.MEMORY_FREE)
    reserved = parts.memory(metrics.MEMORY_RESERVED)

    others = (merging.spread(line, used.first, used.end) for line in (free, reserved))
    # A sum with NaN is NaN, except that old exporters do not report reserved memory.
    sums = (a + b + (0.0 if math.isnan(c) else c) for a, b, c in zip(used.values, *others, strict=True))
    return Line(first=used.first, values=array("d", sums))


def _product(found: Mapping[str, str]) -> str:
    """The product as GPU feature discovery writes it in node labels: `NVIDIA-H100-80GB-HBM3`."""
    name = found.get("modelName") or found.get("card_series") or found.get("card_model", "")
    return "-".join(name.split())


def _without_divided_gpus(tracks: Iterable[Track]) -> list[Track]:
    """The tracks without whole GPUs that MIG divides: their MIG devices count instead."""
    found = list(tracks)
    divided = {track.device.gpu for track in found if track.device.instance}
    return [track for track in found if track.device.instance or track.holder or track.device.gpu not in divided]
