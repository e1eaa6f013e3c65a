"""What priority classes are worth: real values, of the classes that there are (gpu-domain 6.1 and 6.2)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from usher import paths


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A PriorityClass, or a WorkloadPriorityClass of Kueue."""

    name: str
    value: int
    preempts: bool = True
    """Whether its pods evict others of less; of no meaning for Kueue's."""


_INT32: Final = range(-(2**31), 2**31)

NO_CLASS: Final = Class(name="", value=0)
"""What pods without a class have where no class is the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Classes that one workload has: in Kueue's queue, and of its pods."""

    in_queue: Class
    of_pods: Class


def read(objects: Mapping[str, paths.Object]) -> dict[str, Class]:
    """The classes whose value can be read, by name."""
    return {name: found for name, value in objects.items() if (found := _class(name, value)) is not None}


def number_of(value: paths.Object) -> int | None:
    """The value of a class; None where it is none that the API server takes."""
    number = value.get("value")
    return number if type(number) is int and number in _INT32 else None


def preempts(value: paths.Object) -> bool:
    """Whether pods of a class evict others of less; nothing is held against one that does not say it readably."""
    return value.get("preemptionPolicy") in (None, "PreemptLowerPriority")


def default_of(objects: Mapping[str, paths.Object]) -> Class | None:
    """The class that pods get which name none: of several the one of the smallest value.

    None where a class does not say, so that it can be read, whether it is the default, and of which value.
    """
    defaults: list[Class] = []
    for name, value in objects.items():
        flag = value.get("globalDefault")
        found = _class(name, value)
        if flag is True and found is not None:
            defaults.append(found)
        elif flag is not None and flag is not False:
            return None
    return min(defaults, key=lambda each: (each.value, each.name), default=NO_CLASS)


def _class(name: str, value: paths.Object) -> Class | None:
    number = number_of(value)
    if number is None:
        return None
    return Class(
        name=name,
        value=number,
        preempts=preempts(value),
    )


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
