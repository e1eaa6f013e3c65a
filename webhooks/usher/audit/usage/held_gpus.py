"""Which GPUs each pod held at each point, how many no pod held, and what the devices did.

Pods hold what kube-state-metrics says, else what the cluster says of its pods now. What neither knows, the series of
the devices say: `gpu_hours` adds that. Nodes come and go, so each node counts at the points at which it has a sample of
its capacity.

A track is what one device did while one pod held it, or while no pod did. Where the series of a node name no pod, one
pod that holds all GPUs of the node has them. Series of nodes with dynamic resource allocation had no labels of pods
until dcgm-exporter and the GPU operator could look up claims (NVIDIA/gpu-operator#2706).
"""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from usher.audit.gather import estate, gpus
from usher.audit.usage import series as usage_series
from usher.audit.usage import usage_metrics
from usher.audit.usage.usage_metrics import Readings


class Allocation(Struct, frozen=True, kw_only=True):
    """The GPUs that a pod held on a node; NaN at points where unknown."""

    pod: usage_series.PodName
    node: str
    gpus: usage_series.Line


def recorded_allocations(
    requests: usage_series.Answer, phases: usage_series.Answer, nodes: Mapping[str, estate.Node]
) -> tuple[Allocation, ...]:
    """Allocations that kube-state-metrics recorded: the requests of pods on a node until they ended."""
    alive = {
        pod: usage_series.bridged(usage_series.merged_line(series)) for pod, series in _by_pod(phases.series).items()
    }
    found = []
    for pod, series in sorted(_by_pod(requests.series).items()):
        by_node: dict[str, list[usage_series.Line]] = {}
        for (node, resource), parts in _units_by_node(series).items():
            share = float(gpus.share(usage_series.resource_of(resource), nodes.get(node)))
            if node and share:
                by_node.setdefault(node, []).append(usage_series.scaled_line(parts, share))
        living = alive.get(pod, usage_series.EMPTY_LINE)
        for node, lines in sorted(by_node.items()):
            held = _while_alive(added_lines(lines), living)
            if held.values:
                found.append(Allocation(pod=pod, node=node, gpus=held))
    return tuple(found)


def present_allocations(
    workloads: Iterable[estate.Workload], nodes: Mapping[str, estate.Node], grid: usage_series.Grid
) -> tuple[Allocation, ...]:
    """Allocations of the existing pods: from the moment when each was placed to the end of the window."""
    found = []
    for workload in workloads:
        for pod in workload.pods:
            since = pod.scheduled or pod.created
            held = held_now(pod, nodes)
            if since is None or not held:
                continue
            first = grid.first_point_after(since)
            if first < grid.points:
                values = array("d", [held]) * (grid.points - first)
                name = usage_series.PodName(pod.namespace, pod.name)
                found.append(Allocation(pod=name, node=pod.node, gpus=usage_series.Line(first=first, values=values)))
    return tuple(sorted(found, key=lambda each: (each.pod, each.node)))


def held_now(pod: estate.Pod, nodes: Mapping[str, estate.Node]) -> float:
    """The GPUs that a pod holds: whole ones, and parts by their share. 0 if it holds no GPU."""
    if not pod.holds:
        return 0.0
    return float(gpus.exact_number(pod.devices, nodes.get(pod.node)))


def joined_allocations(
    first: Iterable[Allocation], second: Iterable[Allocation]
) -> dict[tuple[usage_series.PodName, str], usage_series.Line]:
    """The allocations by pod and node; the second list fills the points that the first does not know."""
    lines: dict[tuple[usage_series.PodName, str], list[usage_series.Line]] = {}
    for each in (*first, *second):
        lines.setdefault((each.pod, each.node), []).append(each.gpus)
    return {
        key: usage_series.merged_line(
            usage_series.Series(labels={}, first=line.first, values=line.values) for line in found
        )
        for key, found in lines.items()
    }


def _by_pod(series: Iterable[usage_series.Series]) -> dict[usage_series.PodName, list[usage_series.Series]]:
    found: dict[usage_series.PodName, list[usage_series.Series]] = {}
    for each in series:
        pod = usage_series.pod_of(each.labels)
        if pod is not None:
            found.setdefault(pod, []).append(each)
    return found


def _units_by_node(series: Iterable[usage_series.Series]) -> dict[tuple[str, str], usage_series.Line]:
    """The units of each resource on each node, for all containers of a pod together."""
    containers: dict[tuple[str, str], dict[str, list[usage_series.Series]]] = {}
    for each in series:
        key = usage_series.label_value(each.labels, "node"), each.labels.get("resource", "")
        # Several instances of kube-state-metrics may report one container, which counts once.
        container = usage_series.label_value(each.labels, "container")
        containers.setdefault(key, {}).setdefault(container, []).append(each)
    return {
        key: added_lines(
            [usage_series.bridged(usage_series.merged_line(found, usable=is_amount)) for found in by_container.values()]
        )
        for key, by_container in containers.items()
    }


def is_amount(value: float) -> bool:
    """Whether a sample can be a number of devices."""
    return 0 <= value <= 2**16


def added_lines(lines: Iterable[usage_series.Line]) -> usage_series.Line:
    """The sum at each point over the lines that have a value there."""
    parts = [line for line in lines if line.values]
    if len(parts) < 2:
        return parts[0] if parts else usage_series.EMPTY_LINE
    first, end = min(line.first for line in parts), max(line.end for line in parts)
    values = array("d", [math.nan]) * (end - first)
    for line in parts:
        for place, value in enumerate(line.values, start=line.first - first):
            if not math.isnan(value):
                values[place] = value if math.isnan(values[place]) else values[place] + value
    return usage_series.Line(first=first, values=values)


def _while_alive(held: usage_series.Line, alive: usage_series.Line) -> usage_series.Line:
    values = [
        math.nan if math.isnan(alive.at(point)) else held.values[point - held.first]
        for point in range(held.first, held.end)
    ]
    return usage_series.merged_line([usage_series.Series(labels={}, first=held.first, values=values)])


class NodeHours(Struct, frozen=True, kw_only=True):
    """The GPU-hours of one node."""

    free: float
    out_of_use: float
    known: float
    """Hours of the window with a known capacity."""


def hours_of_nodes(
    readings: Readings,
    held: Mapping[tuple[usage_series.PodName, str], usage_series.Line],
    nodes: Mapping[str, estate.Node],
    grid: usage_series.Grid,
) -> dict[str, NodeHours] | None:
    """The GPU-hours by node; None if no series shows the capacity of nodes.

    Args:
        readings: the answers, including those about nodes.
        held: the GPUs that pods held, by pod and node.
        nodes: the current nodes, which define the meaning of a resource.
    """
    found = _gpus_by_node(readings.of(usage_metrics.NODE_CAPACITY), nodes)
    capacity = {node: line for node, line in found.items() if any(value > 0 for value in line.values)}
    if not capacity:
        return None
    allocatable = _gpus_by_node(readings.of(usage_metrics.NODE_ALLOCATABLE), nodes)
    resting = [_flags(readings.of(each)) for each in (usage_metrics.NODE_CORDONED, usage_metrics.NODE_NOT_READY)]
    pods: dict[str, list[usage_series.Line]] = {}
    for (_, node), line in held.items():
        pods.setdefault(node, []).append(line)
    return {
        name: _hours_of_node(
            line,
            allocatable.get(name, usage_series.EMPTY_LINE),
            [flags[name] for flags in resting if name in flags],
            pods.get(name, ()),
            grid,
        )
        for name, line in sorted(capacity.items())
    }


def _hours_of_node(
    capacity: usage_series.Line,
    allocatable: usage_series.Line,
    resting: Sequence[usage_series.Line],
    pods: Iterable[usage_series.Line],
    grid: usage_series.Grid,
) -> NodeHours:
    first, end = capacity.first, capacity.end
    held = array("d", [0.0]) * (end - first)
    for pod in pods:
        for place, value in enumerate(usage_series.spread_values(pod, first, end)):
            # A comparison with NaN is false.
            if value > 0:
                held[place] += value
    free = out = 0.0
    for point, (there, in_use) in enumerate(zip(capacity.values, held, strict=True), start=first):
        if math.isnan(there):
            continue
        left = max(0.0, there - in_use)
        offered = allocatable.at(point)
        lost = max(0.0, there - offered) if offered >= 0 else 0.0
        gone = left if any(line.at(point) > 0 for line in resting) else min(lost, left)
        out += gone * grid.hours
        free += (left - gone) * grid.hours
    known = sum(not math.isnan(value) for value in capacity.values)
    return NodeHours(free=free, out_of_use=out, known=known * grid.hours)


def _gpus_by_node(answer: usage_series.Answer, nodes: Mapping[str, estate.Node]) -> dict[str, usage_series.Line]:
    """The GPUs of each node: whole ones, and parts by their share."""
    found: dict[tuple[str, str], list[usage_series.Series]] = {}
    for each in answer.series:
        key = usage_series.label_value(each.labels, "node"), each.labels.get("resource", "")
        found.setdefault(key, []).append(each)
    lines: dict[str, list[usage_series.Line]] = {}
    for (node, resource), series in found.items():
        share = float(gpus.share(usage_series.resource_of(resource), nodes.get(node)))
        line = usage_series.bridged(usage_series.merged_line(series, usable=is_amount))
        if node and share and line.values:
            lines.setdefault(node, []).append(usage_series.scaled_line(line, share))
    return {node: added_lines(parts) for node, parts in lines.items()}


def _flags(answer: usage_series.Answer) -> dict[str, usage_series.Line]:
    found: dict[str, list[usage_series.Series]] = {}
    for each in answer.series:
        found.setdefault(usage_series.label_value(each.labels, "node"), []).append(each)
    return {node: usage_series.bridged(usage_series.merged_line(series)) for node, series in found.items()}


_HIGHEST_SHARE: Final = 1.01
"""Times the unit. A little more than 1 is rounding. DCGM writes very large numbers for values that it cannot read."""

_MOST_MEBIBYTES: Final = 2**24


class Track(Struct, frozen=True, kw_only=True):
    """A device while one pod held it; `holder` is None while no pod did."""

    device: usage_series.Device
    holder: usage_series.PodName | None
    node: str
    """Empty if no label names a known node."""
    product: str
    """From the labels of its series; empty if they do not have it."""
    profile: str
    """The MIG profile; empty for whole GPUs."""
    activity: usage_series.Line
    """From 0 to 1."""
    by_kernels: bool = False
    """Whether the activity comes from DCGM_FI_DEV_GPU_UTIL: the time in which any kernel ran."""
    memory_used: usage_series.Line = usage_series.EMPTY_LINE
    """In MiB, like the next one."""
    memory_total: usage_series.Line = usage_series.EMPTY_LINE
    memory_peak: usage_series.Line = usage_series.EMPTY_LINE

    @property
    def first(self) -> int:
        return min((line.first for line in (self.activity, self.memory_used) if line.values), default=0)

    @property
    def end(self) -> int:
        """The point after the last one that has a sample."""
        return max(self.activity.end, self.memory_used.end)


TrackKey = tuple[usage_series.Device, usage_series.PodName | None]


class _Parts(Struct):
    """The series of one device and holder, by metric."""

    labels: Mapping[str, str]
    series: dict[usage_series.Question, list[usage_series.Series]] = field(default_factory=dict)

    def line(self, question: usage_series.Question, most: float) -> usage_series.Line:
        """The values from 0 to `most`. An exporter writes other values if it could not read the device."""

        def usable(value: float) -> bool:
            return 0 <= value <= most

        return usage_series.bridged(usage_series.merged_line(self.series.get(question, ()), usable=usable))

    def share(self, question: usage_series.Question, unit: float) -> usage_series.Line:
        """Values from 0 to `unit` as shares from 0 to 1."""
        found = self.line(question, unit * _HIGHEST_SHARE)
        return usage_series.mapped_line(found, lambda value: min(value / unit, 1.0))

    def memory(self, question: usage_series.Question) -> usage_series.Line:
        return self.line(question, _MOST_MEBIBYTES)


def read_tracks(
    answers: Mapping[usage_series.Question, usage_series.Answer], nodes: usage_series.KnownNodes
) -> tuple[Track, ...]:
    """The tracks in the series of all exporters, in the order of their devices and holders."""
    parts: dict[TrackKey, _Parts] = {}
    everything = [each for answer in answers.values() for each in answer.series]
    renamed = usage_series.renamed_labels(everything)
    for question, answer in answers.items():
        for each in answer.series:
            key = usage_series.device_of(each.labels, nodes), usage_series.holder_of(each.labels, renamed)
            found = parts.setdefault(key, _Parts(labels=each.labels))
            found.series.setdefault(question, []).append(each)
    with_engine = {device for (device, _), each in parts.items() if usage_metrics.ENGINE_ACTIVE in each.series}
    tracks = [
        _track(key, each, nodes, has_engine=key[0] in with_engine)
        for key, each in sorted(parts.items(), key=lambda item: (item[0][0], item[0][1] or ("", "")))
    ]
    return tuple(_without_divided_gpus(track for track in tracks if track.end))


def _track(key: TrackKey, parts: _Parts, nodes: usage_series.KnownNodes, *, has_engine: bool) -> Track:
    device, holder = key
    profile = parts.labels.get("GPU_I_PROFILE", "")
    activity = parts.share(usage_metrics.ENGINE_ACTIVE, 1)
    by_kernels = False
    if not has_engine and not device.instance:
        # The GPU_UTIL of a MIG device is always 0.
        activity = parts.share(usage_metrics.GPU_UTIL, 100)
        by_kernels = bool(activity.values)
    if not activity.values:
        activity = parts.share(usage_metrics.AMD_ACTIVE, 100)
    return Track(
        device=device,
        holder=holder,
        node=usage_series.node_of(parts.labels, nodes),
        product=_product(parts.labels),
        profile=profile,
        activity=activity,
        by_kernels=by_kernels,
        memory_used=_either(parts, usage_metrics.MEMORY_USED, usage_metrics.AMD_MEMORY_USED),
        memory_peak=_either(parts, usage_metrics.MEMORY_PEAK, usage_metrics.AMD_MEMORY_PEAK),
        memory_total=_total(parts),
    )


def _either(parts: _Parts, nvidia: usage_series.Question, amd: usage_series.Question) -> usage_series.Line:
    return parts.memory(nvidia if nvidia in parts.series else amd)


def _total(parts: _Parts) -> usage_series.Line:
    """The memory of the device: the reported total, else used + free + reserved."""
    total = _either(parts, usage_metrics.MEMORY_TOTAL, usage_metrics.AMD_MEMORY_TOTAL)
    if total.values:
        return total
    used, free = parts.memory(usage_metrics.MEMORY_USED), parts.memory(usage_metrics.MEMORY_FREE)
    reserved = parts.memory(usage_metrics.MEMORY_RESERVED)

    others = (usage_series.spread_values(line, used.first, used.end) for line in (free, reserved))
    # A sum with NaN is NaN, except that old exporters do not report reserved memory.
    sums = (a + b + (0.0 if math.isnan(c) else c) for a, b, c in zip(used.values, *others, strict=True))
    return usage_series.Line(first=used.first, values=array("d", sums))


def _product(found: Mapping[str, str]) -> str:
    """The product as GPU feature discovery writes it in node labels: `NVIDIA-H100-80GB-HBM3`."""
    name = found.get("modelName") or found.get("card_series") or found.get("card_model", "")
    return "-".join(name.split())


def _without_divided_gpus(tracks: Iterable[Track]) -> list[Track]:
    """The tracks without whole GPUs that MIG divides: their MIG devices count instead."""
    found = list(tracks)
    divided = {track.device.gpu for track in found if track.device.instance}
    return [track for track in found if track.device.instance or track.holder or track.device.gpu not in divided]


class JoinedTracks(Struct, frozen=True, kw_only=True):
    tracks: tuple[Track, ...]
    by_node: tuple[str, ...] = ()
    """The nodes whose series went to the one pod that holds all their GPUs."""
    not_attributed: tuple[str, ...] = ()
    """The nodes where pods hold GPUs but no series names a pod."""


def join_pods(
    tracks: Sequence[Track], found: estate.Estate, nodes: Mapping[str, estate.Node], grid: usage_series.Grid
) -> JoinedTracks:
    """The tracks with their pods, also for the nodes whose series name no pod."""
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
        # The series that name pods of another part of the cluster were not read.
        there = devices if found.scope.is_whole else max(devices, gpus.capacity_of(nodes[node]))
        if len(holding) == 1 and devices and held_now(holding[0], nodes) >= there:
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
            if held_now(pod, nodes):
                found.setdefault(pod.node, []).append(pod)
    return found


def _track_parts(track: Track, pod: estate.Pod | None, grid: usage_series.Grid) -> Iterable[Track]:
    """Splits a track into the time before the pod came and the time since then."""
    since = None if pod is None else pod.scheduled or pod.created
    if pod is None or since is None:
        return [track]
    point = grid.first_point_after(since)
    parts = (
        _cut_track(track, 0, point),
        replace(_cut_track(track, point, grid.points), holder=usage_series.PodName(pod.namespace, pod.name)),
    )
    return [part for part in parts if part.activity.values or part.memory_used.values]


def _cut_track(track: Track, start: int, end: int) -> Track:
    return replace(
        track,
        activity=usage_series.cut_line(track.activity, start, end),
        memory_used=usage_series.cut_line(track.memory_used, start, end),
        memory_total=usage_series.cut_line(track.memory_total, start, end),
        memory_peak=usage_series.cut_line(track.memory_peak, start, end),
    )
