"""The priority part of the Rego input: the classes of a workload, and the classes that rank no higher."""

from collections.abc import Iterable, Iterator
from typing import NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.priority import judge, read
from usher.authorities.priority.judge import Contradiction, Pair
from usher.authorities.priority.read import Class, NamedClass


class PriorityClassInput(TypedDict):
    """A priority class. `exists` is absent where the classes are unknown, `value` where it cannot be read."""

    exists: NotRequired[bool]
    value: NotRequired[int]
    preempts: NotRequired[bool]
    """Whether its pods evict others; absent where `value` is absent."""


class DefaultClassInput(TypedDict):
    """The class of pods without a class name; its name is empty where no class is the default."""

    name: str
    value: int
    preempts: bool


class RankInput(TypedDict):
    name: str
    value: int


class RanksInput(TypedDict):
    """The two classes of one workload: in Kueue's queue, and of its pods."""

    inQueue: RankInput
    ofPods: RankInput


class ContradictionInput(TypedDict):
    """Two workloads that disagree: one ranks higher in the queue, the other among the pods."""

    own: RanksInput
    other: RanksInput


class PrioritiesInput(TypedDict):
    classes: dict[str, PriorityClassInput]
    """The classes that pod sets and the gang name, by name."""
    default: NotRequired[DefaultClassInput]
    """The default class; absent where the classes of the cluster are unknown."""
    notAbove: NotRequired[list[RankInput]]
    """For a training workload: the classes that rank no higher than its highest class."""
    inQueue: NotRequired[PriorityClassInput]
    """The WorkloadPriorityClass that the workload names."""
    notAboveInQueue: NotRequired[list[RankInput]]
    """Like `notAbove`, among WorkloadPriorityClasses."""
    contradiction: NotRequired[ContradictionInput]


def of(case: Case, known: Knowledge) -> PrioritiesInput | None:
    """The classes of a workload; None where it does not name a class and the classes are unknown."""
    workload, facts = case.workload, known.facts
    names = sorted({*_named(workload)})
    label = workload.queue_labels.get(read.QUEUE_CLASS_LABEL, "")
    classes, in_queue = read.classes(facts, read.CLASSES), read.classes(facts, read.IN_QUEUE)
    if not names and not label and classes is None:
        return None
    result: PrioritiesInput = {"classes": {name: _class(read.named(facts, read.CLASSES, name)) for name in names}}
    if label:
        result["inQueue"] = _class(read.named(facts, read.IN_QUEUE, label))
    queued = (in_queue or {}).get(label)
    trains = workload.role is model.Role.TRAINING
    if classes is not None:
        default = read.default(facts)
        if default is not None:
            result["default"] = {"name": default.name, "value": default.value, "preempts": default.preempts}
        own = judge.of_pods(workload, classes, default)
        if trains and own:
            result["notAbove"] = _ranks(judge.not_above(max(each.value for each in own), classes))
        if own and in_queue and queued is not None:
            pairs = [Pair(in_queue=queued, of_pods=each) for each in own]
            others = judge.equal_ranks(workload, in_queue, classes, known.config)
            found = judge.contradiction(pairs, others)
            if found is not None:
                result["contradiction"] = _contradiction(found)
    if trains and in_queue and queued is not None:
        result["notAboveInQueue"] = _ranks(judge.not_above(queued.value, in_queue))
    return result


def _named(workload: model.Workload) -> Iterator[str]:
    yield from (pod_set.priority_class_name for pod_set in workload.pod_sets if pod_set.priority_class_name)
    if workload.gang.priority_class:
        yield workload.gang.priority_class


def _class(named: NamedClass) -> PriorityClassInput:
    if named.exists is None:
        return {}
    if named.found is None:
        return {"exists": named.exists}
    return {"exists": True, "value": named.found.value, "preempts": named.found.preempts}


def _contradiction(found: Contradiction) -> ContradictionInput:
    return {"own": _pair(found.own), "other": _pair(found.other)}


def _pair(pair: Pair) -> RanksInput:
    return {"inQueue": _rank(pair.in_queue), "ofPods": _rank(pair.of_pods)}


def _ranks(classes: Iterable[Class]) -> list[RankInput]:
    return [_rank(each) for each in classes]


def _rank(each: Class) -> RankInput:
    return {"name": each.name, "value": each.value}
