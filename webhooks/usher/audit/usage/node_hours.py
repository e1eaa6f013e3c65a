"""GPU-hours of the window that no pod held, free or out of use, from the node series of kube-state-metrics.

Nodes come and go, so each node counts only at points with a sample of its capacity.
"""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence

from usher.audit import estate, gpus
from usher.audit.usage import allocations, labels, merging, metrics, resource_names
from usher.audit.usage.labels import PodName
from usher.audit.usage.merging import EMPTY, Line
from usher.audit.usage.reading import Readings
from usher.audit.usage.series import Answer, Grid, Series
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHours:
    """The GPU-hours of one node."""

    free: float
    out_of_use: float
    known: float
    """Hours of the window with a known capacity."""


def of_nodes(
    readings: Readings, held: Mapping[tuple[PodName, str], Line], nodes: Mapping[str, estate.Node], grid: Grid
) -> dict[str, NodeHours] | None:
    """The GPU-hours by node; None if no series shows the capacity of nodes.

    Args:
        readings: the answers, including those about nodes.
        held: the GPUs that pods held, by pod and node.
        nodes: the current nodes, which define the meaning of a resource.
        grid: the steps of the window.
    """
    found = _by_node(readings.of(metrics.NODE_CAPACITY), nodes)
    capacity = {node: line for node, line in found.items() if any(value > 0 for value in line.values)}
    if not capacity:
        return None
    allocatable = _by_node(readings.of(metrics.NODE_ALLOCATABLE), nodes)
    resting = [_flags(readings.of(each)) for each in (metrics.NODE_CORDONED, metrics.NODE_NOT_READY)]
    pods: dict[str, list[Line]] = {}
    for (_, node), line in held.items():
        pods.setdefault(node, []).append(line)
    return {
        name: _hours(
            line,
            allocatable.get(name, EMPTY),
            [flags[name] for flags in resting if name in flags],
            pods.get(name, ()),
            grid,
        )
        for name, line in sorted(capacity.items())
    }


def _hours(capacity: Line, allocatable: Line, resting: Sequence[Line], pods: Iterable[Line], grid: Grid) -> NodeHours:
    first, end = capacity.first, capacity.end
    held = array("d", [0.0]) * (end - first)
    for pod in pods:
        for place, value in enumerate(merging.spread(pod, first, end)):
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


def _by_node(answer: Answer, nodes: Mapping[str, estate.Node]) -> dict[str, Line]:
    """The GPUs of each node: whole ones, and parts by their share."""
    found: dict[tuple[str, str], list[Series]] = {}
    for each in answer.series:
        key = labels.value(each.labels, "node"), each.labels.get("resource", "")
        found.setdefault(key, []).append(each)
    lines: dict[str, list[Line]] = {}
    for (node, resource), series in found.items():
        share = float(gpus.share(resource_names.resource(resource), nodes.get(node)))
        line = merging.bridge(merging.merge(series, usable=allocations.is_amount))
        if node and share and line.values:
            lines.setdefault(node, []).append(merging.scaled(line, share))
    return {node: allocations.added(parts) for node, parts in lines.items()}


def _flags(answer: Answer) -> dict[str, Line]:
    found: dict[str, list[Series]] = {}
    for each in answer.series:
        found.setdefault(labels.value(each.labels, "node"), []).append(each)
    return {node: merging.bridge(merging.merge(series)) for node, series in found.items()}
