"""What the priority classes of a workload are worth, and which others rank no higher."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.authorities.priority import judge, read
from usher.authorities.priority.judge import Pair
from usher.authorities.priority.read import Class
from usher.config import models, selection
from usher.facts.store import Store
from usher.reading.lookup import Absence, Reference

GROUP: Final = "scheduling.k8s.io"

_IN_QUEUE: Final = ("kueue.x-k8s.io", "WorkloadPriorityClass")
_LABEL: Final = "kueue.x-k8s.io/priority-class"


class PriorityClass(TypedDict):
    """`exists` is absent where nothing is known of classes, and `value` where it cannot be read."""

    exists: NotRequired[bool]
    value: NotRequired[int]
    preempts: NotRequired[bool]
    """Whether its pods evict others; as `value`."""


class DefaultClass(TypedDict):
    """What pods have that name no class; an empty name where no class is the default."""

    name: str
    value: int
    preempts: bool


class Ranked(TypedDict):
    name: str
    value: int


class Ranks(TypedDict):
    """Two classes of one workload: in Kueue's queue, and of its pods."""

    inQueue: Ranked
    ofPods: Ranked


class Contradiction(TypedDict):
    """What the workload has, and something that has the one higher and the other lower."""

    own: Ranks
    other: Ranks


class Priorities(TypedDict):
    classes: dict[str, PriorityClass]
    """By name: those that pod sets name, and the gang."""
    default: NotRequired[DefaultClass]
    """Where the classes of the cluster are known."""
    notAbove: NotRequired[list[Ranked]]
    """Of training: the classes that rank no higher than its highest."""
    inQueue: NotRequired[PriorityClass]
    """The WorkloadPriorityClass that the workload names."""
    notAboveInQueue: NotRequired[list[Ranked]]
    """As `notAbove`, among Kueue's."""
    contradiction: NotRequired[Contradiction]


def of(workload: model.Workload, facts: Store, config: models.Config) -> Priorities | None:
    """What is known of the classes of a workload; None where it names none and nothing is known of any."""
    names = sorted({*_named(workload)})
    label = workload.queue_labels.get(_LABEL, "")
    classes, in_queue = _known(facts, read.CLASSES), _known(facts, _IN_QUEUE)
    if not names and not label and classes is None:
        return None
    result: Priorities = {"classes": {name: _class(GROUP, "PriorityClass", name, facts) for name in names}}
    if label:
        result["inQueue"] = _class(*_IN_QUEUE, label, facts)
    if classes is not None:
        default = read.default(facts)
        if default is not None:
            result["default"] = {"name": default.name, "value": default.value, "preempts": default.preempts}
        own = _of_pods(workload, classes, default)
        if workload.role is model.Role.TRAINING and own:
            result["notAbove"] = _not_above(max(each.value for each in own), classes)
        queued = (in_queue or {}).get(label)
        if own and in_queue and queued is not None:
            found = _contradiction(queued, own, _others(workload, in_queue, classes, config))
            if found is not None:
                result["contradiction"] = found
    if workload.role is model.Role.TRAINING and in_queue and label in in_queue:
        result["notAboveInQueue"] = _not_above(in_queue[label].value, in_queue)
    return result


def _known(facts: Store, key: tuple[str, str]) -> Mapping[str, Class] | None:
    objects = facts.objects(*key)
    if isinstance(objects, Absence):
        return None
    return facts.derived(f"values of {key[1]}", [key], lambda: read.read(objects))


def _named(workload: model.Workload) -> Iterator[str]:
    yield from (pod_set.priority_class_name for pod_set in workload.pod_sets if pod_set.priority_class_name)
    if workload.gang.priority_class:
        yield workload.gang.priority_class


def _class(group: str, kind: str, name: str, facts: Store) -> PriorityClass:
    found = facts.find(Reference(group=group, kind=kind, name=name))
    if isinstance(found, Absence):
        return {} if found is Absence.NOT_KNOWN else {"exists": False}
    value = read.number_of(found)
    if value is None:
        return {"exists": True}
    return {"exists": True, "value": value, "preempts": read.preempts(found)}


def _of_pods(workload: model.Workload, classes: Mapping[str, Class], default: Class | None) -> list[Class]:
    """The classes of the pods that ask for accelerators, as far as they are there."""
    names = dict.fromkeys(each.priority_class_name for each in workload.pod_sets if each.asks_accelerators)
    found = (classes.get(name) if name else default for name in names)
    return [each for each in found if each is not None]


def _not_above(value: int, classes: Mapping[str, Class]) -> list[Ranked]:
    return [_ranked(each) for _, each in sorted(classes.items()) if each.value <= value]


def _others(
    workload: model.Workload, in_queue: Mapping[str, Class], classes: Mapping[str, Class], config: models.Config
) -> Iterator[Pair]:
    """Pairs that are meant to have one rank: as usher.yaml gives them to this workload, and those of one name."""
    subject = selection.Subject(
        namespace=workload.namespace,
        group=workload.group,
        kind=workload.kind,
        role=workload.role.value,
        accelerators=selection.size(workload),
    )
    queue, rule = selection.first(config.queues, subject), selection.first(config.priorities.classes, subject)
    if queue is not None and rule is not None:
        declared = in_queue.get(queue.priority_class or ""), classes.get(rule.priority_class)
        if declared[0] is not None and declared[1] is not None:
            yield Pair(in_queue=declared[0], of_pods=declared[1])
    yield from judge.of_both_kinds(in_queue, classes)


def _contradiction(queued: Class, own: Iterable[Class], others: Iterable[Pair]) -> Contradiction | None:
    listed = list(others)
    for each in own:
        pair = Pair(in_queue=queued, of_pods=each)
        other = judge.contradiction(pair, listed)
        if other is not None:
            return {"own": _ranks(pair), "other": _ranks(other)}
    return None


def _ranks(pair: Pair) -> Ranks:
    return {"inQueue": _ranked(pair.in_queue), "ofPods": _ranked(pair.of_pods)}


def _ranked(each: Class) -> Ranked:
    return {"name": each.name, "value": each.value}
