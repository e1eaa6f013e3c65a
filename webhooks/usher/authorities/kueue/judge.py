"""Judges whether a ClusterQueue could ever admit a workload if the cluster were empty.

docs/domain/kueue.md#order-of-decisions gives the steps, and docs/domain/kueue.md#potential the amounts. Kueue takes one
flavor for each pod set and resource group, and adds up the demand on each flavor. For NEVER, all unknowns are assumed
to favour the workload; for COULD, all unknowns are assumed to be against it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from usher import model
from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue.capacity import Supply
from usher.authorities.kueue.demand import PODS, CountedPods, Demand
from usher.authorities.kueue.flavor_fit import (
    LABELS_BY_VERSION,
    FlavorChoice,
    FlavorMatcher,
    FlavorShortage,
    GroupRoom,
    KueueVerdict,
    PodSetLimit,
    Unit,
    UnmatchedPods,
    can_assign,
    choose_in_order,
)
from usher.authorities.kueue.flavors import Configuration
from usher.authorities.kueue.queues import ClusterQueue, FlavorResource, ResourceGroup
from usher.authorities.kueue.read import Cluster
from usher.authorities.verdict import Answer

POD_SET_GROUP: Final = "kueue.x-k8s.io/podset-group-name"

_Flavors = Sequence[Sequence[str]]
"""Flavors for each unit."""


class _Search(Struct):
    """The search for flavors of one queue for one demand."""

    queue: ClusterQueue
    demand: Demand
    matching: FlavorMatcher
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
        matched = [self.matching.of(group, unit) for unit in units]
        unmatched = [each.unmatched for each in matched if each.unmatched is not None]
        if unmatched:
            self.unmatched += unmatched
            return
        self.takes_all = self.takes_all and not any(each.crowded for each in matched)
        allowed, sure = [each.flavors for each in matched], [each.sure for each in matched]
        resources = sorted({name for unit in units for each in unit for name in group.resources if each.total(name)})
        found = can_assign(units, allowed, resources, self._bound)
        problems = self.supply.problems(self.queue)
        if found is False:
            room = GroupRoom(queue=self.queue, units=units, allowed=allowed, resources=resources, most=self._bound)
            self.shortages += room.shortages()
        elif found is None:
            self.unknowns["the queue has too many ways to choose flavors"] = None
        elif problems and not can_assign(units, allowed, resources, self._certain):
            self.unknowns |= dict.fromkeys(problems)
        elif sure != allowed and not (all(sure) and can_assign(units, sure, resources, self._certain)):
            self.unknowns[LABELS_BY_VERSION] = None
        else:
            self._take(units, allowed, sure, resources)

    def _take(self, units: Sequence[Unit], allowed: _Flavors, sure: _Flavors, resources: list[str]) -> None:
        flavors = choose_in_order(units, allowed, resources, self.queue, self.supply)
        if flavors is None or (
            sure != allowed and flavors != choose_in_order(units, sure, resources, self.queue, self.supply)
        ):
            self.takes_all = False
            return
        for unit, flavor in zip(units, flavors, strict=True):
            for each in unit:
                names = tuple(name for name in resources if each.total(name))
                if names:
                    self.choices.append(FlavorChoice(pods=each, resources=names, flavor=flavor))

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
        supply: the room of the queue; by default its capacity, even if other workloads run or the queue is stopped.
    """
    matching = FlavorMatcher(queue=queue, cluster=cluster, configuration=configuration)
    search = _Search(queue=queue, demand=demand, matching=matching, supply=supply or cluster.capacities)
    for group in queue.quotas.groups:
        search.try_group(group)
    uncovered = () if configuration.ignores_undeclared else tuple(_uncovered(demand, queue, configuration))
    limit = _pod_set_limit(demand, configuration)
    doubts = dict.fromkeys(configuration.problems)
    doubts |= {
        f"usher does not know what else {_asking(asked.pod_set)} for": None
        for asked in demand.asked
        if not asked.pod_set.whole
    }
    if uncovered or search.unmatched:
        doubts |= dict.fromkeys(queue.problems)
    if limit is not None or (not doubts and (uncovered or search.unmatched or search.shortages)):
        return KueueVerdict(
            answer=Answer.NEVER,
            pod_set_limit=limit,
            uncovered=() if doubts else uncovered,
            unmatched=() if doubts else tuple(search.unmatched),
            shortages=() if doubts else tuple(search.shortages),
        )
    unknowns = dict.fromkeys((*doubts, *demand.unknowns, *matching.unknowns, *search.unknowns))
    if not kueue_configuration.surely_takes_pod_sets(demand.pod_sets, configuration.version):
        unknowns[f"it has {demand.pod_sets} pod sets, and {kueue_configuration.POD_SET_LIMITS}"] = None
    if unknowns or not demand.exact:
        return KueueVerdict(answer=Answer.UNKNOWN, unknowns=tuple(unknowns))
    choices = tuple(search.choices) if search.takes_all else ()
    return KueueVerdict(answer=Answer.COULD, choices=choices, takes_all=search.takes_all)


def _asking(pod_set: model.PodSet) -> str:
    return f"the pods of {pod_set.name} ask" if pod_set.name else "the pod asks"


def _uncovered(demand: Demand, queue: ClusterQueue, configuration: Configuration) -> Iterator[str]:
    """Requested resources that no group of the queue covers."""
    zeros = not kueue_configuration.skips_uncovered_zeros(configuration.version)
    names = {name for asked in demand.asked for name in asked.each if zeros or asked.total(name)}
    yield from sorted(name for name in names if name != PODS and queue.quotas.group_of(name) is None)


def _pod_set_limit(demand: Demand, configuration: Configuration) -> PodSetLimit | None:
    most = kueue_configuration.most_pod_sets(configuration.version)
    if most is None or demand.pod_sets <= most:
        return None
    return PodSetLimit(pod_sets=demand.pod_sets, most=most, version=str(configuration.version))
