"""Devices that nodes give to new pods: whole GPUs and MIG devices, with those that are free now.

Nodes that are cordoned or not ready give nothing. Nodes that share their devices (time slices, MPS) or give them by DRA
alone are left out: a pod there does not get the memory of a MIG profile, or does not ask for it by a resource.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from usher.accelerators import boards
from usher.accelerators.profiles import Board
from usher.audit import estate
from usher.dataclass import dataclass

WHOLE: Final = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The devices of one resource on one node."""

    node: estate.Node
    resource: str
    """MIG devices by the name of their profile, also where pods ask for them as whole GPUs (strategy `single`)."""
    devices: int
    free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    all: tuple[Offer, ...]
    free_known: bool = True
    """Whether all pods were read, so that `free` is what they leave."""

    def of(self, board: Board, resource: str) -> tuple[Offer, ...]:
        """Those of a resource on the nodes with that board, by the name of the node."""
        return tuple(each for each in self.all if each.resource == resource and board_of(each.node) is board)

    def elsewhere(self, board: Board, resource: str) -> tuple[Offer, ...]:
        """Those of a resource on nodes with other boards."""
        return tuple(each for each in self.all if each.resource == resource and board_of(each.node) is not board)


def of_estate(found: estate.Estate) -> Offers:
    """What the nodes offer and their pods leave. Where pods of others were not read, nothing counts as free."""
    known = found.scope.is_whole and found.pods_known
    held: dict[str, Counter[str]] = {}
    for workload in found.workloads:
        for pod in workload.pods:
            if pod.holds:
                numbers = {name: int(amount.number) for name, amount in pod.devices.items()}
                held.setdefault(pod.node, Counter()).update(numbers)
    offered = [
        offer
        for node in found.nodes or ()
        if node.ready and not node.cordoned and node.shared_by == 1
        for offer in _of_node(node, held.get(node.name, {}) if known else None)
    ]
    ordered = sorted(offered, key=lambda each: (each.resource, each.node.name))
    return Offers(all=tuple(ordered), free_known=known)


def _of_node(node: estate.Node, held: Mapping[str, int] | None) -> Iterable[Offer]:
    """Those of a node; `held` is None where it is not known."""
    for resource, amount in node.allocatable.items():
        asked_as = WHOLE if resource == node.partition else resource
        number = int(amount.number)
        if number > 0:
            free = 0 if held is None else max(0, number - held.get(asked_as, 0))
            yield Offer(node=node, resource=resource, devices=number, free=free)


def board_of(node: estate.Node) -> Board | None:
    """The board of a node; None where it is unknown, or one that MIG does not divide."""
    known = boards.by_product(node.product)
    return known.board if known is not None else None
