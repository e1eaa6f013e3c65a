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

    def of(self, board: Board, resource: str) -> tuple[Offer, ...]:
        """Those of a resource on the nodes with that board, by the name of the node."""
        return tuple(each for each in self.all if each.resource == resource and board_of(each.node) is board)

    def elsewhere(self, board: Board, resource: str) -> tuple[Offer, ...]:
        """Those of a resource on nodes with other boards."""
        return tuple(each for each in self.all if each.resource == resource and board_of(each.node) is not board)


def of_estate(nodes: Iterable[estate.Node], workloads: Iterable[estate.Workload]) -> Offers:
    """What the nodes offer and their pods leave."""
    held: dict[str, Counter[str]] = {}
    for workload in workloads:
        for pod in workload.pods:
            if pod.holds:
                numbers = {name: int(amount.number) for name, amount in pod.devices.items()}
                held.setdefault(pod.node, Counter()).update(numbers)
    found = [
        offer
        for node in nodes
        if node.ready and not node.cordoned and node.shared_by == 1
        for offer in _of_node(node, held.get(node.name, {}))
    ]
    return Offers(all=tuple(sorted(found, key=lambda each: (each.resource, each.node.name))))


def _of_node(node: estate.Node, held: Mapping[str, int]) -> Iterable[Offer]:
    for resource, amount in node.allocatable.items():
        asked_as = WHOLE if resource == node.partition else resource
        number = int(amount.number)
        if number > 0:
            yield Offer(node=node, resource=resource, devices=number, free=max(0, number - held.get(asked_as, 0)))


def board_of(node: estate.Node) -> Board | None:
    """The board of a node; None where it is unknown, or one that MIG does not divide."""
    known = boards.by_product(node.product)
    return known.board if known is not None else None
