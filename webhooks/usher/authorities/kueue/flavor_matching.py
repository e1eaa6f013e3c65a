"""Which flavors of a queue take pod sets, by taints, labels and topologies."""

from dataclasses import field
from typing import Final

from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import flavors as kueue_flavors
from usher.authorities.kueue import topology_room, versions
from usher.authorities.kueue.configuration import Configuration
from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavor_choice import Unit
from usher.authorities.kueue.flavors import Flavor, FlavorRefusal
from usher.authorities.kueue.queues import ClusterQueue, ResourceGroup
from usher.authorities.kueue.read import Cluster
from usher.authorities.kueue.verdict import UnmatchedPods
from usher.dataclass import dataclass

LABELS_BY_VERSION: Final = (
    "Kueue before 0.17.6, 0.18.0 and 0.18.1 also refuse a flavor for a label that only another flavor declares, "
    "and usher does not know the version"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The flavors of a group that take a unit, in the order of the queue."""

    flavors: tuple[str, ...]
    sure: tuple[str, ...]
    """The flavors that take it in every version of Kueue that may run."""
    unmatched: UnmatchedPods | None = None
    """Set where no flavor takes the unit."""
    crowded: bool = False
    """Whether a flavor is left out because its nodes hold too few of the pods."""


@dataclass(slots=True)
class Matching:
    """Compares pod sets with the flavors of one queue."""

    queue: ClusterQueue
    cluster: Cluster
    configuration: Configuration
    unknowns: dict[str, None] = field(default_factory=dict)
    """Missing facts about flavors."""

    def of(self, group: ResourceGroup, unit: Unit) -> Matched:
        """The flavors of a group that take all pods of a unit."""
        found: list[str] = []
        sure: list[str] = []
        refusals: list[tuple[CountedPods, FlavorRefusal]] = []
        for name in group.flavors:
            refused = next(((each, no) for each in unit if (no := self._refusal(name, group, each))), None)
            if refused is None and (full := self._full(name, unit)) is not None:
                refused = (unit[0], full)
            if refused is not None:
                refusals.append(refused)
                continue
            found.append(name)
            if self._takes_in_every_version(name, group, unit):
                sure.append(name)
        if found:
            crowded = any(refusal.held is not None for _, refusal in refusals)
            return Matched(flavors=tuple(found), sure=tuple(sure), crowded=crowded)
        unmatched = UnmatchedPods(
            pods=refusals[0][0] if refusals else unit[0],
            resources=tuple(sorted(name for name in group.resources if any(each.names(name) for each in unit))),
            refusals=tuple(refusal for _, refusal in refusals),
        )
        return Matched(flavors=(), sure=(), unmatched=unmatched)

    def _refusal(self, name: str, group: ResourceGroup, asked: CountedPods) -> FlavorRefusal | None:
        flavor = self._flavor(name)
        if flavor is None:
            return None
        own = versions.looks_at_own_labels(self.configuration.version) is not False
        keys = flavor.node_labels.keys() if own else self._labels(group)
        refused = kueue_flavors.refusal(flavor, asked.whole, keys)
        if refused is not None or not self.configuration.places_by_topology:
            return refused
        return kueue_flavors.topology_refusal(
            flavor,
            asked.pod_set,
            self._levels(flavor, asked),
            overlaps=not group.resources.isdisjoint(kueue_demand.named(asked.whole)),
            only_topologies=self._only_topologies(),
        )

    def _takes_in_every_version(self, name: str, group: ResourceGroup, unit: Unit) -> bool:
        flavor = (self.cluster.flavors or {}).get(name)
        if flavor is None or flavor.problems or versions.looks_at_own_labels(self.configuration.version) is not None:
            return True
        return not any(kueue_flavors.refusal(flavor, each.whole, self._labels(group)) for each in unit)

    def _full(self, name: str, unit: Unit) -> FlavorRefusal | None:
        """Why the nodes of a flavor never hold the pods where its Topology has to place them."""
        flavor = (self.cluster.flavors or {}).get(name)
        topology = (self.cluster.topologies or {}).get(flavor.topology) if flavor is not None else None
        nodes = self.cluster.nodes
        if flavor is None or topology is None or flavor.problems or topology.problems or nodes is None:
            return None
        if self.queue.has_checks is not False or not self.configuration.places_by_topology:
            return None
        found = topology_room.refusal(flavor, topology, unit, nodes)
        if isinstance(found, str):
            self.unknowns[found] = None
            return None
        return found

    def _flavor(self, name: str) -> Flavor | None:
        """The flavor; None where it is unknown or unreadable, and the reason is recorded."""
        if self.cluster.flavors is None:
            self.unknowns["the ResourceFlavors are not known"] = None
            return None
        flavor = self.cluster.flavors.get(name)
        if flavor is None:
            self.unknowns[f"ResourceFlavor {name} does not exist"] = None
            return None
        self.unknowns |= dict.fromkeys(flavor.problems)
        return None if flavor.problems else flavor

    def _labels(self, group: ResourceGroup) -> frozenset[str]:
        """The labels that any flavor of the group declares."""
        known = self.cluster.flavors or {}
        return frozenset(key for name in group.flavors if name in known for key in known[name].node_labels)

    def _levels(self, flavor: Flavor, asked: CountedPods) -> tuple[str, ...] | None:
        if not flavor.topology or not kueue_flavors.asks_topology(asked.pod_set):
            return None
        if self.cluster.topologies is None:
            self.unknowns["the Topologies are not known"] = None
            return None
        topology = self.cluster.topologies.get(flavor.topology)
        if topology is None:
            self.unknowns[f"Topology {flavor.topology} does not exist"] = None
            return None
        self.unknowns |= dict.fromkeys(topology.problems)
        return None if topology.problems else topology.levels

    def _only_topologies(self) -> bool:
        """Whether all flavors of the queue have a Topology; an unknown flavor counts as having one."""
        known = self.cluster.flavors or {}
        return all(
            name not in known or known[name].topology or known[name].problems
            for group in self.queue.quotas.groups
            for name in group.flavors
        )
