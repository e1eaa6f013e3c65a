"""Judges whether any empty node could ever hold one pod of a pod set, and what the nearest place lacks."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from usher.authorities.nodes import obstacles as nodes_obstacles
from usher.authorities.nodes.obstacles import Obstacles
from usher.authorities.nodes.places import Place, Places
from usher.authorities.nodes.pod_demand import Alternative, PodDemand
from usher.authorities.verdict import Answer
from usher.cluster.facts.nodes import NodeClass, Nodes
from usher.dataclass import dataclass
from usher.model import placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The place that lacks least."""

    place: Place | None
    """None where the cluster has no node, or no node with the name that the pod gives."""
    obstacles: Obstacles


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVerdict:
    """Whether nodes could hold one pod if they were empty."""

    answer: Answer
    """NEVER, UNKNOWN or COULD."""
    reason: str = ""
    """Why the answer is UNKNOWN."""
    nearest: Nearest | None = None
    """The nearest place, where the pod never fits."""
    crowded: Place | None = None
    """A place where the pod fits, but whose kubelets refuse it: it asks for more GPUs than one NUMA node has."""


_FITS: Final = NodeVerdict(answer=Answer.COULD)


def judge(demand: PodDemand, places: Places) -> NodeVerdict:
    """The verdict on one pod. The cost grows with the number of node classes, not of nodes."""
    if demand.too_large:
        return _unknown("its node affinity has more terms and values than usher reads")
    if not demand.from_classes:
        return _judged(demand, places)
    found = _judged(replace(demand, from_classes=frozenset()), places)
    if found.answer is not Answer.NEVER or _judged(demand, places).answer is Answer.NEVER:
        return found
    names = ", ".join(sorted(demand.from_classes))
    return _unknown(f"{names} may come from a DeviceClass, and usher does not know which nodes have its devices")


def _judged(demand: PodDemand, places: Places) -> NodeVerdict:
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
        return _unknown(_unreadable(places.nodes))
    return NodeVerdict(answer=Answer.NEVER, nearest=_nearest(demand, places))


def _unknown(reason: str) -> NodeVerdict:
    return NodeVerdict(answer=Answer.UNKNOWN, reason=reason)


def could_hold(demand: PodDemand, place: Place, nodes: Nodes) -> bool:
    """Whether some node of the place could hold one pod."""
    return any(True for _ in _holding(demand, place, nodes))


def holding_nodes(demand: PodDemand, place: Place, nodes: Nodes) -> int:
    """How many existing nodes of the class could hold one pod.

    If one node of the class could, all of them count. So this is an upper bound; it is exact where the pod selects by
    labels that differ from node to node.
    """
    if place.nodes is None:
        return 0
    found = 0
    for names in _holding(demand, place, nodes):
        if names is None:
            return place.nodes.count
        found += 1
    return found


def _holding(demand: PodDemand, place: Place, nodes: Nodes) -> Iterator[str | None]:
    """The names of nodes where individual labels decide; None where the class decides."""
    if not any(nodes_obstacles.fits_amounts(demand, amounts, place.template) for amounts in place.frontier):
        return
    if nodes_obstacles.of_taints(demand, place):
        return
    own = nodes.individual
    alternatives = [
        alternative for alternative in demand.alternatives if not nodes_obstacles.of_labels(alternative, place, own)
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
        and nodes_obstacles.fits_amounts(demand, own.amounts, None)
    )


def _conditional(demand: PodDemand, holding: Sequence[Place]) -> NodeVerdict:
    """The verdict where every place that could hold the pod has a condition."""
    if demand.claims_devices:
        return _unknown("it claims devices, and usher does not know which nodes have them")
    if all(place.may_never_be for place in holding):
        return _unknown(
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
        return _unknown(_unreadable(places.nodes, name))
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
        pool=next((each.pool for each in places.all if each.nodes is found), None),
    )
    missing = nodes_obstacles.least(
        replace(demand, alternatives=_on_node(demand.alternatives, name)), place, frozenset()
    )
    if missing:
        return NodeVerdict(answer=Answer.NEVER, nearest=Nearest(place=place, obstacles=missing))
    return _conditional(demand, [place])


def _on_node(alternatives: tuple[Alternative, ...], name: str) -> tuple[Alternative, ...]:
    return tuple(
        alternative
        for alternative in alternatives
        if all(placement.name_matches(each, name) for each in alternative.on_fields)
    )


def _nearest(demand: PodDemand, places: Places) -> Nearest:
    own = places.nodes.individual
    found: list[Nearest] = []
    for place in places.all:
        missing = nodes_obstacles.least(demand, place, own)
        found.append(Nearest(place=place, obstacles=missing or _individual_obstacles(demand, place, own)))
    if not found:
        return Nearest(place=None, obstacles=Obstacles())
    return min(found, key=lambda each: (*each.obstacles.weight, each.place.name if each.place is not None else ""))


def _individual_obstacles(demand: PodDemand, place: Place, own: Container[str]) -> Obstacles:
    """The individual labels or names that keep a pod off the nodes of a class that itself fits."""
    fitting = [each for each in demand.alternatives if not nodes_obstacles.of_labels(each, place, own)]
    missing = min((_individual(each, own) for each in fitting), key=lambda each: len(each.on_labels + each.on_fields))
    return Obstacles(labels=missing.on_labels, names=missing.on_fields)


def _unreadable(nodes: Nodes, name: str = "") -> str:
    name = name or min(nodes.unreadable)
    more = len(nodes.unreadable) - 1
    return f"Node {name} cannot be read: {nodes.unreadable[name]}" + (f"; nor can {more} more" if more else "")
