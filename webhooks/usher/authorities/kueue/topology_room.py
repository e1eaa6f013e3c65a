"""How many pods the nodes of a flavor could hold where its Topology has to place them, if the nodes were empty.

KQ:pkg/cache/scheduler/tas_flavor_snapshot.go: fillInCounts (line 1800), fillInCountsHelper (1930) and
findLevelWithFitDomains (1336). Kueue also subtracts the pods that it did not place, for example those of DaemonSets, so
this is an upper bound.
"""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Final

from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.kueue import placement as kueue_placement
from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavors import Flavor, FlavorRefusal, Topology
from usher.authorities.kueue.placement import Placement
from usher.authorities.kueue.topology_tree import HOSTNAME, Domain, Forest
from usher.authorities.nodes import obstacles as nodes_obstacles
from usher.authorities.nodes import pod_demand
from usher.authorities.nodes.places import Place, Places
from usher.authorities.nodes.pod_demand import PodDemand
from usher.cluster.facts.nodes import PODS, Amounts
from usher.dataclass import dataclass

_UNBOUNDED: Final = 2**62

_MOST_LEVELS: Final = 16
"""KQ:apis/kueue/v1beta2/topology_types.go allows as many; the API server refuses longer lists."""


@dataclass(slots=True)
class Nodes:
    """The nodes of a cluster for placement by topology; kept until a node or usher.yaml changes."""

    places: Places
    vocabulary: Vocabulary
    from_classes: frozenset[str] = frozenset()
    """Extended resources that device classes serve; nodes need not advertise them."""
    forests: dict[object, Forest] = field(default_factory=dict)

    def forest(self, flavor: Flavor, levels: Sequence[str]) -> Forest:
        """The domains of a flavor."""
        key = frozenset(flavor.node_labels.items()), tuple(levels)
        if key not in self.forests:
            if len(self.forests) >= _MOST_FORESTS:
                self.forests.clear()
            self.forests[key] = Forest(self.places, node_labels=flavor.node_labels, levels=levels)
        return self.forests[key]

    def demand(self, asked: CountedPods, flavor: Flavor) -> PodDemand:
        """The demand of one pod on a node of the flavor."""
        found = pod_demand.of_pod_set(asked.whole, self.vocabulary, from_classes=self.from_classes)
        amounts = {name: amount for name, amount in found.amounts.items() if name not in found.from_classes}
        return replace(found, amounts=amounts).tolerating(*flavor.tolerations)

    def growing(self, flavor: Flavor) -> tuple[Place, ...]:
        """Nodes that an autoscaler may add to the flavor."""
        return tuple(
            place
            for place in self.places.all
            if place.template is not None
            and all(place.labels.get(key, value) == value for key, value in flavor.node_labels.items())
        )


_MOST_FORESTS: Final = 64
"""How many flavors and topologies are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Pods that have to be placed together."""

    pods: int
    each: PodDemand
    leader: PodDemand | None = None
    """One more pod, in the same place."""
    placement: Placement

    @property
    def slices(self) -> int:
        """How many slices the pods are; a pod without slices is a slice by itself."""
        return self.pods // self.placement.slice_size


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    """The pods and slices that a domain holds."""

    pods: int
    slices: int = 0
    beside_leader: int = 0
    """Pods, where one node has the leader as well."""
    slices_beside_leader: int = 0
    leader: bool = True
    """Whether a node could hold the leader; true without a leader."""


def refusal(
    flavor: Flavor, topology: Topology, unit: Sequence[CountedPods], nodes: Nodes
) -> FlavorRefusal | str | None:
    """Why the nodes of a flavor never hold some pods; None where they could.

    Returns:
        A text where a missing fact decides.
    """
    largest = max(unit, key=lambda each: each.pods)
    known = topology.levels if len(set(topology.levels)) == len(topology.levels) <= _MOST_LEVELS else ()
    placement = kueue_placement.of(largest.pod_set, known)
    wanted = None if placement is None else asked(unit, flavor, placement, nodes)
    if wanted is None or not wanted.pods:
        return None
    held = most(wanted, nodes.forest(flavor, topology.levels), nodes)
    if held >= wanted.slices:
        return None
    unreadable = nodes.places.nodes.unreadable
    if unreadable:
        return f"Node {min(unreadable)} cannot be read: {unreadable[min(unreadable)]}"
    growing = could_grow(wanted, nodes.growing(flavor))
    if growing is not None:
        return f"the nodes of flavor {flavor.name} hold too few of the pods, but {growing.name} may get more nodes"
    held *= wanted.placement.slice_size
    return FlavorRefusal(flavor=flavor.name, reason=_too_few(wanted, held), by_topology=True, held=held)


def _too_few(wanted: Asked, held: int) -> str:
    where = f" in one {wanted.placement.required}" if wanted.placement.required else ""
    beside = " beside the leader" if wanted.leader is not None else ""
    size = wanted.placement.slice_size
    slices = f", {size} in one {wanted.placement.slice_level}" if size > 1 else ""
    return f"its nodes hold at most {held} of the {wanted.pods} pods{where}{beside}{slices}"


def asked(unit: Sequence[CountedPods], flavor: Flavor, placement: Placement, nodes: Nodes) -> Asked | None:
    """The pods of a unit; None where usher does not count how many of them the nodes hold."""
    if len(unit) > 2 or (len(unit) == 2 and min(each.pods for each in unit) != 1):
        return None
    demands = [nodes.demand(each, flavor) for each in unit]
    workers = max(range(len(unit)), key=lambda index: unit[index].pods)
    if any(each.too_large or each.node_name for each in demands) or unit[workers].pods < placement.slice_size:
        return None
    leader = None if len(unit) == 1 else demands[1 - workers]
    return Asked(pods=unit[workers].pods, each=demands[workers], leader=leader, placement=placement)


def most(asked: Asked, forest: Forest, nodes: Nodes) -> int:
    """The most slices that find room in one domain of the required level; in all nodes where no level is required."""
    if not forest.whole.children:
        return 0
    counting = _Counting(asked, forest, nodes.places)
    level = asked.placement.required
    domains = [forest.whole] if not level else forest.domains(level)
    depth = 0 if not level else forest.levels.index(level) + 1
    found = [counting.of(domain, depth) for domain in domains]
    return max((each.slices_beside_leader if asked.leader else each.slices for each in found if each.leader), default=0)


def could_grow(asked: Asked, places: Sequence[Place]) -> Place | None:
    """A place whose future nodes could help; None where each of them is too small for what one host must hold."""
    for place in places:
        one_host = asked.placement.required == HOSTNAME
        if not one_host or any(_times(asked.each, amounts, open_to=None) >= asked.pods for amounts in place.frontier):
            return place
    return None


class _Counting:
    def __init__(self, asked: Asked, forest: Forest, places: Places) -> None:
        self._asked = asked
        self._slice_depth = forest.levels.index(asked.placement.slice_level) + 1
        self._individual = places.nodes.individual
        self._kept: dict[tuple[int, int], _Count] = {}

    def of(self, domain: Domain, depth: int) -> _Count:
        """The pods and slices that a domain holds; `depth` is the number of its level, and 0 for all nodes."""
        key = id(domain), depth
        if key not in self._kept:
            self._kept[key] = self._counted(domain, depth)
        return self._kept[key]

    def _counted(self, domain: Domain, depth: int) -> _Count:
        found = self._parent(domain, depth) if domain.children else self._leaf(domain)
        if depth != self._slice_depth:
            return found
        size = self._asked.placement.slice_size
        return replace(found, slices=found.pods // size, slices_beside_leader=found.beside_leader // size)

    def _leaf(self, domain: Domain) -> _Count:
        asked = self._asked
        if domain.place is not None and not self._admits(domain.place):
            return _Count(pods=0, leader=False)
        pods = _times(asked.each, domain.amounts, open_to=0)
        if asked.leader is None:
            return _Count(pods=pods, beside_leader=pods)
        if not _times(asked.leader, domain.amounts, open_to=0):
            return _Count(pods=pods, beside_leader=pods, leader=False)
        left = {name: amount - asked.leader.amounts.get(name, 0) for name, amount in domain.amounts.items()}
        if PODS in left:
            left[PODS] -= 1
        return _Count(pods=pods, beside_leader=_times(asked.each, left, open_to=0))

    def _admits(self, place: Place) -> bool:
        """Whether a class of nodes admits the pods. Labels that differ from node to node count as met."""
        demand = self._asked.each
        return not nodes_obstacles.of_taints(demand, place) and any(
            not nodes_obstacles.of_labels(each, place, self._individual) for each in demand.alternatives
        )

    def _parent(self, domain: Domain, depth: int) -> _Count:
        children = [(self.of(child, depth + 1), count) for child, count in domain.children]
        pods = sum(each.pods * count for each, count in children)
        slices = sum(each.slices * count for each, count in children)
        leading = [each for each, _ in children if each.leader]
        if not leading:
            return _Count(pods=pods, slices=slices, leader=False)
        return _Count(
            pods=pods,
            slices=slices,
            beside_leader=pods - min(each.pods - each.beside_leader for each in leading),
            slices_beside_leader=slices - min(each.slices - each.slices_beside_leader for each in leading),
        )


def _times(demand: PodDemand, amounts: Amounts, *, open_to: int | None) -> int:
    """How many pods find room in some amounts; a missing amount is `open_to`, and None means without a bound."""
    missing = _UNBOUNDED if open_to is None else open_to
    found = [amounts.get(PODS, _UNBOUNDED)]
    for name, asks in demand.amounts.items():
        found.append(max(amounts.get(name, missing), 0) // asks)
    return min(found)
