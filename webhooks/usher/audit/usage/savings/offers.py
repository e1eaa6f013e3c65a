"""Devices that nodes offer to new pods: whole GPUs and MIG devices, with the number that is free now.

Nodes that are cordoned or not ready offer nothing. Nodes that share their devices (time slices, MPS) or serve them only
by DRA are left out: their pods do not get the memory of a MIG profile, or request it without a resource.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from usher.accelerators import boards
from usher.accelerators.mig import Board
from usher.audit import estate
from usher.dataclass import dataclass

WHOLE: Final = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The devices of one resource on one node."""

    node: estate.Node
    resource: str
    """The resource; a MIG device has the name of its profile even if pods request it as a whole GPU (strategy
    `single`).
    """
    devices: int
    free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    all: tuple[Offer, ...]
    free_known: bool = True
    """Whether usher read all pods, so that `free` is reliable."""

    def of(self, board: Board, resource: str) -> tuple[Offer, ...]:
        """The offers of a resource on nodes with this board, by the name of the node."""
        return tuple(each for each in self.all if each.resource == resource and board_of(each.node) is board)

    def elsewhere(self, board: Board, resource: str) -> tuple[Offer, ...]:
        """The offers of a resource on nodes with other boards."""
        return tuple(each for each in self.all if each.resource == resource and board_of(each.node) is not board)


def of_estate(found: estate.Estate) -> Offers:
    """The offers of the nodes. If the pods of others were not read, no device counts as free."""
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
    """The offers of one node; `held` is None if unknown."""
    for resource, amount in node.allocatable.items():
        asked_as = WHOLE if resource == node.partition else resource
        number = int(amount.number)
        if number > 0:
            free = 0 if held is None else max(0, number - held.get(asked_as, 0))
            yield Offer(node=node, resource=resource, devices=number, free=free)


def board_of(node: estate.Node) -> Board | None:
    """The board of a node; None if it is unknown, or if MIG cannot divide it."""
    known = boards.by_product(node.product)
    return known.board if known is not None else None
