"""Whether any node could ever hold one pod of a pod set, if it were empty, and what is missing where it is nearest."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from usher.authorities.nodes import obstacles as nodes_obstacles
from usher.authorities.nodes.obstacles import Obstacles
from usher.authorities.nodes.places import Place, Places
from usher.authorities.nodes.pod_demand import Ask, Way
from usher.facts.node_classes import NodeClass
from usher.facts.node_table import Nodes
from usher.scheduling import requirements


class Verdict(StrEnum):
    FITS = "fits"
    """Some place could hold it, as far as anybody knows."""
    NEVER = "never"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The place of which the least is missing."""

    place: Place | None
    """None where there is no node at all, or none of the name that the pod gives."""
    obstacles: Obstacles


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasibility:
    verdict: Verdict
    reason: str = ""
    """Why it is unknown."""
    nearest: Nearest | None = None
    """Where it never fits."""
    crowded: Place | None = None
    """Where it fits only on nodes whose kubelets refuse it: it asks for more GPUs than one NUMA node has."""


_FITS: Final = Feasibility(verdict=Verdict.FITS)


def judge(ask: Ask, places: Places) -> Feasibility:
    """The verdict about one pod. What it costs does not depend on how many nodes there are, but on how many kinds."""
    if ask.too_large:
        return _unknown("its node affinity has more terms and values than are looked through")
    if not ask.from_classes:
        return _judged(ask, places)
    found = _judged(replace(ask, from_classes=frozenset()), places)
    if found.verdict is not Verdict.NEVER or _judged(ask, places).verdict is Verdict.NEVER:
        return found
    names = ", ".join(sorted(ask.from_classes))
    return _unknown(f"{names} may come from a DeviceClass, and which nodes have its devices is not known")


def _judged(ask: Ask, places: Places) -> Feasibility:
    if ask.node_name:
        return _on_named_node(ask, places)
    holding: list[Place] = []
    for place in places.all:
        if could_hold(ask, place, places.nodes):
            if not (ask.claims_devices or place.may_never_be or _is_crowded(ask, place)):
                return _FITS
            holding.append(place)
    if holding:
        return _with_doubt(ask, holding)
    if places.nodes.unreadable:
        return _unknown(_unreadable(places.nodes))
    return Feasibility(verdict=Verdict.NEVER, nearest=_nearest(ask, places))


def _unknown(reason: str) -> Feasibility:
    return Feasibility(verdict=Verdict.UNKNOWN, reason=reason)


def could_hold(ask: Ask, place: Place, nodes: Nodes) -> bool:
    """Whether some node of the place could hold one pod."""
    return any(True for _ in _holding(ask, place, nodes))


def holding_nodes(ask: Ask, place: Place, nodes: Nodes) -> int:
    """How many nodes of the class are there that could hold one pod; as many as it has where any of them does.

    An upper bound, and exact where the pod selects by labels that differ from node to node.
    """
    if place.nodes is None:
        return 0
    found = 0
    for names in _holding(ask, place, nodes):
        if names is None:
            return place.nodes.count
        found += 1
    return found


def _holding(ask: Ask, place: Place, nodes: Nodes) -> Iterator[str | None]:
    """None where the class decides; the names of nodes where it depends on what is their own."""
    if not any(nodes_obstacles.fits_amounts(ask, amounts, place.template) for amounts in place.frontier):
        return
    if nodes_obstacles.of_taints(ask, place):
        return
    own = nodes.individual
    ways = [way for way in ask.ways if not nodes_obstacles.of_labels(way, place, own)]
    if place.nodes is None:
        if ways:
            yield None
        return
    beside = [_beside(way, own) for way in ways]
    if any(not (way.on_labels or way.on_fields) for way in beside):
        yield None
        return
    seen = set[str]()
    for way in beside:
        for name in _candidates(way, place.nodes, nodes):
            if name not in seen and _is_met(ask, way, place.nodes, name):
                seen.add(name)
                yield name


def _beside(way: Way, own: Container[str]) -> Way:
    return Way(tuple(each for each in way.on_labels if each.key in own), way.on_fields)


def _candidates(way: Way, of_class: NodeClass, nodes: Nodes) -> Iterable[str]:
    """Nodes of the class among which all are that meet what a way says of their own."""
    found: set[str] | None = None
    for each in way.on_fields:
        if each.operator == "In":
            found = {*each.values} if found is None else found.intersection(each.values)
    for each in way.on_labels:
        if each.operator == "In":
            values = nodes.individual[each.key]
            names = set[str]().union(*(values.get(value, ()) for value in each.values))
            found = names if found is None else found & names
        elif each.operator in ("Exists", "Gt", "Lt") and not nodes.individual[each.key]:
            return ()
    return of_class.nodes if found is None else sorted(name for name in found if name in of_class.nodes)


def _is_met(ask: Ask, way: Way, of_class: NodeClass, name: str) -> bool:
    own = of_class.nodes[name]
    return (
        all(requirements.labels_match(each, own.labels) for each in way.on_labels)
        and all(requirements.name_matches(each, name) for each in way.on_fields)
        and nodes_obstacles.fits_amounts(ask, own.amounts, None)
    )


def _with_doubt(ask: Ask, holding: Sequence[Place]) -> Feasibility:
    """The verdict where there is something about every place that could hold the pod."""
    if ask.claims_devices:
        return _unknown("it claims devices, and which nodes have these is not known")
    if all(place.may_never_be for place in holding):
        return _unknown(
            f"it fits {holding[0].name} alone, which has no node, and usher.yaml does not say scalesFromZero of it"
        )
    crowded = next((place for place in holding if _is_crowded(ask, place)), None)
    return Feasibility(verdict=Verdict.FITS, crowded=crowded)


def _is_crowded(ask: Ask, place: Place) -> bool:
    gpu = None if place.pool is None else place.pool.gpu
    if gpu is None or gpu.per_numa_node is None:
        return False
    return ask.in_one_container.get("nvidia.com/gpu", 0) > gpu.per_numa_node


def _on_named_node(ask: Ask, places: Places) -> Feasibility:
    """A pod that names its node passes the scheduler by; the kubelet looks at resources, labels and eviction."""
    name = ask.node_name
    if name in places.nodes.unreadable:
        return _unknown(_unreadable(places.nodes, name))
    found = places.nodes.by_name.get(name)
    if found is None:
        named = requirements.Requirement(key=requirements.NAME_FIELD, operator="In", values=(name,))
        return Feasibility(verdict=Verdict.NEVER, nearest=Nearest(place=None, obstacles=Obstacles(names=(named,))))
    own = found.nodes[name]
    place = Place(
        name=f"node {name}",
        labels={**found.labels, **own.labels},
        taints=found.taints,
        frontier=(own.amounts,),
        pool=next((each.pool for each in places.all if each.nodes is found), None),
    )
    missing = nodes_obstacles.least(replace(ask, ways=_on_node(ask.ways, name)), place, frozenset())
    if missing:
        return Feasibility(verdict=Verdict.NEVER, nearest=Nearest(place=place, obstacles=missing))
    return _with_doubt(ask, [place])


def _on_node(ways: tuple[Way, ...], name: str) -> tuple[Way, ...]:
    return tuple(way for way in ways if all(requirements.name_matches(each, name) for each in way.on_fields))


def _nearest(ask: Ask, places: Places) -> Nearest:
    own = places.nodes.individual
    found: list[Nearest] = []
    for place in places.all:
        missing = nodes_obstacles.least(ask, place, own)
        found.append(Nearest(place=place, obstacles=missing or _of_their_own(ask, place, own)))
    if not found:
        return Nearest(place=None, obstacles=Obstacles())
    return min(found, key=lambda each: (*each.obstacles.weight, each.place.name if each.place is not None else ""))


def _of_their_own(ask: Ask, place: Place, own: Container[str]) -> Obstacles:
    """What is missing where a class would do, but none of its nodes does by what is its own."""
    ways = [_beside(way, own) for way in ask.ways if not nodes_obstacles.of_labels(way, place, own)]
    way = min(ways, key=lambda each: len(each.on_labels) + len(each.on_fields))
    return Obstacles(labels=way.on_labels, names=way.on_fields)


def _unreadable(nodes: Nodes, name: str = "") -> str:
    name = name or min(nodes.unreadable)
    more = len(nodes.unreadable) - 1
    return f"Node {name} cannot be read: {nodes.unreadable[name]}" + (f"; nor can {more} more" if more else "")
