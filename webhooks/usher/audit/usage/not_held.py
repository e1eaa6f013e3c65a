"""What GPUs cost that no pod holds: those of now for an hour, and those of the window where series of nodes say it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from usher.audit.gather import gpus
from usher.audit.gather.gpus import NodeSplit, NodeType
from usher.audit.usage import amounts
from usher.audit.usage.ledger import Entry
from usher.audit.usage.node_hours import NodeHours
from usher.dataclass import dataclass

Price = Callable[[NodeType], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What no pod holds of one node: GPUs of now, or GPU-hours of the window."""

    node_type: NodeType
    price: float | None
    """Of a GPU for an hour."""
    free: float
    out_of_use: float
    capacity: float = 0.0
    """GPUs of now; 0 for the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rests:
    """The rests of all nodes; None where nodes are not known, or where their hours were not measured."""

    now: tuple[Rest, ...] | None = None
    window: tuple[Rest, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHeld:
    """GPUs that are free or out of use; None where that is not known, not measured, or not priced."""

    gpus_not_priced: float | None = None
    """Of all GPUs of the nodes of now."""
    free_per_hour: float | None = None
    """Money."""
    out_of_use_per_hour: float | None = None
    free: float | None = None
    """GPU-hours of the window."""
    out_of_use: float | None = None
    cost_free: float | None = None
    """Of those hours that have a price."""
    cost_out_of_use: float | None = None


def rests(
    splits: Sequence[NodeSplit] | None, hours: Mapping[str, NodeHours] | None, entries: Iterable[Entry], *, price: Price
) -> Rests:
    """The rests by node.

    Args:
        splits: the GPUs of the nodes of now; None where these are not known.
        hours: of the window, by node; None where they were not measured.
        entries: what pods held, which says the board of a node that is gone.
        price: the price of a GPU for an hour.
    """
    boards = {entry.place.node: entry.node_type for entry in entries}
    boards |= {each.node.name: gpus.node_type_of(each.node) for each in splits or ()}
    return Rests(
        now=None if splits is None else tuple(_now(each, price) for each in splits),
        window=None
        if hours is None
        else tuple(_window(boards.get(name, NodeType(product="")), each, price) for name, each in hours.items()),
    )


def _now(split: NodeSplit, price: Price) -> Rest:
    found = gpus.node_type_of(split.node)
    return Rest(
        node_type=found, price=price(found), free=split.free, out_of_use=split.out_of_use, capacity=split.capacity
    )


def _window(node_type: NodeType, hours: NodeHours, price: Price) -> Rest:
    return Rest(node_type=node_type, price=price(node_type), free=hours.free, out_of_use=hours.out_of_use)


def of(found: Rests) -> NotHeld:
    """The sums over all nodes."""
    now, window = found.now, found.window
    return NotHeld(
        gpus_not_priced=None if now is None else _sum(each.capacity for each in now if each.price is None),
        free_per_hour=money((each.free, each.price) for each in now or ()),
        out_of_use_per_hour=money((each.out_of_use, each.price) for each in now or ()),
        free=None if window is None else _sum(each.free for each in window),
        out_of_use=None if window is None else _sum(each.out_of_use for each in window),
        cost_free=money((each.free, each.price) for each in window or ()),
        cost_out_of_use=money((each.out_of_use, each.price) for each in window or ()),
    )


def _sum(values: Iterable[float]) -> float:
    return amounts.rounded(sum(values))


def money(parts: Iterable[tuple[float, float | None]]) -> float | None:
    """The money of the numbers that have a price; None where not one of them has."""
    everything = list(parts)
    there = [each for each in everything if each[0]] or everything
    priced = [number * price for number, price in there if price is not None]
    return _sum(priced) if priced else None
