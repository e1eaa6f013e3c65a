"""The nodes of a flavor by the levels of its Topology, and how many pods they could hold if they were empty.

KQ:pkg/cache/scheduler/tas_flavor_snapshot.go: fillInCounts (line 1800), fillInCountsHelper (1930) and
findLevelWithFitDomains (1336). Kueue also subtracts the pods that it did not place, for example those of DaemonSets, so
this is an upper bound.

KQ:pkg/cache/scheduler/tas_topology_tree.go. Equal domains are one value with a number, so that thousands of nodes cost
as much as their different racks.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.kueue import flavors as kueue_flavors
from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavors import Flavor, FlavorRefusal, Topology, TopologyPlacement
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.places import Place, Places, PodDemand
from usher.cluster.facts.nodes import PODS, Amounts, NodeClass, Own

HOSTNAME: Final = "kubernetes.io/hostname"


class Domain(Struct, frozen=True, kw_only=True, eq=False):
    """A domain of a level, with the domains of the next level. Equal domains are the same object."""

    children: tuple[tuple["Domain", int], ...] = ()
    """Domains of the next level, with how many equal ones there are; empty at the lowest level."""
    amounts: Amounts
    """At the lowest level: the amounts of all its nodes together."""
    place: Place | None = None
    """The class of the node, where the lowest level is the host name; else pods may have any node of the domain."""


_Path = tuple[str, ...]


class Forest:
    """The domains of all levels of one Topology, for the nodes of one flavor."""

    def __init__(self, places: Places, *, node_labels: Mapping[str, str], levels: Sequence[str]) -> None:
        self.levels = tuple(levels)
        self._same: dict[object, Domain] = {}
        by_path = defaultdict[_Path, list[tuple[Place, Amounts]]](list)
        self.without = defaultdict[str, list[str]](list)
        """The nodes of the flavor that Kueue leaves out, by the first level whose label they lack."""
        for place in places.all:
            for name, own in place.nodes.nodes.items() if place.nodes is not None else ():
                path = _domain_path(place.nodes, own, node_labels, self.levels) if place.nodes is not None else None
                if path is None:
                    continue
                if len(path) == len(self.levels):
                    by_path[path].append((place, own.amounts))
                else:
                    self.without[self.levels[len(path)]].append(name)
        self._by_level: dict[int, dict[Domain, int]] = {}
        self.root = self._grown({path: self._leaf(nodes) for path, nodes in by_path.items()})
        """The domain above the first level."""

    def domains(self, level: str) -> Iterable[Domain]:
        """The different domains of a level."""
        return self._by_level.get(self.levels.index(level), {})

    def _leaf(self, nodes: Sequence[tuple[Place, Amounts]]) -> Domain:
        alone = len(nodes) == 1 and self.levels[-1] == HOSTNAME
        place = nodes[0][0] if alone else None
        total = nodes[0][1] if alone else _sum_of_amounts(amounts for _, amounts in nodes)
        key = id(place), frozenset(total.items())
        if key not in self._same:
            self._same[key] = Domain(amounts=total, place=place)
        return self._same[key]

    def _grown(self, domains: Mapping[_Path, Domain]) -> Domain:
        for depth in reversed(range(len(self.levels))):
            self._by_level[depth] = dict(Counter(domains.values()))
            above = defaultdict[_Path, list[Domain]](list)
            for path, domain in domains.items():
                above[path[:depth]].append(domain)
            domains = {path: self._parent(children) for path, children in above.items()}
        return domains.get((), Domain(amounts={}))

    def _parent(self, children: Iterable[Domain]) -> Domain:
        counted = Counter(children)
        key = frozenset((id(child), count) for child, count in counted.items())
        if key not in self._same:
            self._same[key] = Domain(children=tuple(counted.items()), amounts={})
        return self._same[key]


def _domain_path(of: NodeClass, own: Own, node_labels: Mapping[str, str], levels: Sequence[str]) -> _Path | None:
    """The domains of a node, from the widest to the first that it lacks; None for a node that is not of the flavor."""
    if any(own.labels.get(key, of.labels.get(key)) != value for key, value in node_labels.items()):
        return None
    values = [own.labels.get(level, of.labels.get(level)) for level in levels]
    return tuple(value for value in takewhile(lambda each: each is not None, values) if value is not None)


def _sum_of_amounts(amounts: Iterable[Amounts]) -> Amounts:
    total = Counter[str]()
    for each in amounts:
        total.update(each)
    return dict(total)


_UNBOUNDED: Final = 2**62

_MOST_LEVELS: Final = 16
"""KQ:apis/kueue/v1beta2/topology_types.go allows as many; the API server refuses longer lists."""


class TopologyNodes(Struct):
    """The nodes of a cluster for placement by topology; kept until a node or usher.yaml changes."""

    places: Places
    vocabulary: Vocabulary
    from_classes: frozenset[str] = frozenset()
    """Extended resources that device classes serve; nodes need not advertise them."""
    forests: dict[object, Forest] = field(default_factory=dict)
    counted: tuple[tuple[Forest, object, int], ...] = ()
    """The last results of `most_slices`, each with what was asked; flavors and numbers of pods share them."""

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
        found = nodes_places.demand_of_pod_set(asked.as_admitted, self.vocabulary, from_classes=self.from_classes)
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
"""How many flavors and topologies are kept, and how many counts of them."""


class PodsToPlace(Struct, frozen=True, kw_only=True):
    """Pods that have to be placed together."""

    pods: int
    each: PodDemand
    leader: PodDemand | None = None
    """One more pod, in the same place."""
    placement: TopologyPlacement

    @property
    def slices(self) -> int:
        """How many slices the pods are; a pod without slices is a slice by itself."""
        return self.pods // self.placement.slice_size


class _Count(Struct, frozen=True, kw_only=True):
    """The pods and slices that a domain holds."""

    pods: int
    slices: int = 0
    beside_leader: int = 0
    """Pods, where one node has the leader as well."""
    slices_beside_leader: int = 0
    leader: bool = True
    """Whether a node could hold the leader; true without a leader."""


def room_refusal(
    flavor: Flavor, topology: Topology, unit: Sequence[CountedPods], nodes: TopologyNodes
) -> FlavorRefusal | str | None:
    """Why the nodes of a flavor never hold some pods; None where they could.

    Returns:
        A text where a missing fact decides.
    """
    largest = max(unit, key=lambda each: each.pods)
    known = topology.levels if len(set(topology.levels)) == len(topology.levels) <= _MOST_LEVELS else ()
    placement = kueue_flavors.topology_placement(largest.pod_set, known)
    wanted = None if placement is None else pods_to_place(unit, flavor, placement, nodes)
    if wanted is None or not wanted.pods:
        return None
    forest = nodes.forest(flavor, topology.levels)
    held = most_slices(wanted, forest, nodes)
    if held >= wanted.slices:
        return None
    unreadable = nodes.places.nodes.unreadable
    if unreadable:
        return f"Node {min(unreadable)} cannot be read: {unreadable[min(unreadable)]}"
    growing = growing_place(wanted, nodes.growing(flavor))
    if growing is not None:
        return f"the nodes of flavor {flavor.name} hold too few of the pods, but {growing.name} may get more nodes"
    held *= wanted.placement.slice_size
    left_out = _left_out(forest)
    reason = _too_few_text(wanted, held) + (f", because {left_out}" if left_out else "")
    unlabelled = min(forest.without, default="")
    barred = _barred(wanted.each, flavor, topology, nodes)
    if barred:
        taint = min(barred)
        names = barred[taint]
        reason += f"; {_listed(names)} {'has' if len(names) == 1 else 'have'} the taint {taint}"
    return FlavorRefusal(
        flavor=flavor.name,
        reason=reason,
        by_topology=True,
        held=held,
        unlabelled=unlabelled,
        taint=min(barred, default=""),
    )


def _barred(demand: PodDemand, flavor: Flavor, topology: Topology, nodes: TopologyNodes) -> dict[str, list[str]]:
    """By taint: the nodes of the flavor that the pods do not tolerate. Kueue looks at taints only of single nodes."""
    found = defaultdict[str, list[str]](list)
    for place in nodes.places.all if topology.levels[-1] == HOSTNAME else ():
        taints = nodes_places.blocking_taints(demand, place)
        for name, own in place.nodes.nodes.items() if place.nodes is not None and taints else ():
            if place.nodes is not None and _domain_path(place.nodes, own, flavor.node_labels, ()) is not None:
                found[str(taints[0])].append(name)
    return found


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(sorted(names)[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"{'node' if len(names) == 1 else 'nodes'} {shown}"


def _left_out(forest: Forest) -> str:
    """`nodes g1, g2 lack the label rack of the Topology`; empty where no node lacks a level."""
    parts = []
    for level, names in sorted(forest.without.items()):
        parts.append(f"{_listed(names)} lack{'s' * (len(names) == 1)} the label {level}")
    return f"{' and '.join(parts)} of the Topology" if parts else ""


_SHOWN: Final = 3
"""Names of nodes in a message."""


def _too_few_text(wanted: PodsToPlace, held: int) -> str:
    where = f" in one {wanted.placement.required}" if wanted.placement.required else ""
    beside = " beside the leader" if wanted.leader is not None else ""
    size = wanted.placement.slice_size
    slices = f", {size} in one {wanted.placement.slice_level}" if size > 1 else ""
    return f"its nodes hold at most {held} of the {wanted.pods} pods{where}{beside}{slices}"


def pods_to_place(
    unit: Sequence[CountedPods], flavor: Flavor, placement: TopologyPlacement, nodes: TopologyNodes
) -> PodsToPlace | None:
    """The pods of a unit; None where usher does not count how many of them the nodes hold."""
    if len(unit) > 2 or (len(unit) == 2 and min(each.pods for each in unit) != 1):
        return None
    demands = [nodes.demand(each, flavor) for each in unit]
    workers = max(range(len(unit)), key=lambda index: unit[index].pods)
    if any(each.too_large or each.node_name for each in demands) or unit[workers].pods < placement.slice_size:
        return None
    leader = None if len(unit) == 1 else demands[1 - workers]
    return PodsToPlace(pods=unit[workers].pods, each=demands[workers], leader=leader, placement=placement)


def most_slices(asked: PodsToPlace, forest: Forest, nodes: TopologyNodes) -> int:
    """The most slices that find room in one domain of the required level; in all nodes where no level is required."""
    if not forest.root.children:
        return 0
    question = (asked.each, asked.leader, asked.placement)
    for of, before, held in nodes.counted:
        if of is forest and before == question:
            return held
    held = _most_slices(asked, forest, nodes)
    nodes.counted = ((forest, question, held), *nodes.counted[: _MOST_FORESTS - 1])
    return held


def _most_slices(asked: PodsToPlace, forest: Forest, nodes: TopologyNodes) -> int:
    counting = _Counting(asked, forest, nodes.places)
    level = asked.placement.required
    domains = [forest.root] if not level else forest.domains(level)
    depth = 0 if not level else forest.levels.index(level) + 1
    found = [counting.of(domain, depth) for domain in domains]
    return max((each.slices_beside_leader if asked.leader else each.slices for each in found if each.leader), default=0)


def growing_place(asked: PodsToPlace, places: Sequence[Place]) -> Place | None:
    """A place whose future nodes could help; None where each of them is too small for what one host must hold."""
    for place in places:
        one_host = asked.placement.required == HOSTNAME
        if not one_host or any(
            _pods_in_amounts(asked.each, amounts, open_to=None) >= asked.pods for amounts in place.frontier
        ):
            return place
    return None


class _Counting:
    def __init__(self, asked: PodsToPlace, forest: Forest, places: Places) -> None:
        self._asked = asked
        self._slice_depth = forest.levels.index(asked.placement.slice_level) + 1
        self._individual = places.nodes.individual
        self._kept: dict[tuple[int, int], _Count] = {}

    def of(self, domain: Domain, depth: int) -> _Count:
        """The pods and slices that a domain holds; `depth` is the number of its level, and 0 for all nodes."""
        key = id(domain), depth
        if key not in self._kept:
            self._kept[key] = self._count_pods(domain, depth)
        return self._kept[key]

    def _count_pods(self, domain: Domain, depth: int) -> _Count:
        found = self._parent(domain, depth) if domain.children else self._leaf(domain)
        if depth != self._slice_depth:
            return found
        size = self._asked.placement.slice_size
        return replace(found, slices=found.pods // size, slices_beside_leader=found.beside_leader // size)

    def _leaf(self, domain: Domain) -> _Count:
        asked = self._asked
        if domain.place is not None and not self._admits(domain.place):
            return _Count(pods=0, leader=False)
        pods = _pods_in_amounts(asked.each, domain.amounts, open_to=0)
        if asked.leader is None:
            return _Count(pods=pods, beside_leader=pods)
        if not _pods_in_amounts(asked.leader, domain.amounts, open_to=0):
            return _Count(pods=pods, beside_leader=pods, leader=False)
        left = {name: amount - asked.leader.amounts.get(name, 0) for name, amount in domain.amounts.items()}
        if PODS in left:
            left[PODS] -= 1
        return _Count(pods=pods, beside_leader=_pods_in_amounts(asked.each, left, open_to=0))

    def _admits(self, place: Place) -> bool:
        """Whether a class of nodes admits the pods. Labels that differ from node to node count as met."""
        demand = self._asked.each
        return not nodes_places.blocking_taints(demand, place) and any(
            not nodes_places.unmet_requirements(each, place, self._individual) for each in demand.alternatives
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


def _pods_in_amounts(demand: PodDemand, amounts: Amounts, *, open_to: int | None) -> int:
    """How many pods find room in some amounts; a missing amount is `open_to`, and None means without a bound."""
    missing = _UNBOUNDED if open_to is None else open_to
    found = [amounts.get(PODS, _UNBOUNDED)]
    for name, asks in demand.amounts.items():
        found.append(max(amounts.get(name, missing), 0) // asks)
    return min(found)


def open_questions(unit: Sequence[CountedPods], flavor: Flavor, topology: Topology, nodes: TopologyNodes) -> list[str]:
    """The questions that `room_refusal` leaves open about pods in a flavor; empty where empty nodes hold all of them.

    KQ:pkg/cache/scheduler/tas_flavor_snapshot.go: pod sets of one workload add up (addAssumedUsage, line 734), and
    selectors count only where the lowest level is the host name (fillInCounts, line 1800).
    """
    found = []
    sets = {each.pod_set.annotations.get(_GROUP) or each.pod_set.path for each in unit}
    if len(sets) > 1 and not _fit_in_any_order(unit, flavor, topology, nodes):
        found.append("its pod sets share the nodes of a Topology, and usher does not place them together")
    own = nodes.places.nodes.individual
    for each in unit:
        name = each.pod_set.name or "the pods"
        size = each.pod_set.annotations.get(kueue_flavors.SLICE_SIZE, "1")
        if not each.pods:
            found.append(f"{name} has no pods now, and usher does not know what a Topology gives them")
        elif not each.each:
            found.append(f"{name} asks for no resource, so no flavor with a Topology is theirs")
        elif size.isdecimal() and int(size[:9]) and (each.pods % int(size[:9])):
            found.append(f"{each.pods} pods of {name} do not fill slices of {size}")
        keys = {one.key for terms in nodes.demand(each, flavor).alternatives for part in terms for one in part}
        if any(key in own for key in keys) or (keys - flavor.node_labels.keys() and topology.levels[-1] != HOSTNAME):
            found.append(f"{name} selects nodes that usher does not distinguish in a Topology")
    return found


_GROUP: Final = "kueue.x-k8s.io/podset-group-name"


def _fit_in_any_order(unit: Sequence[CountedPods], flavor: Flavor, topology: Topology, nodes: TopologyNodes) -> bool:
    """Whether each set finds nodes wherever Kueue puts the others. False where a set needs one domain or slices.

    KQ:pkg/cache/scheduler/tas_flavor_snapshot.go:606 places one set after the other, and revises no choice.
    """
    annotations = [key for each in unit for key in each.pod_set.annotations]
    if topology.levels[-1] != HOSTNAME or kueue_flavors.REQUIRED_TOPOLOGY in annotations:
        return False
    if kueue_flavors.SLICE_SIZE in annotations or kueue_flavors.SLICE_CONSTRAINTS in annotations:
        return False
    own = [
        (place, each.amounts)
        for place in nodes.places.all
        if place.nodes is not None
        for each in place.nodes.nodes.values()
        if len(_domain_path(place.nodes, each, flavor.node_labels, topology.levels) or ()) == len(topology.levels)
    ]
    asked = [(nodes.demand(each, flavor), each.pods) for each in unit]
    for index, (demand, pods) in enumerate(asked):
        blocked = {id(place) for place, _ in own if nodes_places.blocking_taints(demand, place)}
        held = sum(_pods_in_amounts(demand, amounts, open_to=0) for place, amounts in own if id(place) not in blocked)
        others = (each for place, each in enumerate(asked) if place != index)
        if held - sum(_room_taken(demand, other) * number for other, number in others) < pods:
            return False
    return True


def _room_taken(demand: PodDemand, other: PodDemand) -> int:
    """For how many fewer pods a node has room once it holds a pod of another demand, at most."""
    return max((-(-other.amounts.get(name, 0) // asks) for name, asks in demand.amounts.items()), default=1) or 1
