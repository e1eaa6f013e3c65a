"""Two kinds of priority classes: in Kueue's queue, and of pods (docs/domain/priority.md#two-kinds-of-classes)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from usher.authorities.priority.read import Class


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Classes that one workload has: in Kueue's queue, and of its pods."""

    in_queue: Class
    of_pods: Class


def of_both_kinds(in_queue: Mapping[str, Class], of_pods: Mapping[str, Class]) -> Iterator[Pair]:
    """Names that stand for a class of either kind, and so for one rank."""
    for name in sorted(in_queue.keys() & of_pods.keys()):
        yield Pair(in_queue=in_queue[name], of_pods=of_pods[name])


def contradiction(own: Pair, others: Iterable[Pair]) -> Pair | None:
    """A pair that goes before in the queue and after among the pods, or the other way round.

    That is the least that two orders can be at odds: one pair of classes says nothing by itself, because the numbers
    of the two kinds are never compared with each other.
    """
    for other in others:
        in_queue = _compared(own.in_queue.value, other.in_queue.value)
        if in_queue * _compared(own.of_pods.value, other.of_pods.value) < 0:
            return other
    return None


def _compared(one: int, other: int) -> int:
    return (one > other) - (one < other)
