"""Finds the pods of series without a pod label: by the node, if one pod holds all its GPUs.

Series of nodes with dynamic resource allocation had no pod labels until dcgm-exporter and the GPU operator could look
up claims (NVIDIA/gpu-operator#2706).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from usher.audit import estate, gpus
from usher.audit.usage import allocations, merging
from usher.audit.usage.devices import Track
from usher.audit.usage.labels import PodName
from usher.audit.usage.series import Grid
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    tracks: tuple[Track, ...]
    by_node: tuple[str, ...] = ()
    """The nodes whose series went to the one pod that holds all their GPUs."""
    not_attributed: tuple[str, ...] = ()
    """The nodes where pods hold GPUs but no series names a pod."""


def join(tracks: Sequence[Track], found: estate.Estate, nodes: Mapping[str, estate.Node], grid: Grid) -> Joined:
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
        there = devices if found.scope.is_whole else max(devices, gpus.capacity(nodes[node]))
        if len(holding) == 1 and devices and allocations.held_now(holding[0], nodes) >= there:
            pods[node] = holding[0]
            joined.append(node)
        else:
            left.append(node)
    result = [part for track in tracks for part in _held(track, pods.get(track.node), grid)]
    return Joined(tracks=tuple(result), by_node=tuple(joined), not_attributed=tuple(left))


def _holders(workloads: Iterable[estate.Workload], nodes: Mapping[str, estate.Node]) -> dict[str, list[estate.Pod]]:
    found: dict[str, list[estate.Pod]] = {}
    for workload in workloads:
        for pod in workload.pods:
            if allocations.held_now(pod, nodes):
                found.setdefault(pod.node, []).append(pod)
    return found


def _held(track: Track, pod: estate.Pod | None, grid: Grid) -> Iterable[Track]:
    """Splits a track into the time before the pod came and the time since then."""
    since = None if pod is None else pod.scheduled or pod.created
    if pod is None or since is None:
        return [track]
    point = grid.first_point_after(since)
    parts = (_cut(track, 0, point), replace(_cut(track, point, grid.points), holder=PodName(pod.namespace, pod.name)))
    return [part for part in parts if part.activity.values or part.memory_used.values]


def _cut(track: Track, start: int, end: int) -> Track:
    return replace(
        track,
        activity=merging.cut(track.activity, start, end),
        memory_used=merging.cut(track.memory_used, start, end),
        memory_total=merging.cut(track.memory_total, start, end),
        memory_peak=merging.cut(track.memory_peak, start, end),
    )
