"""Judges whether a ClusterQueue could ever admit a workload if the cluster were empty.

docs/domain/kueue.md#order-of-decisions gives the steps, and docs/domain/kueue.md#potential the amounts. Kueue takes one
flavor for each pod set and resource group, and adds up the demand on each flavor. For NEVER, all unknowns are assumed
to favour the workload; for COULD, all unknowns are assumed to be against it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from usher import model
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import flavors as kueue_flavors
from usher.authorities.kueue.capacity import Supply
from usher.authorities.kueue.configuration import Configuration
from usher.authorities.kueue.demand import PODS, CountedPods, Demand
from usher.authorities.kueue.flavor_choice import Unit, assigned, in_order
from usher.authorities.kueue.flavor_shortage import Room
from usher.authorities.kueue.flavors import Flavor, FlavorRefusal
from usher.authorities.kueue.queues import ClusterQueue, FlavorResource, ResourceGroup
from usher.authorities.kueue.read import Cluster
from usher.authorities.kueue.verdict import FlavorChoice, FlavorShortage, KueueVerdict, UnmatchedPods
from usher.authorities.verdict import Answer

POD_SET_GROUP: Final = "kueue.x-k8s.io/podset-group-name"


@dataclass(slots=True)
class _Search:
    """The search for flavors of one queue for one demand."""

    queue: ClusterQueue
    demand: Demand
    cluster: Cluster
    supply: Supply
    choices: list[FlavorChoice] = field(default_factory=list)
    takes_all: bool = True
    unmatched: list[UnmatchedPods] = field(default_factory=list)
    shortages: list[FlavorShortage] = field(default_factory=list)
    unknowns: dict[str, None] = field(default_factory=dict)

    def try_group(self, group: ResourceGroup) -> None:
        """Searches a flavor of the group for each pod set that names any of its resources, even with an amount of 0."""
        members: dict[str, list[CountedPods]] = {}
        for index, asked in enumerate(self.demand.asked):
            if any(asked.names(resource) for resource in group.resources):
                members.setdefault(asked.pod_set.annotations.get(POD_SET_GROUP) or str(index), []).append(asked)
        units = [tuple(each) for each in members.values()]
        allowed = [self._flavors(group, unit) for unit in units]
        if not all(allowed):
            return
        resources = sorted({name for unit in units for each in unit for name in group.resources if each.total(name)})
        found = assigned(units, allowed, resources, self._bound)
        problems = self.supply.problems(self.queue)
        if found is False:
            room = Room(queue=self.queue, units=units, allowed=allowed, resources=resources, most=self._bound)
            self.shortages += room.shortages()
        elif found is None:
            self.unknowns["the queue has too many ways to choose flavors"] = None
        elif problems and not assigned(units, allowed, resources, self._certain):
            self.unknowns |= dict.fromkeys(problems)
        else:
            self._take(units, allowed, resources)

    def _take(self, units: Sequence[Unit], allowed: Sequence[Sequence[str]], resources: list[str]) -> None:
        flavors = in_order(units, allowed, resources, self._certain)
        if flavors is None:
            self.takes_all = False
            return
        for unit, flavor in zip(units, flavors, strict=True):
            for each in unit:
                names = tuple(name for name in resources if each.total(name))
                if names:
                    self.choices.append(FlavorChoice(pods=each, resources=names, flavor=flavor))

    def _flavors(self, group: ResourceGroup, unit: Unit) -> list[str]:
        """The flavors that take all pods of a unit, in the order of the queue."""
        allowed: list[str] = []
        refusals: list[tuple[CountedPods, FlavorRefusal]] = []
        for name in group.flavors:
            refused = next(((each, no) for each in unit if (no := self._refusal(name, group, each))), None)
            if refused is None:
                allowed.append(name)
            else:
                refusals.append(refused)
        if not allowed:
            self.unmatched.append(
                UnmatchedPods(
                    pods=refusals[0][0] if refusals else unit[0],
                    resources=tuple(sorted(name for name in group.resources if any(each.names(name) for each in unit))),
                    refusals=tuple(refusal for _, refusal in refusals),
                )
            )
        return allowed

    def _refusal(self, name: str, group: ResourceGroup, asked: CountedPods) -> FlavorRefusal | None:
        if self.cluster.flavors is None:
            self.unknowns["the ResourceFlavors are not known"] = None
            return None
        flavor = self.cluster.flavors.get(name)
        if flavor is None:
            self.unknowns[f"ResourceFlavor {name} does not exist"] = None
            return None
        if flavor.problems:
            self.unknowns |= dict.fromkeys(flavor.problems)
            return None
        return kueue_flavors.refusal(flavor, asked.pod_set) or kueue_flavors.topology_refusal(
            flavor,
            asked.pod_set,
            self._levels(flavor, asked),
            overlaps=not group.resources.isdisjoint(kueue_demand.named(asked.whole)),
            only_topologies=self._only_topologies(),
        )

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

    def _bound(self, flavor_resource: FlavorResource) -> int:
        return self.supply.bound(self.queue, flavor_resource)

    def _certain(self, flavor_resource: FlavorResource) -> int:
        return self.supply.of(self.queue, flavor_resource)


def judge(
    demand: Demand,
    queue: ClusterQueue,
    cluster: Cluster,
    configuration: Configuration,
    *,
    supply: Supply | None = None,
) -> KueueVerdict:
    """The verdict of the queue on a demand.

    Args:
        demand: the pods that Kueue admits together.
        queue: the queue.
        cluster: the facts of Kueue.
        configuration: the configuration of Kueue.
        supply: the room of the queue; by default its capacity, even if other workloads run or the queue is stopped.
    """
    search = _Search(queue=queue, demand=demand, cluster=cluster, supply=supply or cluster.capacities)
    for group in queue.quotas.groups:
        search.try_group(group)
    uncovered = () if configuration.ignores_undeclared else _uncovered(demand, queue)
    doubts = dict.fromkeys(configuration.problems)
    doubts |= {
        f"usher does not know what else {_asking(asked.pod_set)} for": None
        for asked in demand.asked
        if not asked.pod_set.whole
    }
    if uncovered or search.unmatched:
        doubts |= dict.fromkeys(queue.problems)
    if not doubts and (uncovered or search.unmatched or search.shortages):
        return KueueVerdict(
            answer=Answer.NEVER,
            uncovered=uncovered,
            unmatched=tuple(search.unmatched),
            shortages=tuple(search.shortages),
        )
    unknowns = tuple(dict.fromkeys((*doubts, *demand.unknowns, *search.unknowns)))
    if unknowns or not demand.exact:
        return KueueVerdict(answer=Answer.UNKNOWN, unknowns=unknowns)
    choices = tuple(search.choices) if search.takes_all else ()
    return KueueVerdict(answer=Answer.COULD, choices=choices, takes_all=search.takes_all)


def _asking(pod_set: model.PodSet) -> str:
    return f"the pods of {pod_set.name} ask" if pod_set.name else "the pod asks"


def _uncovered(demand: Demand, queue: ClusterQueue) -> tuple[str, ...]:
    """Requested resources that no group of the queue covers."""
    names = {name for asked in demand.asked for name in asked.each if asked.total(name)}
    return tuple(sorted(name for name in names if name != PODS and queue.quotas.group_of(name) is None))
