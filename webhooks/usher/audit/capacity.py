"""Where the accelerators of each node are now: held by pods, free, or out of use."""

from collections import defaultdict

from usher.audit import gpus
from usher.audit.estate import Estate, Node
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The GPUs of one node, or its accelerators of one other resource."""

    node: Node
    capacity: float
    usable: float
    """Allocatable; 0 on a node that is cordoned or not ready."""
    free: float
    """Usable and not held."""
    out_of_use: float
    """Neither held nor free: pods cannot get them."""


def has_gpus(estate: Estate) -> bool:
    """Whether a node has GPUs; true where the nodes are not known."""
    return estate.nodes is None or any(gpus.capacity(node) for node in estate.nodes)


def splits(estate: Estate) -> tuple[Split, ...] | None:
    """The GPUs of all nodes; None where the nodes are not known."""
    if estate.nodes is None:
        return None
    held = defaultdict[str, float](float)
    nodes = {node.name: node for node in estate.nodes}
    for workload in estate.workloads:
        for pod in workload.pods:
            if pod.node in nodes:
                held[pod.node] += gpus.held([pod], nodes[pod.node])
    return tuple(
        split(node, capacity=gpus.capacity(node), allocatable=gpus.allocatable(node), held=held[node.name])
        for node in estate.nodes
    )


def split(node: Node, *, capacity: float, allocatable: float, held: float) -> Split:
    """Where accelerators of a node are, by what it has, what it offers, and what pods hold there."""
    usable = allocatable if node.ready and not node.cordoned else 0.0
    free = max(0.0, usable - held)
    return Split(node=node, capacity=capacity, usable=usable, free=free, out_of_use=max(0.0, capacity - held - free))
