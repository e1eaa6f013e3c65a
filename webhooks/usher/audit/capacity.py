"""How the accelerators of each node are used now: held by pods, free, or out of use."""

from collections import defaultdict

from usher.audit import gpus
from usher.audit.estate import Estate, Node
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The GPUs of one node, or its accelerators of another resource."""

    node: Node
    capacity: float
    usable: float
    """Allocatable; 0 on a node that is cordoned or not ready."""
    free: float
    """Usable and not held by a pod."""
    out_of_use: float
    """Pods cannot get them: not held, on a node that is cordoned or not ready, or not allocatable."""


def has_gpus(estate: Estate) -> bool:
    """Whether a node has GPUs; true if the nodes are unknown."""
    return estate.nodes is None or any(gpus.capacity(node) for node in estate.nodes)


def splits(estate: Estate) -> tuple[Split, ...] | None:
    """The GPUs of all nodes, split by use; None if the nodes are unknown."""
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
    """The split of a node's accelerators, from its capacity, its allocatable number and the number that pods hold."""
    usable = allocatable if node.ready and not node.cordoned else 0.0
    free = max(0.0, usable - held)
    return Split(node=node, capacity=capacity, usable=usable, free=free, out_of_use=max(0.0, capacity - held - free))
