"""How many GPUs each pod held at each point, and how many no pod held: free, or out of use.

Pods hold what kube-state-metrics says, else what the cluster says of its pods now. What neither knows, the series of
the devices say: `gpu_hours` adds that. Nodes come and go, so each node counts at the points at which it has a sample of
its capacity.
"""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence

from usher.audit.gather import estate, gpus
from usher.audit.usage import usage_metrics
from usher.audit.usage.series import (
    EMPTY_LINE,
    Answer,
    Grid,
    Line,
    PodName,
    Series,
    bridged,
    label_value,
    merged_line,
    pod_of,
    resource_of,
    scaled_line,
    spread_values,
)
from usher.audit.usage.usage_metrics import Readings
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The GPUs that a pod held on a node; NaN where it is not known."""

    pod: PodName
    node: str
    gpus: Line


def recorded_allocations(requests: Answer, phases: Answer, nodes: Mapping[str, estate.Node]) -> tuple[Allocation, ...]:
    """What kube-state-metrics recorded: requests of pods on a node, while they had not ended."""
    alive = {pod: bridged(merged_line(series)) for pod, series in _by_pod(phases.series).items()}
    found = []
    for pod, series in sorted(_by_pod(requests.series).items()):
        by_node: dict[str, list[Line]] = {}
        for (node, resource), parts in _units_by_node(series).items():
            share = float(gpus.share(resource_of(resource), nodes.get(node)))
            if node and share:
                by_node.setdefault(node, []).append(scaled_line(parts, share))
        living = alive.get(pod, EMPTY_LINE)
        for node, lines in sorted(by_node.items()):
            held = _while_alive(added_lines(lines), living)
            if held.values:
                found.append(Allocation(pod=pod, node=node, gpus=held))
    return tuple(found)


def present_allocations(
    workloads: Iterable[estate.Workload], nodes: Mapping[str, estate.Node], grid: Grid
) -> tuple[Allocation, ...]:
    """What the pods hold that the cluster has now: from the moment when they were placed, to the end of the window."""
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
    """The GPUs that a pod holds: whole ones, and parts by their share. 0 where it holds none."""
    if not pod.holds:
        return 0.0
    node = nodes.get(pod.node)
    return sum(float(gpus.share(name, node)) * float(amount.number) for name, amount in pod.devices.items())


def joined_allocations(first: Iterable[Allocation], second: Iterable[Allocation]) -> dict[tuple[PodName, str], Line]:
    """By pod and node; the second says what the first does not know."""
    lines: dict[tuple[PodName, str], list[Line]] = {}
    for each in (*first, *second):
        lines.setdefault((each.pod, each.node), []).append(each.gpus)
    return {
        key: merged_line(Series(labels={}, first=line.first, values=line.values) for line in found)
        for key, found in lines.items()
    }


def _by_pod(series: Iterable[Series]) -> dict[PodName, list[Series]]:
    found: dict[PodName, list[Series]] = {}
    for each in series:
        pod = pod_of(each.labels)
        if pod is not None:
            found.setdefault(pod, []).append(each)
    return found


def _units_by_node(series: Iterable[Series]) -> dict[tuple[str, str], Line]:
    """The units of each resource on each node, of all containers of a pod together."""
    containers: dict[tuple[str, str], dict[str, list[Series]]] = {}
    for each in series:
        key = label_value(each.labels, "node"), each.labels.get("resource", "")
        # Several kube-state-metrics may report one container, so a container counts once.
        container = label_value(each.labels, "container")
        containers.setdefault(key, {}).setdefault(container, []).append(each)
    return {
        key: added_lines([bridged(merged_line(found, usable=is_amount)) for found in by_container.values()])
        for key, by_container in containers.items()
    }


def is_amount(value: float) -> bool:
    """Whether a sample can be a number of devices."""
    return 0 <= value <= 2**16


def added_lines(lines: Iterable[Line]) -> Line:
    """The sum at each point, of those lines that know it."""
    parts = [line for line in lines if line.values]
    if len(parts) < 2:
        return parts[0] if parts else EMPTY_LINE
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
    return merged_line([Series(labels={}, first=held.first, values=values)])


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHours:
    """Of one node."""

    free: float
    out_of_use: float
    known: float
    """Hours of the window in which its capacity is known."""


def hours_of_nodes(
    readings: Readings, held: Mapping[tuple[PodName, str], Line], nodes: Mapping[str, estate.Node], grid: Grid
) -> dict[str, NodeHours] | None:
    """By node; None where no series says what nodes have.

    Args:
        readings: with the answers about nodes.
        held: the GPUs that pods held, by pod and node.
        nodes: those of now, which say what a resource stands for.
        grid: the steps of the window.
    """
    found = _gpus_by_node(readings.of(usage_metrics.NODE_CAPACITY), nodes)
    capacity = {node: line for node, line in found.items() if any(value > 0 for value in line.values)}
    if not capacity:
        return None
    allocatable = _gpus_by_node(readings.of(usage_metrics.NODE_ALLOCATABLE), nodes)
    resting = [_flags(readings.of(each)) for each in (usage_metrics.NODE_CORDONED, usage_metrics.NODE_NOT_READY)]
    pods: dict[str, list[Line]] = {}
    for (_, node), line in held.items():
        pods.setdefault(node, []).append(line)
    return {
        name: _hours_of_node(
            line,
            allocatable.get(name, EMPTY_LINE),
            [flags[name] for flags in resting if name in flags],
            pods.get(name, ()),
            grid,
        )
        for name, line in sorted(capacity.items())
    }


def _hours_of_node(
    capacity: Line, allocatable: Line, resting: Sequence[Line], pods: Iterable[Line], grid: Grid
) -> NodeHours:
    first, end = capacity.first, capacity.end
    held = array("d", [0.0]) * (end - first)
    for pod in pods:
        for place, value in enumerate(spread_values(pod, first, end)):
            # A comparison with NaN is false.
            if value > 0:
                held[place] += value
    free = out = 0.0
    for point, (whole, taken) in enumerate(zip(capacity.values, held, strict=True), start=first):
        if math.isnan(whole):
            continue
        left = max(0.0, whole - taken)
        offered = allocatable.at(point)
        lost = max(0.0, whole - offered) if offered >= 0 else 0.0
        gone = left if any(line.at(point) > 0 for line in resting) else min(lost, left)
        out += gone * grid.hours
        free += (left - gone) * grid.hours
    known = sum(not math.isnan(value) for value in capacity.values)
    return NodeHours(free=free, out_of_use=out, known=known * grid.hours)


def _gpus_by_node(answer: Answer, nodes: Mapping[str, estate.Node]) -> dict[str, Line]:
    """The GPUs of each node: whole ones, and parts of GPUs by their share."""
    found: dict[tuple[str, str], list[Series]] = {}
    for each in answer.series:
        key = label_value(each.labels, "node"), each.labels.get("resource", "")
        found.setdefault(key, []).append(each)
    lines: dict[str, list[Line]] = {}
    for (node, resource), series in found.items():
        share = float(gpus.share(resource_of(resource), nodes.get(node)))
        line = bridged(merged_line(series, usable=is_amount))
        if node and share and line.values:
            lines.setdefault(node, []).append(scaled_line(line, share))
    return {node: added_lines(parts) for node, parts in lines.items()}


def _flags(answer: Answer) -> dict[str, Line]:
    found: dict[str, list[Series]] = {}
    for each in answer.series:
        found.setdefault(label_value(each.labels, "node"), []).append(each)
    return {node: bridged(merged_line(series)) for node, series in found.items()}
