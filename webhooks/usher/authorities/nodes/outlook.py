"""The nodes section of `usher queue`: which nodes could hold the pods of a workload if they were empty."""

from collections.abc import Iterator

from usher import model
from usher.authorities import amount_texts
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import gang_room, judge, mig_repartitioning, read, remembered, texts
from usher.authorities.nodes.judge import Nearest, NodeVerdict
from usher.authorities.nodes.obstacles import Obstacles
from usher.authorities.nodes.places import Places
from usher.authorities.nodes.pod_demand import PodDemand
from usher.authorities.outlook import NODES, Holding, Section
from usher.authorities.verdict import Answer, worst


def of(case: Case, known: Knowledge) -> Iterator[Section]:
    """One section about the nodes and the pools of usher.yaml."""
    workload = case.workload
    verdicts = remembered.verdicts(known)
    if verdicts is None:
        yield Section(authority=NODES, answer=Answer.UNKNOWN, reasons=("the nodes are not known",))
        return
    places = verdicts.places
    holding, remedies, divisions, members = [], dict[str, None](), dict[str, None](), []
    for pod_set, demand in zip(workload.pod_sets, read.demands(workload, known), strict=True):
        verdict = verdicts.of(demand)
        holding.append(_holding(pod_set, demand, verdict, places))
        members.append(gang_room.member(pod_set, demand, workload.gang))
        if verdict.nearest is not None:
            remedies |= dict.fromkeys(_fitting(pod_set, verdict.nearest))
            divisions |= dict.fromkeys(_dividing(demand, verdict.nearest, places))
    answers, reasons = [each.answer for each in holding], []
    gang = None if Answer.NEVER in answers else verdicts.of_gang(workload, members)
    if gang is not None:
        answers.append(Answer.NEVER if gang.sure else Answer.UNKNOWN)
        condition = "" if gang.sure else "; usher does not know whether an autoscaler adds nodes"
        reasons.append(f"{gang.wanted:,} pods must run at the same time, and the nodes hold {gang.most:,}{condition}")
    yield Section(
        authority=NODES,
        answer=worst(answers),
        reasons=tuple(reasons),
        holding=tuple(holding),
        remedies=(*remedies, *divisions),
        node_changes=tuple(divisions),
    )


def _holding(pod_set: model.PodSet, demand: PodDemand, verdict: NodeVerdict, places: Places) -> Holding:
    there, grows = 0, list[str]()
    for place in () if demand.too_large else places.all:
        there += judge.holding_nodes(demand, place, places.nodes)
        if place.nodes is None and judge.could_hold(demand, place, places.nodes):
            grows.append(place.name)
    nearest = ""
    missing: tuple[str, ...] = (verdict.reason,) if verdict.reason else ()
    if verdict.nearest is not None:
        nearest = verdict.nearest.place.name if verdict.nearest.place is not None else ""
        missing = tuple(_missing(verdict.nearest.obstacles, places)) or ("the cluster has no node",)
    if verdict.crowded is not None:
        missing = (f"no NUMA node of {verdict.crowded.name} has as many GPUs as a container asks for",)
    return Holding(
        pod_set=pod_set.name, answer=verdict.answer, nodes=there, grows=tuple(grows), nearest=nearest, missing=missing
    )


def _missing(obstacles: Obstacles, places: Places) -> Iterator[str]:
    for missing in obstacles.amounts:
        asked = amount_texts.amount(missing.resource, missing.asked, up=True)
        most = amount_texts.amount(missing.resource, missing.most, up=False) if missing.most else "none"
        yield f"{asked} {missing.resource} asked for, one node has {most}"
    for taint in obstacles.taints:
        yield f"taint {taint} is not tolerated"
    for wanted in obstacles.labels:
        there = ", ".join(texts.values(wanted.key, places))
        yield f"{texts.requirement(wanted)} is not met" + (f" (nodes have {there})" if there else "")
    for wanted in obstacles.names:
        yield f"the pods must be on node {', '.join(wanted.values)}"
    if obstacles.nowhere:
        yield "their affinity matches no node"


def _fitting(pod_set: model.PodSet, nearest: Nearest) -> Iterator[str]:
    """All changes that together let a pod fit the nearest place."""
    if nearest.place is None:
        return
    obstacles = nearest.obstacles
    steps = list(_steps(obstacles))
    # A resource that the nodes do not have can only be left out of the pod.
    if steps and not obstacles.names and all(each.most for each in obstacles.amounts):
        yield f"to fit {nearest.place.name}, in {pod_set.name or 'the pod'}: {', '.join(steps)}"


def _dividing(demand: PodDemand, nearest: Nearest, places: Places) -> Iterator[str]:
    """A MIG division of a node that would hold a pod."""
    wanted = nearest.place is not None and nearest.obstacles.amounts
    divided = mig_repartitioning.holding(demand, places.all) if wanted else None
    if divided is not None:
        yield (
            f"divide {divided.gpus} of {divided.per_node} GPUs of a node of {divided.place} "
            f"({divided.board}) into {divided.mix}"
        )


def _steps(obstacles: Obstacles) -> Iterator[str]:
    for taint in obstacles.taints:
        yield f"tolerate {taint}"
    for missing in obstacles.amounts:
        most = amount_texts.amount(missing.resource, missing.most, up=False)
        yield f"ask for at most {most} {missing.resource}"
    for wanted in obstacles.labels:
        yield f"leave out {texts.requirement(wanted)}"
