"""What GPUs cost that no pod holds: those of now for an hour, and those of the window where series of nodes say it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from usher.audit.capacity import Split
from usher.audit.usage import amounts, prices
from usher.audit.usage.ledger import Entry
from usher.audit.usage.node_hours import NodeHours
from usher.audit.usage.prices import NodeType
from usher.dataclass import dataclass

Price = Callable[[NodeType], float | None]


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


def of(
    splits: Sequence[Split] | None, hours: Mapping[str, NodeHours] | None, entries: Iterable[Entry], *, price: Price
) -> NotHeld:
    """The sums over all nodes.

    Args:
        splits: the GPUs of the nodes of now; None where these are not known.
        hours: of the window, by node; None where they were not measured.
        entries: what pods held, which says the board of a node that is gone.
        price: the price of a GPU for an hour.
    """
    now = [(each, price(prices.of_node(each.node))) for each in splits or ()]
    boards = {entry.place.node: entry.node_type for entry in entries}
    boards |= {each.node.name: prices.of_node(each.node) for each in splits or ()}
    window = [(each, price(boards.get(name, NodeType(product="")))) for name, each in (hours or {}).items()]
    return NotHeld(
        gpus_not_priced=None if splits is None else _sum(each.capacity for each, cost in now if cost is None),
        free_per_hour=_money((each.free, cost) for each, cost in now),
        out_of_use_per_hour=_money((each.out_of_use, cost) for each, cost in now),
        free=None if hours is None else _sum(each.free for each, _ in window),
        out_of_use=None if hours is None else _sum(each.out_of_use for each, _ in window),
        cost_free=_money((each.free, cost) for each, cost in window),
        cost_out_of_use=_money((each.out_of_use, cost) for each, cost in window),
    )


def _sum(values: Iterable[float]) -> float:
    return amounts.rounded(sum(values))


def _money(parts: Iterable[tuple[float, float | None]]) -> float | None:
    """The money of those that have a price; None where not one of them has."""
    everything = list(parts)
    there = [each for each in everything if each[0]] or everything
    priced = [number * price for number, price in there if price is not None]
    return _sum(priced) if priced else None
