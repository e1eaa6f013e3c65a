"""Judges the ranks of a workload: in Kueue's queue, and of its pods (docs/domain/priority.md#two-kinds-of-classes)."""

from collections.abc import Iterable, Iterator, Mapping

from usher import model
from usher.authorities.priority.read import Class
from usher.config import models, selection
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The two classes of one workload: in Kueue's queue, and of its pods."""

    in_queue: Class
    of_pods: Class


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two pairs that disagree: one pair ranks higher in the queue, the other among the pods."""

    own: Pair
    other: Pair


def of_pods(workload: model.Workload, classes: Mapping[str, Class], default: Class | None) -> list[Class]:
    """The existing classes of the pods that ask for accelerators.

    Args:
        workload: the object.
        classes: all PriorityClasses, by name.
        default: the class of pods without a class name; None where it is unknown.
    """
    names = dict.fromkeys(each.priority_class_name for each in workload.pod_sets if each.asks_accelerators)
    found = (classes.get(name) if name else default for name in names)
    return [each for each in found if each is not None]


def not_above(value: int, classes: Mapping[str, Class]) -> list[Class]:
    """The classes that rank no higher than a value, ordered by name."""
    return [each for _, each in sorted(classes.items()) if each.value <= value]


def contradiction(own: Iterable[Pair], others: Iterable[Pair]) -> Contradiction | None:
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


def equal_ranks(
    workload: model.Workload, in_queue: Mapping[str, Class], classes: Mapping[str, Class], config: models.Config
) -> Iterator[Pair]:
    """Pairs whose classes should have the same rank: those that usher.yaml gives this workload, and equal names."""
    subject = selection.subject_of(workload)
    queue, rule = (
        selection.first_match(config.queues, subject),
        selection.first_match(config.priorities.classes, subject),
    )
    if queue is not None and rule is not None:
        declared = in_queue.get(queue.priority_class or ""), classes.get(rule.priority_class)
        if declared[0] is not None and declared[1] is not None:
            yield Pair(in_queue=declared[0], of_pods=declared[1])
    yield from namesakes(in_queue, classes)


def namesakes(in_queue: Mapping[str, Class], classes: Mapping[str, Class]) -> Iterator[Pair]:
    """Pairs of classes with the same name, one of each kind."""
    for name in sorted(in_queue.keys() & classes.keys()):
        yield Pair(in_queue=in_queue[name], of_pods=classes[name])


def _compared(one: int, other: int) -> int:
    return (one > other) - (one < other)
