"""Priority classes: which priority pods get, and whether their class exists."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NotRequired

from msgspec import Struct
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.authorities import authority
from usher.authorities.authority import Case, Rank, Section
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.config import models, selection
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence, Reference

PRIORITY_CLASS: Final = ("scheduling.k8s.io", "PriorityClass")

QUEUE_PRIORITY_CLASS: Final = ("kueue.x-k8s.io", "WorkloadPriorityClass")

QUEUE_CLASS_LABEL: Final = "kueue.x-k8s.io/priority-class"
"""The label that names the WorkloadPriorityClass of a workload."""


class PriorityClass(Struct, frozen=True, kw_only=True):
    """A PriorityClass, or a WorkloadPriorityClass of Kueue."""

    name: str
    value: int
    preempts: bool = True
    """Whether its pods evict pods with a lower value. Has no meaning for a WorkloadPriorityClass."""


class NamedClass(Struct, frozen=True, kw_only=True):
    """A class that a workload names, as far as it is known."""

    kind: str
    name: str
    exists: bool | None
    """None where the classes are unknown."""
    found: PriorityClass | None
    """None where the class does not exist, or its value cannot be read."""


_INT32: Final = range(-(2**31), 2**31)

NO_CLASS: Final = PriorityClass(name="", value=0)
"""The priority of pods without a class name where no class is the default."""


def classes_of_kind(facts: Store, kind: Key) -> Mapping[str, PriorityClass] | None:
    """The classes of a kind with a readable value, by name; None where the classes are unknown."""
    objects = facts.objects(*kind)
    if isinstance(objects, Absence):
        return None
    return facts.derived(f"values of {kind[1]}", [kind], lambda: read_classes(objects))


def find_class(facts: Store, kind: Key, name: str) -> NamedClass:
    """The class that a workload names."""
    group, of_kind = kind
    value = facts.find(Reference(group=group, kind=of_kind, name=name))
    if isinstance(value, Absence):
        exists = None if value is Absence.NOT_KNOWN else False
        return NamedClass(kind=of_kind, name=name, exists=exists, found=None)
    return NamedClass(kind=of_kind, name=name, exists=True, found=_read_class(name, value))


def read_classes(objects: Mapping[str, paths.Object]) -> dict[str, PriorityClass]:
    """The classes with a readable value, by name."""
    return {name: found for name, value in objects.items() if (found := _read_class(name, value)) is not None}


def default_class(facts: Store) -> PriorityClass | None:
    """The class of pods without a class name; NO_CLASS where no class is the default, None where it is unknown."""
    objects = facts.objects(*PRIORITY_CLASS)
    if isinstance(objects, Absence):
        return NO_CLASS if objects is Absence.MISSING else None
    return facts.derived("default of PriorityClass", [PRIORITY_CLASS], lambda: default_among(objects))


def default_class_name(facts: Store, declared: str | None) -> str | None:
    """The name of the default class; empty where no class is the default, None where it is unknown.

    Args:
        declared: the name in usher.yaml, used where the classes are unknown.
    """
    if not facts.knows(*PRIORITY_CLASS):
        return declared
    found = default_class(facts)
    return None if found is None else found.name


def default_among(objects: Mapping[str, paths.Object]) -> PriorityClass | None:
    """The class of pods without a class name. Of several default classes, the one with the smallest value.

    None where `globalDefault` of any class, or the value of a default class, cannot be read.
    """
    defaults: list[PriorityClass] = []
    for name, value in objects.items():
        flag = value.get("globalDefault")
        found = _read_class(name, value)
        if flag is True and found is not None:
            defaults.append(found)
        elif flag is not None and flag is not False:
            return None
    return min(defaults, key=lambda each: (each.value, each.name), default=NO_CLASS)


def _read_class(name: str, value: paths.Object) -> PriorityClass | None:
    number = value.get("value")
    if type(number) is not int or number not in _INT32:
        return None
    # An unreadable preemptionPolicy counts as one that does not preempt.
    return PriorityClass(
        name=name, value=number, preempts=value.get("preemptionPolicy") in (None, "PreemptLowerPriority")
    )


class ClassPair(Struct, frozen=True, kw_only=True):
    """The two classes of one workload: in Kueue's queue, and of its pods."""

    in_queue: PriorityClass
    of_pods: PriorityClass


class Contradiction(Struct, frozen=True, kw_only=True):
    """Two pairs that disagree: one pair ranks higher in the queue, the other among the pods."""

    own: ClassPair
    other: ClassPair


def classes_of_pods(
    workload: model.Workload, classes: Mapping[str, PriorityClass], default: PriorityClass | None
) -> list[PriorityClass]:
    """The existing classes of the pods that ask for accelerators.

    Args:
        classes: all PriorityClasses, by name.
        default: the class of pods without a class name; None where it is unknown.
    """
    names = dict.fromkeys(each.priority_class_name for each in workload.pod_sets if each.asks_accelerators)
    found = (classes.get(name) if name else default for name in names)
    return [each for each in found if each is not None]


def classes_not_above(value: int, classes: Mapping[str, PriorityClass]) -> list[PriorityClass]:
    """The classes that rank no higher than a value, ordered by name."""
    return [each for _, each in sorted(classes.items()) if each.value <= value]


def find_contradiction(own: Iterable[ClassPair], others: Iterable[ClassPair]) -> Contradiction | None:
    """The first pair of `others` that contradicts one of `own`.

    One of them is first in the queue, and the other is first among the pods. A single pair cannot contradict itself,
    because the numbers of the two kinds are never compared with each other.
    """
    listed = list(others)
    for pair in own:
        for other in listed:
            in_queue = _compared(pair.in_queue.value, other.in_queue.value)
            if in_queue * _compared(pair.of_pods.value, other.of_pods.value) < 0:
                return Contradiction(own=pair, other=other)
    return None


def pairs_of_equal_rank(
    workload: model.Workload,
    in_queue: Mapping[str, PriorityClass],
    classes: Mapping[str, PriorityClass],
    config: models.Config,
) -> Iterator[ClassPair]:
    """Pairs whose classes should have the same rank: those that usher.yaml gives this workload, and equal names."""
    subject = selection.subject_of(workload)
    queue, rule = (
        selection.first_match(config.queues, subject),
        selection.first_match(config.priorities.classes, subject),
    )
    if queue is not None and rule is not None:
        declared = in_queue.get(queue.priority_class or ""), classes.get(rule.priority_class)
        if declared[0] is not None and declared[1] is not None:
            yield ClassPair(in_queue=declared[0], of_pods=declared[1])
    yield from namesakes(in_queue, classes)


def namesakes(in_queue: Mapping[str, PriorityClass], classes: Mapping[str, PriorityClass]) -> Iterator[ClassPair]:
    """Pairs of classes with the same name, one of each kind."""
    for name in sorted(in_queue.keys() & classes.keys()):
        yield ClassPair(in_queue=in_queue[name], of_pods=classes[name])


def _compared(one: int, other: int) -> int:
    return (one > other) - (one < other)


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


def input_slice(case: Case, known: Knowledge) -> PrioritiesInput | None:
    """The classes of a workload; None where it does not name a class and the classes are unknown."""
    workload, facts = case.workload, known.facts
    names = sorted({*_class_names(workload)})
    label = workload.queue_labels.get(QUEUE_CLASS_LABEL, "")
    classes, in_queue = classes_of_kind(facts, PRIORITY_CLASS), classes_of_kind(facts, QUEUE_PRIORITY_CLASS)
    if not names and not label and classes is None:
        return None
    result: PrioritiesInput = {
        "classes": {name: _class_input(find_class(facts, PRIORITY_CLASS, name)) for name in names}
    }
    if label:
        result["inQueue"] = _class_input(find_class(facts, QUEUE_PRIORITY_CLASS, label))
    queued = (in_queue or {}).get(label)
    trains = workload.role is model.Role.TRAINING
    if classes is not None:
        default = default_class(facts)
        if default is not None:
            result["default"] = {"name": default.name, "value": default.value, "preempts": default.preempts}
        own = classes_of_pods(workload, classes, default)
        if trains and own:
            result["notAbove"] = _rank_inputs(classes_not_above(max(each.value for each in own), classes))
        if own and in_queue and queued is not None:
            pairs = [ClassPair(in_queue=queued, of_pods=each) for each in own]
            others = pairs_of_equal_rank(workload, in_queue, classes, known.config)
            found = find_contradiction(pairs, others)
            if found is not None:
                result["contradiction"] = {"own": _ranks_of_pair(found.own), "other": _ranks_of_pair(found.other)}
    if trains and in_queue and queued is not None:
        result["notAboveInQueue"] = _rank_inputs(classes_not_above(queued.value, in_queue))
    return result


def _class_names(workload: model.Workload) -> Iterator[str]:
    yield from (pod_set.priority_class_name for pod_set in workload.pod_sets if pod_set.priority_class_name)
    if workload.gang.priority_class:
        yield workload.gang.priority_class


def _class_input(named: NamedClass) -> PriorityClassInput:
    if named.exists is None:
        return {}
    if named.found is None:
        return {"exists": named.exists}
    return {"exists": True, "value": named.found.value, "preempts": named.found.preempts}


def _ranks_of_pair(pair: ClassPair) -> RanksInput:
    return {"inQueue": _rank_input(pair.in_queue), "ofPods": _rank_input(pair.of_pods)}


def _rank_inputs(classes: Iterable[PriorityClass]) -> list[RankInput]:
    return [_rank_input(each) for each in classes]


def _rank_input(each: PriorityClass) -> RankInput:
    return {"name": each.name, "value": each.value}


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where the workload names a class that does not exist."""
    missing = [f"{rank.kind} {rank.name}" for rank in ranks(case, known) if rank.missing]
    runtimes = authority.runtime_classes_input(case, known) or {}
    missing += [f"RuntimeClass {name}" for name, exists in runtimes.items() if not exists]
    if missing:
        yield Section(
            authority="classes", answer=Answer.NOT_NOW, reasons=tuple(f"there is no {each}" for each in missing)
        )


def ranks(case: Case, known: Knowledge) -> Iterator[Rank]:
    """The priority classes of a workload."""
    workload, before = case.workload, case.before
    label = workload.queue_labels.get(QUEUE_CLASS_LABEL, "")
    if label:
        given = before is not None and before.queue_labels.get(QUEUE_CLASS_LABEL, "") != label
        yield _rank_of_class(find_class(known.facts, QUEUE_PRIORITY_CLASS, label), given=given)
    named: dict[str, list[model.PodSet]] = {}
    for pod_set in workload.pod_sets:
        named.setdefault(pod_set.priority_class_name, []).append(pod_set)
    written = {each.path: each.priority_class_name for each in before.pod_sets} if before is not None else {}
    for name, pod_sets in named.items():
        of_these = tuple(each.name for each in pod_sets) if len(named) > 1 else ()
        if name:
            given = before is not None and any(written.get(each.path, name) != name for each in pod_sets)
            yield _rank_of_class(find_class(known.facts, PRIORITY_CLASS, name), of=of_these, given=given)
        else:
            default = None if classes_of_kind(known.facts, PRIORITY_CLASS) is None else default_class(known.facts)
            yield Rank(
                kind="PriorityClass",
                name="" if default is None else default.name,
                value=None if default is None else default.value,
                of=of_these,
                by_default=True,
            )


def _rank_of_class(named: NamedClass, *, of: tuple[str, ...] = (), given: bool) -> Rank:
    return Rank(
        kind=named.kind,
        name=named.name,
        value=None if named.found is None else named.found.value,
        of=of,
        missing=named.exists is False,
        given=given,
    )


_PREEMPTIBILITY: Final = "kai.scheduler/preemptibility"
_INFERENCE: Final = {("apps", "Deployment"): "inference"}
_OF_KAI: Final = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
"""The classes of KAI's chart (KAI:docs/priority/README.md)."""
_EVICTED_BELOW: Final = 100
_WITHOUT_CLASS: Final = 50


def does_kai_evict(workload: model.Workload, facts: Store) -> bool | None:
    """Whether KAI-Scheduler may evict the pods; None where that is unknown.

    Sources: KAI:pkg/common/podgroup/preemptible.go CalculatePreemptibility, pkg/podgrouper/podgrouper/plugins/
    defaultgrouper/default_grouper.go calcPodGroupPreemptibility and CalcPodGroupPriorityClass.
    """
    found = {_is_pod_evicted(workload, each, facts) for each in workload.pod_sets}
    return found.pop() if len(found) == 1 else None


def _is_pod_evicted(workload: model.Workload, pod_set: model.PodSet, facts: Store) -> bool | None:
    label = workload.labels.get(_PREEMPTIBILITY, pod_set.labels.get(_PREEMPTIBILITY, ""))
    if label in ("preemptible", "non-preemptible"):
        return label == "preemptible"
    classes = classes_of_kind(facts, PRIORITY_CLASS)
    named = workload.labels.get("priorityClassName") or pod_set.labels.get("priorityClassName")
    named = named or pod_set.priority_class_name
    usual = _INFERENCE.get((workload.group, workload.kind), "train")
    if classes is None:
        value = _OF_KAI.get(named or usual)
    else:
        default = default_class(facts)
        if default is None:
            return None
        of_no_class = _WITHOUT_CLASS if default is NO_CLASS else default.value
        named = named or default.name
        name = named if named in classes else usual
        value = classes[name].value if name in classes else of_no_class
    return None if value is None else value < _EVICTED_BELOW
