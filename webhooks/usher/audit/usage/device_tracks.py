"""Series of exporters to tracks: what one device did while one pod held it, or while no pod did.

Where the series of a node name no pod, one pod that holds all GPUs of the node has them. Series of nodes with dynamic
resource allocation had no labels of pods until dcgm-exporter and the GPU operator could look up claims
(NVIDIA/gpu-operator#2706).
"""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from usher.audit.gather import estate, gpus
from usher.audit.usage import gpu_allocations, series, usage_metrics
from usher.audit.usage.series import EMPTY_LINE, Answer, Device, Grid, Line, PodName, Question, Series
from usher.dataclass import dataclass

_HIGHEST_SHARE: Final = 1.01
"""Times the unit: a little more than all of it is rounding. DCGM writes very large numbers for what it cannot read."""

_MOST_MEBIBYTES: Final = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A device while one pod held it, or `holder` is None."""

    device: Device
    holder: PodName | None
    node: str
    """Empty where no label names a node that is known."""
    product: str
    """By the labels of its series; empty where they do not say it."""
    profile: str
    """The MIG profile; empty for whole GPUs."""
    activity: Line
    """From 0 to 1."""
    by_kernels: bool = False
    """Whether the activity is that of DCGM_FI_DEV_GPU_UTIL: the time in which any kernel ran."""
    memory_used: Line = EMPTY_LINE
    """MiB, as the following."""
    memory_total: Line = EMPTY_LINE
    memory_peak: Line = EMPTY_LINE

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
        """The values from 0 to `most`; others are what an exporter writes where it could not read a device."""

        def usable(value: float) -> bool:
            return 0 <= value <= most

        return series.bridged(series.merged_line(self.series.get(question, ()), usable=usable))

    def share(self, question: Question, unit: float) -> Line:
        """Values from 0 to `unit` as shares from 0 to 1."""
        found = self.line(question, unit * _HIGHEST_SHARE)
        return series.mapped_line(found, lambda value: min(value / unit, 1.0))

    def memory(self, question: Question) -> Line:
        return self.line(question, _MOST_MEBIBYTES)


def read_tracks(answers: Mapping[Question, Answer], nodes: series.KnownNodes) -> tuple[Track, ...]:
    """The tracks in the series of all exporters, in the order of their devices and holders."""
    parts: dict[Key, _Parts] = {}
    everything = [each for answer in answers.values() for each in answer.series]
    renamed = series.renamed_labels(everything)
    for question, answer in answers.items():
        for each in answer.series:
            key = series.device_of(each.labels, nodes), series.holder_of(each.labels, renamed)
            found = parts.setdefault(key, _Parts(labels=each.labels))
            found.series.setdefault(question, []).append(each)
    with_engine = {device for (device, _), each in parts.items() if usage_metrics.ENGINE_ACTIVE in each.series}
    tracks = [
        _track(key, each, nodes, has_engine=key[0] in with_engine)
        for key, each in sorted(parts.items(), key=lambda item: (item[0][0], item[0][1] or ("", "")))
    ]
    return tuple(_without_divided_gpus(track for track in tracks if track.end))


def _track(key: Key, parts: _Parts, nodes: series.KnownNodes, *, has_engine: bool) -> Track:
    device, holder = key
    profile = parts.labels.get("GPU_I_PROFILE", "")
    activity = parts.share(usage_metrics.ENGINE_ACTIVE, 1)
    by_kernels = False
    if not has_engine and not device.instance:
        # Of a MIG device GPU_UTIL is 0 whatever it does.
        activity = parts.share(usage_metrics.GPU_UTIL, 100)
        by_kernels = bool(activity.values)
    if not activity.values:
        activity = parts.share(usage_metrics.AMD_ACTIVE, 100)
    return Track(
        device=device,
        holder=holder,
        node=series.node_of(parts.labels, nodes),
        product=_product(parts.labels),
        profile=profile,
        activity=activity,
        by_kernels=by_kernels,
        memory_used=_either(parts, usage_metrics.MEMORY_USED, usage_metrics.AMD_MEMORY_USED),
        memory_peak=_either(parts, usage_metrics.MEMORY_PEAK, usage_metrics.AMD_MEMORY_PEAK),
        memory_total=_total(parts),
    )


def _either(parts: _Parts, nvidia: Question, amd: Question) -> Line:
    return parts.memory(nvidia if nvidia in parts.series else amd)


def _total(parts: _Parts) -> Line:
    """The memory of the device: as it is reported, else used + free + reserved."""
    total = _either(parts, usage_metrics.MEMORY_TOTAL, usage_metrics.AMD_MEMORY_TOTAL)
    if total.values:
        return total
    used, free = parts.memory(usage_metrics.MEMORY_USED), parts.memory(usage_metrics.MEMORY_FREE)
    reserved = parts.memory(usage_metrics.MEMORY_RESERVED)

    others = (series.spread_values(line, used.first, used.end) for line in (free, reserved))
    # The sum with NaN is NaN, except that old exporters have no reserved memory.
    sums = (a + b + (0.0 if math.isnan(c) else c) for a, b, c in zip(used.values, *others, strict=True))
    return Line(first=used.first, values=array("d", sums))


def _product(found: Mapping[str, str]) -> str:
    """As GPU feature discovery writes it in node labels: `NVIDIA-H100-80GB-HBM3`."""
    name = found.get("modelName") or found.get("card_series") or found.get("card_model", "")
    return "-".join(name.split())


def _without_divided_gpus(tracks: Iterable[Track]) -> list[Track]:
    """Without the series of whole GPUs that MIG divides: their MIG devices count instead."""
    found = list(tracks)
    divided = {track.device.gpu for track in found if track.device.instance}
    return [track for track in found if track.device.instance or track.holder or track.device.gpu not in divided]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedTracks:
    tracks: tuple[Track, ...]
    by_node: tuple[str, ...] = ()
    """The nodes whose series were given to the one pod that holds all their GPUs."""
    not_attributed: tuple[str, ...] = ()
    """Nodes where pods hold GPUs, and no series names a pod."""


def join_pods(
    tracks: Sequence[Track], found: estate.Estate, nodes: Mapping[str, estate.Node], grid: Grid
) -> JoinedTracks:
    """The tracks, with the pods of those nodes whose series name none."""
    holders = _holders(found.workloads, nodes)
    silent = {track.node for track in tracks if track.node} - {track.node for track in tracks if track.holder}
    joined: list[str] = []
    left: list[str] = []
    pods: dict[str, estate.Pod] = {}
    for node in sorted(silent):
        holding = holders.get(node, [])
        if not holding:
            continue
        devices = len({track.device for track in tracks if track.node == node and not track.device.instance})
        # The series that name pods of another part of the cluster are not here.
        there = devices if found.scope.is_whole else max(devices, gpus.capacity_of(nodes[node]))
        if len(holding) == 1 and devices and gpu_allocations.held_now(holding[0], nodes) >= there:
            pods[node] = holding[0]
            joined.append(node)
        else:
            left.append(node)
    result = [part for track in tracks for part in _track_parts(track, pods.get(track.node), grid)]
    return JoinedTracks(tracks=tuple(result), by_node=tuple(joined), not_attributed=tuple(left))


def _holders(workloads: Iterable[estate.Workload], nodes: Mapping[str, estate.Node]) -> dict[str, list[estate.Pod]]:
    found: dict[str, list[estate.Pod]] = {}
    for workload in workloads:
        for pod in workload.pods:
            if gpu_allocations.held_now(pod, nodes):
                found.setdefault(pod.node, []).append(pod)
    return found


def _track_parts(track: Track, pod: estate.Pod | None, grid: Grid) -> Iterable[Track]:
    """The track before the pod came, and since then."""
    since = None if pod is None else pod.scheduled or pod.created
    if pod is None or since is None:
        return [track]
    point = grid.first_point_after(since)
    parts = (
        _cut_track(track, 0, point),
        replace(_cut_track(track, point, grid.points), holder=PodName(pod.namespace, pod.name)),
    )
    return [part for part in parts if part.activity.values or part.memory_used.values]


def _cut_track(track: Track, start: int, end: int) -> Track:
    return replace(
        track,
        activity=series.cut_line(track.activity, start, end),
        memory_used=series.cut_line(track.memory_used, start, end),
        memory_total=series.cut_line(track.memory_total, start, end),
        memory_peak=series.cut_line(track.memory_peak, start, end),
    )
