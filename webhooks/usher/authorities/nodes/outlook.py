"""Nodes that could hold the pods of a workload, if they were empty."""

from collections.abc import Iterator

from usher import model
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import amount_texts
from usher.authorities.nodes import judge, mig_repartitioning
from usher.authorities.nodes.obstacles import Obstacles
from usher.authorities.nodes.places import Places
from usher.authorities.nodes.pod_demand import Ask
from usher.authorities.nodes.slice import asks_of, gang_of
from usher.authorities.outlook import NODES, Holding, Section
from usher.authorities.verdict import Answer, worst
from usher.facts.store import Store


def of(workload: model.Workload, facts: Store, vocabulary: Vocabulary, places: Places | None) -> Section:
    """What the nodes, and the pools of usher.yaml, can hold.

    Args:
        workload: the object.
        facts: what is known.
        vocabulary: what resource names mean.
        places: where pods may run; None where nothing is known of nodes.
    """
    if places is None:
        return Section(authority=NODES, answer=Answer.UNKNOWN, reasons=("nothing is known of nodes",))
    asked = asks_of(workload, facts, vocabulary)
    holding, remedies = [], dict[str, None]()
    for pod_set, ask in zip(workload.pod_sets, asked, strict=True):
        judged = judge.judge(ask, places)
        holding.append(_holding(pod_set, ask, judged, places))
        if judged.verdict is judge.Verdict.NEVER:
            remedies |= dict.fromkeys(_remedies(pod_set, ask, judged.nearest, places))
    answers = [each.answer for each in holding]
    reasons = []
    gang = None if Answer.NEVER in answers else gang_of(workload, asked, places)
    if gang is not None:
        answers.append(Answer.NEVER if gang["sure"] else Answer.UNKNOWN)
        doubt = "" if gang["sure"] else "; whether nodes are added is not known"
        reasons.append(f"{gang['wanted']:,} pods have to run at once, and the nodes hold {gang['most']:,}{doubt}")
    return Section(
        authority=NODES,
        answer=worst(answers),
        reasons=tuple(reasons),
        holding=tuple(holding),
        remedies=tuple(remedies),
    )


def _holding(pod_set: model.PodSet, ask: Ask, judged: judge.Feasibility, places: Places) -> Holding:
    answer = {
        judge.Verdict.FITS: Answer.COULD,
        judge.Verdict.NEVER: Answer.NEVER,
        judge.Verdict.UNKNOWN: Answer.UNKNOWN,
    }[judged.verdict]
    there, grows = 0, list[str]()
    for place in () if ask.too_large else places.all:
        there += judge.holding_nodes(ask, place, places.nodes)
        if place.nodes is None and judge.could_hold(ask, place, places.nodes):
            grows.append(place.name)
    nearest = ""
    missing: tuple[str, ...] = (judged.reason,) if judged.reason else ()
    if judged.nearest is not None:
        nearest = judged.nearest.place.name if judged.nearest.place is not None else ""
        missing = tuple(_missing(judged.nearest.obstacles, places)) or ("there is no node",)
    if judged.crowded is not None:
        missing = (f"no NUMA node of {judged.crowded.name} has as many GPUs as a container asks for",)
    return Holding(
        pod_set=pod_set.name, answer=answer, nodes=there, grows=tuple(grows), nearest=nearest, missing=missing
    )


def _missing(obstacles: Obstacles, places: Places) -> Iterator[str]:
    for short in obstacles.shortages:
        asked = amount_texts.amount(short.resource, short.asked, up=True)
        most = amount_texts.amount(short.resource, short.most, up=False) if short.most else "none"
        yield f"{asked} {short.resource} asked for, one node has {most}"
    for taint in obstacles.taints:
        yield f"taint {taint} is not tolerated"
    for wanted in obstacles.labels:
        there = ", ".join(amount_texts.values(wanted.key, places))
        yield f"{amount_texts.requirement(wanted)} is not met" + (f" (nodes have {there})" if there else "")
    for wanted in obstacles.names:
        yield f"the pods must be on {', '.join(wanted.values)}, which is none of these"
    if obstacles.nowhere:
        yield "their affinity matches no node at all"


def _remedies(pod_set: model.PodSet, ask: Ask, nearest: judge.Nearest | None, places: Places) -> Iterator[str]:
    """What the nearest place would take, all of it together; and a board that could be divided otherwise."""
    if nearest is None or nearest.place is None:
        return
    pods = pod_set.name or "the pod"
    steps = list(_steps(nearest.obstacles))
    # What nodes have nothing of, no change of the pod but to leave it out would mend.
    if steps and not nearest.obstacles.names and all(each.most for each in nearest.obstacles.shortages):
        yield f"to fit {nearest.place.name}, in {pods}: {', '.join(steps)}"
    would_do = mig_repartitioning.holding(ask, places.all) if nearest.obstacles.shortages else None
    if would_do is not None:
        yield (
            f"divide {would_do.gpus} of {would_do.per_node} GPUs of a node of {would_do.place} "
            f"({would_do.board}) into {would_do.mix}"
        )


def _steps(missing: Obstacles) -> Iterator[str]:
    for taint in missing.taints:
        yield f"tolerate {taint}"
    for short in missing.shortages:
        most = amount_texts.amount(short.resource, short.most, up=False)
        yield f"ask for at most {most} {short.resource}"
    for wanted in missing.labels:
        yield f"leave out {amount_texts.requirement(wanted)}"
