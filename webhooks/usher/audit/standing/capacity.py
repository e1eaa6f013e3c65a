"""The accelerators of a cluster by resource, and whether it may get more."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Final

from usher.accelerators import vocabulary
from usher.audit import fields
from usher.audit.estate import Node
from usher.audit.standing.situation import Situation
from usher.cluster.facts import node_pools

_SCALED: Final = (*node_pools.KARPENTER, "node.cluster-x-k8s.io/autoscaled")

_GPU: Final = "nvidia.com/gpu"
"""The name of MIG devices on nodes with the strategy `single`."""

_SHARED: Final = "nvidia.com/gpu.shared"
"""The device plugin's name for replicas if it renames them."""

Number = int | Decimal


def of(nodes: Iterable[Node]) -> Mapping[str, Number]:
    """The accelerators of nodes by each resource that pods may request, healthy or not; each share of a
    device counts.
    """
    found: dict[str, Number] = {}
    for node in nodes:
        for name, amount in node.capacity.items():
            for resource in _asked_by(name, node):
                found[resource] = found.get(resource, 0) + amount.number * node.shared_by
    return found


def _asked_by(name: str, node: Node) -> Iterator[str]:
    """The resources by which pods may request the devices of a node. An estate has one name for them."""
    resource = _GPU if name == node.partition else name
    yield resource
    if resource == _GPU and node.shared_by > 1:
        yield _SHARED
    # A DeviceClass may stand for an extended resource.
    of_class = vocabulary.meaning_of_class(name).resource
    if of_class:
        yield of_class


def grows(resource: str, situation: Situation) -> bool:
    """Whether an autoscaler may add nodes with a resource. Then a number above the present capacity proves nothing."""
    if any(pool.scales and resource in pool.resources for pool in situation.config.pools):
        return True
    if situation.autoscaler:
        return True
    nodes = situation.estate.nodes or ()
    return any(resource in of([node]) and any(key in node.labels for key in _SCALED) for node in nodes)


def pool(node: Node) -> str:
    """The displayed pool of a node: the name that its service gives, or its board, or its accelerators."""
    managed = node_pools.managed_pool_label(node.labels)
    if managed is not None:
        return f"pool {managed[1]}"
    return f"board {node.product}" if node.product else f"an unknown board with {fields.listing(sorted(node.capacity))}"
