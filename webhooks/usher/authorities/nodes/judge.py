"""Judges whether empty nodes could ever hold one pod of each pod set, and a whole gang at once."""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.authorities import verdict
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.places import Alternative, Obstacles, Place, Places, PodDemand, fewest_obstacles
from usher.authorities.verdict import Answer, ClaimedDevices, Room
from usher.cluster.facts import autoscaled_pools
from usher.cluster.facts.nodes import PODS, Amounts, NodeClass, Nodes, Own
from usher.kinds import registry
from usher.model import placement


class Nearest(Struct, frozen=True, kw_only=True):
    """The place that lacks least."""

    place: Place | None
    """None where the cluster has no node, or no node with the name that the pod gives."""
    obstacles: Obstacles


class NodeVerdict(Struct, frozen=True, kw_only=True):
    """Whether nodes could hold one pod if they were empty."""

    answer: Answer
    """NEVER, UNKNOWN or COULD."""
    reason: str = ""
    """Why the answer is UNKNOWN."""
    nearest: Nearest | None = None
    """The nearest place, where the pod never fits."""
    large: Nearest | None = None
    """The nearest place that only taints close, where the nearest of all is too small."""
    crowded: Place | None = None
    """A place where the pod fits, but whose kubelets refuse it: it asks for more GPUs than one NUMA node has."""


_FITS: Final = NodeVerdict(answer=Answer.COULD)


def judge(demand: PodDemand, places: Places) -> NodeVerdict:
    """The verdict on one pod. The cost grows with the number of node classes, not of nodes."""
    if demand.too_large:
        return _unknown_verdict("its node affinity has more terms and values than usher reads")
    if demand.devices is not None and not demand.node_name:
        return _verdict_by_devices(demand, demand.devices, places)
    if not demand.from_classes:
        return _verdict(demand, places)
    found = _verdict(replace(demand, from_classes=frozenset()), places)
    if found.answer is not Answer.NEVER or _verdict(demand, places).answer is Answer.NEVER:
        return found
    names = ", ".join(sorted(demand.from_classes))
    return _unknown_verdict(
        f"{names} may come from a DeviceClass, and usher does not know which nodes have its devices"
    )


def _verdict(demand: PodDemand, places: Places) -> NodeVerdict:
    if demand.node_name:
        return _on_named_node(demand, places)
    holding: list[Place] = []
    for place in places.all:
        if could_hold(demand, place, places.nodes):
            if not (demand.claims_devices or place.may_never_be or _is_crowded(demand, place)):
                return _FITS
            holding.append(place)
    if holding:
        return _conditional(demand, holding)
    if places.nodes.unreadable:
        return _unknown_verdict(_unreadable(places.nodes))
    return _verdict_by_obstacles(demand, places)


def _unknown_verdict(reason: str) -> NodeVerdict:
    return NodeVerdict(answer=Answer.UNKNOWN, reason=reason)


_ALL_TRIED: Final = 100
"""Up to this number of nodes the scheduler tries all (minFeasibleNodesToFind in pkg/scheduler/schedule_one.go)."""


def _verdict_by_devices(demand: PodDemand, claims: ClaimedDevices, places: Places) -> NodeVerdict:
    """The verdict on a pod with claims, where the devices of the nodes are known."""
    without = replace(demand, devices=None)
    is_large = len(places.nodes.by_name) > _ALL_TRIED
    found: list[tuple[float, str, Room]] = []
    for place in places.all:
        found += ((room.weight, name, room) for name, room in rooms(without, claims, place, places.nodes))
        if is_large and any(room.sure for _, _, room in found):
            break
    stops = [room for _, _, room in found if room.stops]
    fits = any(room.sure for _, _, room in found)
    if fits and not stops:
        return _FITS
    if places.nodes.unreadable:
        return _unknown_verdict(_unreadable(places.nodes))
    never = any(not room.most for room in stops)
    if stops and (not never or (fits and is_large)):
        return _unknown_verdict(stops[0].reason)
    open_places = [room.reason for _, _, room in found if room.most] + [
        f"usher does not know the devices of nodes that {each.name} would add"
        for each in places.all
        if each.nodes is None and could_hold(without, each, places.nodes)
    ]
    if open_places and not never:
        return _unknown_verdict(open_places[0])
    if not found:
        return _verdict_by_obstacles(without, places)
    _, name, room = max(found, key=lambda each: each[:2])
    place = Place(name=f"node {name}", labels={}, taints=(), frontier=())
    return NodeVerdict(answer=Answer.NEVER, nearest=Nearest(place=place, obstacles=Obstacles(devices=room.reason)))


def rooms(
    demand: PodDemand, claims: ClaimedDevices, place: Place, nodes: Nodes, *, pods: int = 1
) -> Iterator[tuple[str, Room]]:
    """The existing nodes of a place that could hold a pod, with the pods that their devices serve."""
    for found in _holding(demand, place, nodes) if place.nodes is not None else ():
        assert place.nodes is not None  # noqa: S101 - asked before
        for name in place.nodes.nodes if found is None else (found,):
            own = place.nodes.nodes[name]
            if nodes_places.fits_amounts(demand, own.amounts, None):
                yield name, claims.room(*seen_by_claims(demand, place, name), pods=pods)


def seen_by_claims(demand: PodDemand, place: Place, name: str) -> tuple[str, Mapping[str, str], Amounts]:
    """A node as claims see it: its name, its labels, and the resources that its devices have to serve."""
    own = place.nodes.nodes[name] if place.nodes is not None else Own({}, {})
    return name, {**place.labels, **own.labels}, _served(demand, own.amounts)


def _served(demand: PodDemand, amounts: Amounts) -> Amounts:
    """The resources that a node with these amounts serves by device classes."""
    return {name: demand.amounts[name] for name in demand.from_classes if not amounts.get(name)}


def could_hold(demand: PodDemand, place: Place, nodes: Nodes) -> bool:
    """Whether some node of the place could hold one pod."""
    return any(True for _ in _holding(demand, place, nodes))


def holding_nodes(demand: PodDemand, place: Place, nodes: Nodes) -> Collection[str]:
    """The names of the existing nodes of the class that could hold one pod.

    If one node of the class could, all of them count. So these may be too many; it is exact where the pod selects by
    labels that differ from node to node.
    """
    if place.nodes is None:
        return ()
    found = list(_holding(demand, place, nodes))
    return place.nodes.nodes.keys() if None in found else [name for name in found if name is not None]


def _holding(demand: PodDemand, place: Place, nodes: Nodes) -> Iterator[str | None]:
    """The names of nodes where individual labels or devices decide; None where the class decides."""
    if demand.devices is not None and place.nodes is not None:
        found = rooms(replace(demand, devices=None), demand.devices, place, nodes)
        yield from (name for name, room in found if room.most)
        return
    if not any(nodes_places.fits_amounts(demand, amounts, place.template) for amounts in place.frontier):
        return
    if nodes_places.blocking_taints(demand, place):
        return
    own = nodes.individual
    alternatives = [
        alternative
        for alternative in demand.alternatives
        if not nodes_places.unmet_requirements(alternative, place, own)
    ]
    if place.nodes is None:
        if alternatives:
            yield None
        return
    beside = [_individual(alternative, own) for alternative in alternatives]
    if any(not (alternative.on_labels or alternative.on_fields) for alternative in beside):
        yield None
        return
    seen = set[str]()
    for alternative in beside:
        for name in _candidates(alternative, place.nodes, nodes):
            if name not in seen and _is_met(demand, alternative, place.nodes, name):
                seen.add(name)
                yield name


def _individual(alternative: Alternative, own: Container[str]) -> Alternative:
    return Alternative(tuple(each for each in alternative.on_labels if each.key in own), alternative.on_fields)


def _candidates(alternative: Alternative, of_class: NodeClass, nodes: Nodes) -> Iterable[str]:
    """Nodes of the class, without nodes whose individual labels or names cannot match."""
    found: set[str] | None = None
    for each in alternative.on_fields:
        if each.operator == "In":
            found = {*each.values} if found is None else found.intersection(each.values)
    for each in alternative.on_labels:
        if each.operator == "In":
            values = nodes.individual[each.key]
            names = set[str]().union(*(values.get(value, ()) for value in each.values))
            found = names if found is None else found & names
        elif each.operator in ("Exists", "Gt", "Lt") and not nodes.individual[each.key]:
            return ()
    return of_class.nodes if found is None else sorted(name for name in found if name in of_class.nodes)


def _is_met(demand: PodDemand, alternative: Alternative, of_class: NodeClass, name: str) -> bool:
    own = of_class.nodes[name]
    return (
        all(placement.labels_match(each, own.labels) for each in alternative.on_labels)
        and all(placement.name_matches(each, name) for each in alternative.on_fields)
        and nodes_places.fits_amounts(demand, own.amounts, None)
    )


def _conditional(demand: PodDemand, holding: Sequence[Place]) -> NodeVerdict:
    """The verdict where every place that could hold the pod has a condition."""
    if demand.claims_devices:
        return _unknown_verdict("it claims devices, and usher does not know which nodes have them")
    if all(place.may_never_be for place in holding):
        return _unknown_verdict(
            f"it fits only {holding[0].name}, which has no node; usher.yaml does not set scalesFromZero for this pool"
        )
    crowded = next((place for place in holding if _is_crowded(demand, place)), None)
    return NodeVerdict(answer=Answer.COULD, crowded=crowded)


def _is_crowded(demand: PodDemand, place: Place) -> bool:
    gpu = None if place.pool is None else place.pool.gpu
    if gpu is None or gpu.per_numa_node is None:
        return False
    return demand.in_one_container.get("nvidia.com/gpu", 0) > gpu.per_numa_node


def _on_named_node(demand: PodDemand, places: Places) -> NodeVerdict:
    """The verdict on a pod that names its node. It bypasses the scheduler; the kubelet still checks resources, labels
    and taints that evict.
    """
    name = demand.node_name
    if name in places.nodes.unreadable:
        return _unknown_verdict(_unreadable(places.nodes, name))
    found = places.nodes.by_name.get(name)
    if found is None:
        named = placement.Requirement(key=placement.NAME_FIELD, operator="In", values=(name,))
        return NodeVerdict(answer=Answer.NEVER, nearest=Nearest(place=None, obstacles=Obstacles(names=(named,))))
    own = found.nodes[name]
    place = Place(
        name=f"node {name}",
        labels={**found.labels, **own.labels},
        taints=found.taints,
        frontier=(own.amounts,),
        pool=next((each.pool for each in places.all if each.nodes is not None and name in each.nodes.nodes), None),
    )
    missing = fewest_obstacles(replace(demand, alternatives=_on_node(demand.alternatives, name)), place, frozenset())
    if missing:
        return NodeVerdict(answer=Answer.NEVER, nearest=Nearest(place=place, obstacles=missing))
    return _conditional(demand, [place])


def _on_node(alternatives: tuple[Alternative, ...], name: str) -> tuple[Alternative, ...]:
    return tuple(
        alternative
        for alternative in alternatives
        if all(placement.name_matches(each, name) for each in alternative.on_fields)
    )


def _verdict_by_obstacles(demand: PodDemand, places: Places) -> NodeVerdict:
    found = sorted(_obstacles(demand, places), key=_weight)
    if not found:
        return NodeVerdict(answer=Answer.NEVER, nearest=Nearest(place=None, obstacles=Obstacles()))
    closed = [each for each in found if _lacks_tolerations_alone(each.obstacles)] if found[0].obstacles.amounts else []
    return NodeVerdict(answer=Answer.NEVER, nearest=found[0], large=next(iter(closed), None))


def _lacks_tolerations_alone(found: Obstacles) -> bool:
    return bool(found.taints) and not (found.amounts or found.labels or found.names or found.nowhere)


def _obstacles(demand: PodDemand, places: Places) -> Iterator[Nearest]:
    """Each place with its obstacles to the pod."""
    own = places.nodes.individual
    for place in places.all:
        missing = fewest_obstacles(demand, place, own)
        yield Nearest(place=place, obstacles=missing or _individual_obstacles(demand, place, own))


def _weight(near: Nearest) -> tuple[int, Fraction, str]:
    return (*near.obstacles.weight, near.place.name if near.place is not None else "")


def _individual_obstacles(demand: PodDemand, place: Place, own: Container[str]) -> Obstacles:
    """The individual labels or names that keep a pod off the nodes of a class that itself fits."""
    fitting = [each for each in demand.alternatives if not nodes_places.unmet_requirements(each, place, own)]
    missing = min((_individual(each, own) for each in fitting), key=lambda each: len(each.on_labels + each.on_fields))
    return Obstacles(labels=missing.on_labels, names=missing.on_fields)


def _unreadable(nodes: Nodes, name: str = "") -> str:
    name = name or min(nodes.unreadable)
    more = len(nodes.unreadable) - 1
    return f"Node {name} cannot be read: {nodes.unreadable[name]}" + (f"; nor can {more} more" if more else "")


_UNBOUNDED: Final = 2**62


class GangMember(Struct, frozen=True, kw_only=True):
    """One pod set of a gang."""

    demand: PodDemand
    pods: int
    """How many pods the pod set makes."""


class GangRoom(Struct, frozen=True, kw_only=True):
    """How many pods of a gang the nodes could hold at once."""

    most: int
    sure: bool
    """Whether usher.yaml bounds every pool that counts; else an autoscaler may add nodes."""


class GangNodesInput(TypedDict):
    wanted: int
    most: int
    sure: bool
    """Whether usher.yaml bounds every pool that counts."""
    left: NotRequired[str]
    """A place that only taints close to its pods, with the taints."""


class _Stock(Struct, frozen=True, kw_only=True):
    """Nodes that could hold a pod: the existing nodes of one class, or all nodes that a scaling pool may have."""

    nodes: int
    places: tuple[Place, ...]
    sure: bool


_Stocks = Mapping[str, _Stock]
"""Stocks by pool or example node."""


def gang_member(pod_set: model.PodSet, demand: PodDemand, gang: model.Gang) -> GangMember:
    """A pod set as a member of a gang. All of its pods count, even where the gang starts with fewer."""
    count = pod_set.count
    pods = count.minimum if gang.minimum is None or count.maximum is None else count.maximum
    return GangMember(demand=demand, pods=pods)


def gang_shortage(
    workload: model.Workload, members: Sequence[GangMember], room_for: Callable[[Sequence[GangMember]], GangRoom | None]
) -> GangNodesInput | None:
    """The shortage where fewer pods of a gang could run at the same time than it needs; None where all could.

    Args:
        room_for: computes the room for members, like `room`.
    """
    minimum = verdict.gang_minimum(workload)
    wanted = workload.pods.minimum if minimum is None else minimum
    # Another check reports a minimum above the number of all pods.
    wanted = min(wanted, sum(each.pods for each in members))
    found = room_for(members)
    if found is None or found.most >= wanted:
        return None
    return {"wanted": wanted, "most": found.most, "sure": found.sure}


def gang_room(members: Sequence[GangMember], places: Places) -> GangRoom | None:
    """How many pods of a gang could run at the same time, at most; None where there is no bound.

    Compares each pod set alone, each resource for all pod sets together, and as many pods as there are of the least
    amounts that any of them asks for. Packing is ignored otherwise: fewer pods may fit, but never more.
    """
    if places.nodes.unreadable or any(_is_undecided(member.demand) for member in members):
        return None
    stocks = [_stocks(member.demand, places) for member in members]
    alone = 0
    for member, its in zip(members, stocks, strict=True):
        claims = member.demand.devices
        most = _pods_alone(member.demand, its) if claims is None else pods_with_devices(member, claims, places)
        alone += min(member.pods, most)
    union = _union(stocks)
    resources = sorted({name for each in members for name in each.demand.amounts.keys() - each.demand.from_classes})
    least = {name: min(member.demand.amounts.get(name, 0) for member in members) for name in resources}
    smallest = replace(members[0].demand, amounts={name: amount for name, amount in least.items() if amount})
    found = min([alone, _pods_alone(smallest, union), *(_pods_with(name, members, union) for name in resources)])
    if found >= min(_UNBOUNDED, sum(member.pods for member in members)):
        return None
    return GangRoom(most=found, sure=all(stock.sure for stock in union.values()))


def pods_with_devices(member: GangMember, claims: ClaimedDevices, places: Places, *, sure: bool = False) -> int:
    """How many pods find devices and other resources at once: at most, or for sure."""
    without, found = replace(member.demand, devices=None), [0]
    for place in places.all:
        if place.nodes is None:
            if could_hold(without, place, places.nodes):
                return _UNBOUNDED
            continue
        for name, room in rooms(without, claims, place, places.nodes, pods=member.pods):
            own = place.nodes.nodes[name].amounts
            served = _served(member.demand, own)
            amounts = [own.get(each, 0) // asked for each, asked in member.demand.amounts.items() if each not in served]
            found.append(min([room.sure if sure else room.most, own.get(PODS, _UNBOUNDED), *amounts]))
    if claims.share_a_node or (sure and not claims.is_local):
        return max(found)
    return sum(found) if claims.is_local else min(sum(found), claims.most_of_all())


def _left_out(members: Sequence[GangMember], places: Places) -> str:
    """A place that only taints close to a pod of the gang, with the taints; empty without one."""
    for demand in (each.demand for each in members):
        others = [place for place in places.all if not could_hold(demand, place, places.nodes)]
        for each in _obstacles(demand, replace(places, all=tuple(others))):
            if each.place is not None and _lacks_tolerations_alone(each.obstacles):
                return f"{each.place.name} by the taint {', '.join(map(str, each.obstacles.taints))}"
    return ""


def _is_undecided(demand: PodDemand) -> bool:
    claims = demand.devices is None and (demand.claims_devices or bool(demand.from_classes))
    return demand.too_large or claims or bool(demand.node_name) or demand.shares_devices


def _stocks(demand: PodDemand, places: Places) -> _Stocks:
    found: dict[str, _Stock] = {}
    for place in places.all:
        if not could_hold(demand, place, places.nodes):
            continue
        pool = place.pool
        if pool is None and place.nodes is None:
            most = _UNBOUNDED if place.most_nodes is None else place.most_nodes
            found[place.name] = _Stock(nodes=most, places=(place,), sure=False)
            continue
        if pool is None or not (pool.scales or place.template is not None):
            key = "" if place.nodes is None else place.nodes.example
            count = len(holding_nodes(demand, place, places.nodes))
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


def _pods_alone(demand: PodDemand, stocks: _Stocks) -> int:
    return sum(stock.nodes * _pods_on_largest_node(demand, stock) for stock in stocks.values())


def _pods_on_largest_node(demand: PodDemand, stock: _Stock) -> int:
    """How many pods the largest node holds. Resources that a pool does not declare count as unlimited."""
    return max(
        min([*(amount // asked for amount, asked in _known_stocks(demand, place, index)), _most_pods(place, index)])
        for place in stock.places
        for index in range(len(place.frontier))
    )


def _known_stocks(demand: PodDemand, place: Place, index: int) -> Iterator[tuple[int, int]]:
    amounts = place.frontier[index]
    for name, asked in demand.amounts.items():
        if name in amounts or place.template is None:
            yield amounts.get(name, 0), asked


def _most_pods(place: Place, index: int) -> int:
    return place.frontier[index].get(PODS, _UNBOUNDED)


def _pods_with(resource: str, members: Iterable[GangMember], stocks: _Stocks) -> int:
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


_MOST: Final = 64
"""The most members of a gang that is kept."""


@dataclass(frozen=True, slots=True)
class _Question:
    key: bytes
    devices: ClaimedDevices | None
    demand: PodDemand = field(compare=False)


@dataclass(frozen=True, slots=True)
class _GangQuestion:
    key: tuple[tuple[bytes, int, ClaimedDevices | None], ...]
    members: Sequence[GangMember] = field(compare=False)


class NodeVerdicts:
    """The verdicts on the nodes at one moment."""

    def __init__(self, found: Places) -> None:
        self.places = found
        self._kept = lru_cache(maxsize=1024)(lambda question: judge(question.demand, self.places))
        self._rooms = lru_cache(maxsize=256)(lambda gang: gang_room(gang.members, self.places))
        self._holding = lru_cache(maxsize=256)(lambda question: self._holding_places(question.demand))

    @property
    def without_daemons(self) -> "NodeVerdicts":
        """The verdicts on nodes without DaemonSets, for the pods of DaemonSets themselves."""
        found = self.places.without_daemons
        return self if found is None else NodeVerdicts(found)

    def of(self, demand: PodDemand) -> NodeVerdict:
        """Whether any node could hold one pod."""
        key = demand.digest()
        return self._kept(_Question(key, demand.devices, demand)) if key else judge(demand, self.places)

    def holding(self, demand: PodDemand) -> tuple[Place, ...]:
        """The places that could hold one pod."""
        key = demand.digest()
        return self._holding(_Question(key, demand.devices, demand)) if key else self._holding_places(demand)

    def _holding_places(self, demand: PodDemand) -> tuple[Place, ...]:
        return tuple(place for place in self.places.all if could_hold(demand, place, self.places.nodes))

    def of_gang(self, workload: model.Workload, members: Sequence[GangMember]) -> GangNodesInput | None:
        """The shortage where fewer pods of a gang could run at the same time than it needs; None where all could."""
        found = gang_shortage(workload, members, self.room) if workload.gang.wanted else None
        if found is not None and (left := _left_out(members, self.places)):
            found["left"] = left
        return found

    def of_rollout(self, workload: model.Workload, members: Sequence[GangMember]) -> GangNodesInput | None:
        """The shortage where the nodes cannot hold all replicas and the first new pods at once.

        None for kinds that make no new pods beside old ones, and without a bound. Of kinds that make all pods twice,
        the pods with accelerators count.
        """
        pods = registry.PODS.get((workload.group, workload.kind))
        standard = workload.annotations.get("serving.kserve.io/deploymentMode") in ("Standard", "RawDeployment")
        if pods is not None and pods.doubles and not standard:
            members = [
                replace(each, pods=2 * pod_set.count.minimum)
                for pod_set, each in zip(workload.pod_sets, members, strict=False)
                if pod_set.asks_accelerators
            ]
            wanted = sum(each.pods for each in members)
        elif pods and (pods.rolls_out or standard) and workload.pods.maximum != workload.pods.minimum:
            wanted = workload.pods.minimum + 1
            members = [replace(each, pods=wanted) for each in members]
        else:
            return None
        found = self.room(members)
        if found is None or found.most >= wanted:
            return None
        return {"wanted": wanted, "most": found.most, "sure": found.sure}

    def room(self, members: Sequence[GangMember]) -> GangRoom | None:
        key = tuple((member.demand.digest(), member.pods, member.demand.devices) for member in members)
        is_kept = len(key) <= _MOST and all(each for each, _, _ in key)
        return self._rooms(_GangQuestion(key, members)) if is_kept else gang_room(members, self.places)


def node_verdicts(known: Knowledge) -> NodeVerdicts | None:
    """The verdicts on the current nodes; None where the nodes are unknown."""
    table = known.facts.nodes
    if not table.known:
        return None
    kinds = [("", "Node"), *autoscaled_pools.KINDS, *nodes_places.SHAPING_DAEMONS]
    return known.derived("verdicts of nodes", kinds, lambda: NodeVerdicts(nodes_places.places_of_known(known)))
