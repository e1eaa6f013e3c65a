"""The cost of GPUs that no pod holds: for an hour of now, and for the window if series of nodes exist."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from usher.audit.capacity import Split
from usher.audit.usage import amounts, prices
from usher.audit.usage.ledger import Entry
from usher.audit.usage.node_hours import NodeHours
from usher.audit.usage.prices import NodeType
from usher.dataclass import dataclass

Price = Callable[[NodeType], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The GPUs or GPU-hours of one node that no pod holds: GPUs now, or GPU-hours of the window."""

    node_type: NodeType
    price: float | None
    """Price of a GPU for an hour."""
    free: float
    out_of_use: float
    capacity: float = 0.0
    """GPUs of the node now; 0 for the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rests:
    """The rests of all nodes; None if the nodes are unknown or their hours were not measured."""

    now: tuple[Rest, ...] | None = None
    window: tuple[Rest, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHeld:
    """GPUs that are free or out of use; None if unknown, not measured or not priced."""

    gpus_not_priced: float | None = None
    """How many GPUs of all current nodes have no price."""
    free_per_hour: float | None = None
    """Cost of the free GPUs for an hour."""
    out_of_use_per_hour: float | None = None
    free: float | None = None
    """Free GPU-hours of the window."""
    out_of_use: float | None = None
    cost_free: float | None = None
    """Cost of the free GPU-hours that have a price."""
    cost_out_of_use: float | None = None


def rests(
    splits: Sequence[Split] | None, hours: Mapping[str, NodeHours] | None, entries: Iterable[Entry], *, price: Price
) -> Rests:
    """The rest of each node.

    Args:
        splits: the GPUs of the current nodes; None if unknown.
        hours: the GPU-hours of the window by node; None if not measured.
        entries: what pods held; they name the board of a node that is gone.
        price: the price of a GPU for an hour.
    """
    boards = {entry.place.node: entry.node_type for entry in entries}
    boards |= {each.node.name: prices.of_node(each.node) for each in splits or ()}
    return Rests(
        now=None if splits is None else tuple(_now(each, price) for each in splits),
        window=None
        if hours is None
        else tuple(_window(boards.get(name, NodeType(product="")), each, price) for name, each in hours.items()),
    )


def _now(split: Split, price: Price) -> Rest:
    found = prices.of_node(split.node)
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
    """The money of the amounts that have a price; None if no amount has one."""
    everything = list(parts)
    there = [each for each in everything if each[0]] or everything
    priced = [number * price for number, price in there if price is not None]
    return _sum(priced) if priced else None
