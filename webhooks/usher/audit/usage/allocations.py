"""The number of GPUs that each pod held at each point: from kube-state-metrics, else from the current pods of the
cluster.

`accounting` fills the rest from the series of the devices.
"""

import math
from array import array
from collections.abc import Iterable, Mapping

from usher.audit import estate, gpus
from usher.audit.usage import labels, merging, resource_names
from usher.audit.usage.labels import PodName
from usher.audit.usage.merging import Line
from usher.audit.usage.series import Answer, Grid, Series
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The GPUs that a pod held on a node; NaN at points where unknown."""

    pod: PodName
    node: str
    gpus: Line


def recorded(requests: Answer, phases: Answer, nodes: Mapping[str, estate.Node]) -> tuple[Allocation, ...]:
    """Allocations that kube-state-metrics recorded: the requests of pods on a node until they ended."""
    alive = {pod: merging.bridge(merging.merge(series)) for pod, series in _by_pod(phases.series).items()}
    found = []
    for pod, series in sorted(_by_pod(requests.series).items()):
        by_node: dict[str, list[Line]] = {}
        for (node, resource), parts in _by_node(series).items():
            share = float(gpus.share(resource_names.resource(resource), nodes.get(node)))
            if node and share:
                by_node.setdefault(node, []).append(merging.scaled(parts, share))
        living = alive.get(pod, merging.EMPTY)
        for node, lines in sorted(by_node.items()):
            held = _while_alive(added(lines), living)
            if held.values:
                found.append(Allocation(pod=pod, node=node, gpus=held))
    return tuple(found)


def present(
    workloads: Iterable[estate.Workload], nodes: Mapping[str, estate.Node], grid: Grid
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
                name = PodName(pod.namespace, pod.name)
                found.append(Allocation(pod=name, node=pod.node, gpus=Line(first=first, values=values)))
    return tuple(sorted(found, key=lambda each: (each.pod, each.node)))


def held_now(pod: estate.Pod, nodes: Mapping[str, estate.Node]) -> float:
    """The GPUs that a pod holds: whole ones, and parts by their share. 0 if it holds no GPU."""
    if not pod.holds:
        return 0.0
    node = nodes.get(pod.node)
    return sum(float(gpus.share(name, node)) * float(amount.number) for name, amount in pod.devices.items())


def together(first: Iterable[Allocation], second: Iterable[Allocation]) -> dict[tuple[PodName, str], Line]:
    """The allocations by pod and node; the second list fills the points that the first does not know."""
    lines: dict[tuple[PodName, str], list[Line]] = {}
    for each in (*first, *second):
        lines.setdefault((each.pod, each.node), []).append(each.gpus)
    return {
        key: merging.merge(Series(labels={}, first=line.first, values=line.values) for line in found)
        for key, found in lines.items()
    }


def _by_pod(series: Iterable[Series]) -> dict[PodName, list[Series]]:
    found: dict[PodName, list[Series]] = {}
    for each in series:
        pod = labels.pod(each.labels)
        if pod is not None:
            found.setdefault(pod, []).append(each)
    return found


def _by_node(series: Iterable[Series]) -> dict[tuple[str, str], Line]:
    """The units of each resource on each node, for all containers of a pod together."""
    containers: dict[tuple[str, str], dict[str, list[Series]]] = {}
    for each in series:
        key = labels.value(each.labels, "node"), each.labels.get("resource", "")
        # Several instances of kube-state-metrics may report one container, which counts once.
        container = labels.value(each.labels, "container")
        containers.setdefault(key, {}).setdefault(container, []).append(each)
    return {
        key: added([merging.bridge(merging.merge(found, usable=is_amount)) for found in by_container.values()])
        for key, by_container in containers.items()
    }


def is_amount(value: float) -> bool:
    """Whether a sample can be a number of devices."""
    return 0 <= value <= 2**16


def added(lines: Iterable[Line]) -> Line:
    """The sum at each point over the lines that have a value there."""
    parts = [line for line in lines if line.values]
    if len(parts) < 2:
        return parts[0] if parts else merging.EMPTY
    first, end = min(line.first for line in parts), max(line.end for line in parts)
    values = array("d", [math.nan]) * (end - first)
    for line in parts:
        for place, value in enumerate(line.values, start=line.first - first):
            if not math.isnan(value):
                values[place] = value if math.isnan(values[place]) else values[place] + value
    return Line(first=first, values=values)


def _while_alive(held: Line, alive: Line) -> Line:
    values = [
        math.nan if math.isnan(alive.at(point)) else held.values[point - held.first]
        for point in range(held.first, held.end)
    ]
    return merging.merge([Series(labels={}, first=held.first, values=values)])
