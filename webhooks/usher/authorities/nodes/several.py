"""Shortages of several workloads at once, and the fast network of the nodes that pods fill."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.declared_pools import PoolsInput
from usher.authorities.nodes.judge import GangMember, GangNodesInput, NodeVerdict, NodeVerdicts
from usher.authorities.nodes.places import Places, PodDemand
from usher.authorities.verdict import Answer
from usher.cluster.facts import autoscaled_pools


class TogetherInput(TypedDict):
    """Pods with accelerators that always run, for which the nodes have no room at the same time."""

    wanted: int
    most: int
    sure: bool
    """Whether usher.yaml bounds every pool that counts."""
    names: list[str]
    """Kind and name of the objects that make them."""


def of_together(workloads: Sequence[model.Workload], verdicts: NodeVerdicts, known: Knowledge) -> TogetherInput | None:
    """The shortage where the nodes cannot hold all pods of several workloads that always run."""
    pools = declared_pools.placements(known)
    members = [
        GangMember(
            demand=written.tolerating(*asked_elsewhere(pools.of(pod_set, workload=workload))),
            pods=pod_set.count.minimum,
        )
        for workload in workloads
        for pod_set, written in zip(workload.pod_sets, nodes_places.demands_of_workload(workload, known), strict=True)
        if pod_set.asks_accelerators
    ]
    if any(verdicts.of(each.demand).answer is not Answer.COULD for each in members):
        return None
    wanted, found = sum(each.pods for each in members), verdicts.room(members)
    if found is None or found.most >= wanted:
        return None
    names = [f"{each.kind} {each.name}" for each in workloads]
    return {"wanted": wanted, "most": found.most, "sure": found.sure, "names": names}


def of_growth(workload: model.Workload, members: Sequence[GangMember], verdicts: NodeVerdicts) -> GangNodesInput | None:
    """The shortage where the nodes cannot hold as many pods with accelerators as an autoscaler may make."""
    if len(members) < len(workload.pod_sets) or not any(
        each.count.grown and each.asks_accelerators for each in workload.pod_sets
    ):
        return None
    grown = [
        replace(member, pods=pod_set.count.grown or pod_set.count.minimum)
        for pod_set, member in zip(workload.pod_sets, members, strict=True)
        if pod_set.asks_accelerators
    ]
    wanted, found = sum(each.pods for each in grown), verdicts.room(grown)
    if found is None or found.most >= wanted:
        return None
    return {"wanted": wanted, "most": found.most, "sure": found.sure}


def asked_elsewhere(pools: PoolsInput) -> Iterator[Mapping[str, paths.Json]]:
    """The tolerations that checks of declared pools ask for."""
    for fit in pools["fits"]:
        for taint in fit["untolerated"]:
            yield {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
    for key in pools["assumedTaints"]:
        yield {"key": key, "operator": "Exists"}


_PODS_OF_A_FABRIC: Final = 2


def unused_fabric(workload: model.Workload, demands: Sequence[PodDemand], verdicts: NodeVerdicts) -> dict[str, str]:
    """By the path of a pod set whose pods work together: the device for RDMA of all nodes which its pods fill."""
    together = workload.role is model.Role.TRAINING or workload.gang.waits
    pods = sum(each.count.minimum for each in workload.pod_sets if each.asks_accelerators)
    if not together or pods < _PODS_OF_A_FABRIC:
        return {}
    found = {each.path: _fabric(demand, verdicts) for each, demand in zip(workload.pod_sets, demands, strict=True)}
    return {path: device for path, device in found.items() if device}


def _fabric(demand: PodDemand, verdicts: NodeVerdicts) -> str:
    """The device for RDMA that all nodes which the pod fills offer; empty if the pod asks for one itself."""
    places = verdicts.places
    holding = [place for place in places.all if nodes_judge.could_hold(demand, place, places.nodes)]
    gpus = demand.amounts.get(nodes_places.GPU, 0)
    if not gpus or any(map(_is_for_rdma, demand.amounts)) or any(each.nodes is None for each in holding):
        return ""
    amounts = [each for place in holding for each in place.frontier]
    if any(each.get(nodes_places.GPU) != gpus for each in amounts):
        return ""
    offered = [{name for name in each if each[name] and _is_for_rdma(name)} for each in amounts]
    return min(set.intersection(*offered), default="") if offered else ""


def _is_for_rdma(resource: str) -> bool:
    return resource.startswith("rdma/") or resource == "vpc.amazonaws.com/efa"


def without_pool(
    workload: model.Workload, known: Knowledge
) -> Iterator[tuple[model.PodSet, PodDemand, NodeVerdict, Places, bool]]:
    """The pods that no known pool of an autoscaler could hold, where nodes are unknown and a pool offers devices."""
    added = autoscaled_pools.of_facts(known.facts)
    if known.facts.nodes.known or not added or not workload.asks_accelerators:
        return
    verdicts = known.derived("verdicts of pools", [*autoscaled_pools.KINDS], lambda: _verdicts_of_pools(known))
    for pod_set, written in zip(workload.pod_sets, nodes_places.demands_of_workload(workload, known), strict=True):
        wanted = {name for name in written.amounts if known.vocabulary.contains(name)}
        offered = any(wanted <= amounts.keys() for place in verdicts.places.all for amounts in place.frontier)
        if not wanted or not offered or pod_set.node_name:
            continue
        pools = declared_pools.placements(known).of(pod_set, workload=workload)
        demand = written.tolerating(*asked_elsewhere(pools))
        verdict = verdicts.of(demand)
        if verdict.answer is Answer.NEVER and verdict.nearest is not None and verdict.nearest.place is not None:
            yield pod_set, demand, verdict, verdicts.places, pools["poolsDeclared"]


def _verdicts_of_pools(known: Knowledge) -> NodeVerdicts:
    added, nodes = autoscaled_pools.of_facts(known.facts), known.facts.nodes.now
    return NodeVerdicts(nodes_places.places_of_cluster(nodes, known.config.pools, known.vocabulary, added))
