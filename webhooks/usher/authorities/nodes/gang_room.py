"""An upper bound on how many pods of a gang could run together if all nodes were empty."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from usher import model
from usher.authorities import gang_demand
from usher.authorities.nodes import judge
from usher.authorities.nodes.places import Place, Places
from usher.authorities.nodes.pod_demand import PodDemand
from usher.cluster.facts.nodes import PODS
from usher.dataclass import dataclass

_UNBOUNDED: Final = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One pod set of a gang."""

    demand: PodDemand
    pods: int
    """How many pods the pod set makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many pods of a gang the nodes could hold at once."""

    most: int
    sure: bool
    """Whether usher.yaml bounds every pool that counts; else an autoscaler may add nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangShortage(Room):
    """Fewer pods could run at the same time than the gang needs."""

    wanted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stock:
    """Nodes that could hold a pod: the existing nodes of one class, or all nodes that a scaling pool may have."""

    nodes: int
    places: tuple[Place, ...]
    sure: bool


_Stocks = Mapping[str, _Stock]
"""Stocks by pool or example node."""


def member(pod_set: model.PodSet, demand: PodDemand, gang: model.Gang) -> Member:
    """A pod set as a member of a gang. All of its pods count, even where the gang starts with fewer."""
    count = pod_set.count
    pods = count.minimum if gang.minimum is None or count.maximum is None else count.maximum
    return Member(demand=demand, pods=pods)


def shortage(
    workload: model.Workload, members: Sequence[Member], room_for: Callable[[Sequence[Member]], Room | None]
) -> GangShortage | None:
    """The shortage where fewer pods of a gang could run at the same time than it needs; None where all could.

    Args:
        workload: the gang.
        members: the pod sets of the gang.
        room_for: computes the room for members, like `room`.
    """
    minimum = gang_demand.minimum_of(workload)
    wanted = workload.pods.minimum if minimum is None else minimum
    # Another check reports a minimum above the number of all pods.
    wanted = min(wanted, sum(each.pods for each in members))
    found = room_for(members)
    if found is None or found.most >= wanted:
        return None
    return GangShortage(wanted=wanted, most=found.most, sure=found.sure)


def room(members: Sequence[Member], places: Places) -> Room | None:
    """How many pods of a gang could run at the same time, at most; None where there is no bound.

    Compares each pod set alone, and each resource for all pod sets together. Packing is ignored: fewer pods may fit,
    but never more.
    """
    if places.nodes.unreadable or any(_is_undecided(member.demand) for member in members):
        return None
    stocks = [_stocks(member.demand, places) for member in members]
    alone = 0
    for member, its in zip(members, stocks, strict=True):
        alone += min(member.pods, sum(stock.nodes * _times(member.demand, stock) for stock in its.values()))
    union = _union(stocks)
    resources = sorted({name for member in members for name in member.demand.amounts})
    together = (_pods_with(name, members, union) for name in resources)
    found = min([alone, *together])
    if found >= min(_UNBOUNDED, sum(member.pods for member in members)):
        return None
    return Room(most=found, sure=all(stock.sure for stock in union.values()))


def _is_undecided(demand: PodDemand) -> bool:
    return demand.too_large or demand.claims_devices or bool(demand.from_classes) or bool(demand.node_name)


def _stocks(demand: PodDemand, places: Places) -> _Stocks:
    found: dict[str, _Stock] = {}
    for place in places.all:
        if not judge.could_hold(demand, place, places.nodes):
            continue
        pool = place.pool
        if pool is None or not (pool.scales or place.template is not None):
            key = "" if place.nodes is None else place.nodes.example
            count = judge.holding_nodes(demand, place, places.nodes)
            found[key] = _Stock(nodes=count, places=(place,), sure=pool is not None and pool.scales_from_zero is False)
            continue
        before = found.get(place.name)
        found[place.name] = _Stock(
            nodes=_UNBOUNDED if pool.max_nodes is None else pool.max_nodes,
            places=(place,) if before is None else (*before.places, place),
            sure=True,
        )
    return found


def _union(stocks: Iterable[_Stocks]) -> dict[str, _Stock]:
    found: dict[str, _Stock] = {}
    for each in stocks:
        for key, stock in each.items():
            if key not in found or found[key].nodes < stock.nodes:
                found[key] = stock
    return found


def _times(demand: PodDemand, stock: _Stock) -> int:
    """How many pods the largest node holds. Resources that a pool does not declare count as unlimited."""
    return max(
        min([*(amount // asked for amount, asked in _known(demand, place, index)), _most_pods(place, index)])
        for place in stock.places
        for index in range(len(place.frontier))
    )


def _known(demand: PodDemand, place: Place, index: int) -> Iterator[tuple[int, int]]:
    amounts = place.frontier[index]
    for name, asked in demand.amounts.items():
        if name in amounts or place.template is None:
            yield amounts.get(name, 0), asked


def _most_pods(place: Place, index: int) -> int:
    return place.frontier[index].get(PODS, _UNBOUNDED)


def _pods_with(resource: str, members: Iterable[Member], stocks: _Stocks) -> int:
    """How many pods find enough of one resource if the smallest requests come first."""
    left = sum(stock.nodes * max(_amount(resource, place) for place in stock.places) for stock in stocks.values())
    found = 0
    for asked, pods in sorted((member.demand.amounts.get(resource, 0), member.pods) for member in members):
        fitting = pods if not asked else min(pods, left // asked)
        found, left = found + fitting, left - fitting * asked
    return found


def _amount(resource: str, place: Place) -> int:
    other = 0 if place.template is None else _UNBOUNDED
    return max(amounts.get(resource, other) for amounts in place.frontier)
