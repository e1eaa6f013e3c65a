"""The nodes part of the Rego input: the obstacles that keep the pods of a workload off all nodes."""

from collections.abc import Iterator, Mapping
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.authorities import amount_texts
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import gang_room, judge, mig_repartitioning, pool_slice, read, remembered, texts
from usher.authorities.nodes.judge import NodeVerdict
from usher.authorities.nodes.obstacles import MissingAmount
from usher.authorities.nodes.places import Place, Places
from usher.authorities.nodes.pod_demand import PodDemand
from usher.authorities.nodes.pool_input import PoolsInput
from usher.authorities.verdict import Answer

_VERDICTS: Final = {Answer.COULD: "fits", Answer.NEVER: "never", Answer.UNKNOWN: "unknown"}


class MissingAmountInput(TypedDict):
    resource: str
    asked: str
    most: str
    """The amount on one node; empty where the node does not have the resource."""
    path: NotRequired[str]
    """The place of the request, if only one container has it."""


class MismatchInput(TypedDict):
    """An unmet requirement on labels."""

    wants: str
    """The requirement: `zone in (a, b)`."""
    there: list[str]
    """Some values of the label on the nodes."""
    elsewhere: bool
    """Whether nodes of another place meet it."""


class NearestInput(TypedDict):
    """The place that lacks least."""

    place: NotRequired[str]
    """Absent where the cluster has no node, or no node with the name that the pod gives."""
    shortages: list[MissingAmountInput]
    taints: list[str]
    labels: list[MismatchInput]
    nowhere: bool
    """Whether the affinity cannot match any node."""
    node: NotRequired[str]
    """The node name that the pod asks for and that no node has."""


class RepartitioningInput(TypedDict):
    """GPUs of one node that would hold all MIG instances of a pod after another division."""

    place: str
    board: str
    gpus: int
    of: int
    mix: str


class CrowdedInput(TypedDict):
    """A pool whose kubelets refuse the pods: no NUMA node has as many GPUs as a container asks for."""

    place: str
    asked: int
    most: int


class PodSetNodesInput(TypedDict):
    verdict: str
    reason: NotRequired[str]
    nearest: NotRequired[NearestInput]
    divided: NotRequired[RepartitioningInput]
    crowded: NotRequired[CrowdedInput]
    declared: bool
    """Whether usher.yaml declares a pool for these pods; else an autoscaler may add other nodes."""


class GangNodesInput(TypedDict):
    wanted: int
    most: int
    sure: bool
    """Whether usher.yaml bounds every pool that counts."""


class NodesInput(TypedDict):
    pods: dict[str, PodSetNodesInput]
    """Pod sets by path, without those that some node can hold."""
    gang: NotRequired[GangNodesInput]
    """Absent where all pods that must start together can run."""


def of(case: Case, known: Knowledge) -> NodesInput | None:
    """The obstacles on all nodes; None without obstacles, with unknown nodes, or without requests for accelerators."""
    workload = case.workload
    verdicts = remembered.verdicts(known)
    if verdicts is None or not workload.asks_accelerators:
        return None
    found: dict[str, PodSetNodesInput] = {}
    members: list[gang_room.Member] = []
    for pod_set, written in zip(workload.pod_sets, read.demands(workload, known), strict=True):
        if pod_set.placed and pod_set.node_name:
            continue
        pools = pool_slice.placements(known).of(pod_set, workload=workload)
        # Another check asks for these tolerations. So a pod set is reported here only if no node fits even with them.
        demand = written.tolerating(*_asked_elsewhere(pools))
        verdict = verdicts.of(demand)
        if verdict.answer is not Answer.COULD or verdict.crowded is not None:
            found[pod_set.path] = _pod_set(pod_set, demand, verdict, verdicts.places, declared=pools["poolsDeclared"])
        members.append(gang_room.member(pod_set, demand, workload.gang))
    gang = None if found else verdicts.of_gang(workload, members)
    if gang is not None:
        return {"pods": found, "gang": {"wanted": gang.wanted, "most": gang.most, "sure": gang.sure}}
    return {"pods": found} if found else None


def of_group(case: Case, known: Knowledge) -> GangNodesInput | None:
    """The shortage of a PodGroup with pods made by hand; None where enough of them can run at once."""
    if case.beside.gang is None:
        return None
    found = of(Case(workload=case.beside.gang), known)
    return found.get("gang") if found is not None else None


def _asked_elsewhere(pools: PoolsInput) -> Iterator[Mapping[str, paths.Json]]:
    for fit in pools["fits"]:
        for taint in fit["untolerated"]:
            yield {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
    for key in pools["assumedTaints"]:
        yield {"key": key, "operator": "Exists"}


def _pod_set(
    pod_set: model.PodSet, demand: PodDemand, verdict: NodeVerdict, places: Places, *, declared: bool
) -> PodSetNodesInput:
    result: PodSetNodesInput = {"verdict": _VERDICTS[verdict.answer], "declared": declared}
    if verdict.reason:
        result["reason"] = verdict.reason
    if verdict.nearest is not None:
        result["nearest"] = _nearest(pod_set, verdict.nearest, places)
        missing = verdict.nearest.obstacles.amounts
        divided = mig_repartitioning.holding(demand, places.all) if missing else None
        if divided is not None:
            result["divided"] = {
                "place": divided.place,
                "board": divided.board,
                "gpus": divided.gpus,
                "of": divided.per_node,
                "mix": divided.mix,
            }
    if verdict.crowded is not None:
        result["crowded"] = _crowded(verdict.crowded, demand)
    return result


def _crowded(place: Place, demand: PodDemand) -> CrowdedInput:
    gpu = None if place.pool is None else place.pool.gpu
    most = None if gpu is None else gpu.per_numa_node
    return {"place": place.name, "asked": demand.in_one_container["nvidia.com/gpu"], "most": most or 0}


def _nearest(pod_set: model.PodSet, nearest: judge.Nearest, places: Places) -> NearestInput:
    obstacles = nearest.obstacles
    result: NearestInput = {
        "shortages": [_missing(pod_set, each) for each in obstacles.amounts],
        "taints": [str(taint) for taint in obstacles.taints],
        "labels": [
            {
                "wants": texts.requirement(each),
                "there": texts.values(each.key, places),
                "elsewhere": places.any_meets(each),
            }
            for each in obstacles.labels
        ],
        "nowhere": obstacles.nowhere,
    }
    if nearest.place is not None:
        result["place"] = nearest.place.name
    if obstacles.names:
        result["node"] = ", ".join(value for each in obstacles.names for value in each.values)
    return result


def _missing(pod_set: model.PodSet, missing: MissingAmount) -> MissingAmountInput:
    resource = missing.resource
    result: MissingAmountInput = {
        "resource": resource,
        "asked": amount_texts.amount(resource, missing.asked, up=True),
        "most": amount_texts.amount(resource, missing.most, up=False) if missing.most else "",
    }
    naming = [
        container for container in pod_set.containers if resource in container.requests or resource in container.limits
    ]
    if len(naming) == 1:
        result["path"] = naming[0].first_path(resource)
    return result
