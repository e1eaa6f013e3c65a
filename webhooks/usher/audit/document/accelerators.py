"""Accelerators that are no GPUs: TPUs, Gaudi and Neuron devices, NPUs, shares that are counted by their own name."""

from usher.audit.document.part import Part


class AcceleratorEntry(Part):
    """Those of one resource, in units of the resource. Null is not known.

    Each resource counts by itself: a node may offer the same devices by two of them, as Neuron devices and their cores.
    """

    resource: str
    nodes: int | None = None
    """Nodes that have some. Null, as all numbers of nodes here, where nodes are not known, or where no node reports the
    resource although schedulers may give shares of it."""
    capacity: float | None = None
    usable: float | None = None
    """Allocatable on nodes that are ready and not cordoned."""
    allocated: float | None = None
    """Held by pods on nodes; null where pods are not known, as `waiting`."""
    free: float | None = None
    """Usable and not allocated."""
    out_of_use: float | None = None
    """Neither allocated nor free: on nodes that are cordoned or not ready, or not healthy."""
    waiting: float | None = None
    """Wanted by pods without a node, and by suspended workloads beyond what they hold."""
    never: float | None = 0
    """Wanted by workloads that can never run; null where it is not known which workloads wait, and for what."""
    asked: float = 0
    """The most that all workloads ask for."""
