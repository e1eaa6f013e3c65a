"""The nodes of a flavor by the levels of its Topology: which domains there are, and which nodes they have.

KQ:pkg/cache/scheduler/tas_topology_tree.go. Equal domains are one value with a number, so that thousands of nodes cost
as much as their different racks.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from usher.authorities.nodes.places import Place, Places
from usher.cluster.facts.nodes import Amounts, NodeClass, Own
from usher.dataclass import dataclass

HOSTNAME: Final = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
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
        for place in places.all:
            if place.nodes is not None:
                for own in place.nodes.nodes.values():
                    path = _path(place.nodes, own, node_labels, self.levels)
                    if path is not None:
                        by_path[path].append((place, own.amounts))
        self._by_level: dict[int, dict[Domain, int]] = {}
        self.whole = self._grown({path: self._leaf(nodes) for path, nodes in by_path.items()})
        """The domain above the first level."""

    def domains(self, level: str) -> Iterable[Domain]:
        """The different domains of a level."""
        return self._by_level.get(self.levels.index(level), {})

    def _leaf(self, nodes: Sequence[tuple[Place, Amounts]]) -> Domain:
        alone = len(nodes) == 1 and self.levels[-1] == HOSTNAME
        place = nodes[0][0] if alone else None
        total = nodes[0][1] if alone else _sum(amounts for _, amounts in nodes)
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


def _path(of: NodeClass, own: Own, node_labels: Mapping[str, str], levels: Sequence[str]) -> _Path | None:
    """The domains of a node, from the widest; None for a node that is not one of the flavor, or lacks a level."""
    if any(own.labels.get(key, of.labels.get(key)) != value for key, value in node_labels.items()):
        return None
    values = [own.labels.get(level, of.labels.get(level)) for level in levels]
    found = tuple(value for value in values if value is not None)
    return found if len(found) == len(levels) else None


def _sum(amounts: Iterable[Amounts]) -> Amounts:
    total = Counter[str]()
    for each in amounts:
        total.update(each)
    return dict(total)
