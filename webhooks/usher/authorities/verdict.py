"""The verdict of an authority: whether a workload starts, and which resources are short."""

from collections.abc import Iterable
from enum import StrEnum

from usher.dataclass import dataclass
from usher.quantities import Quantity


class Answer(StrEnum):
    """Whether a workload starts; the worst answer comes first."""

    NEVER = "never"
    """The configuration does not let it start, even if nothing else runs."""
    UNKNOWN = "unknown"
    NOT_NOW = "not now"
    """A resource is used up, or a queue is stopped, or an object does not exist yet."""
    COULD = "could"
    """The configuration lets it start; whether there is room now is unknown."""
    FITS = "fits now"


def worst(answers: Iterable[Answer]) -> Answer:
    """The worst of several answers; FITS where there are no answers."""
    order = list(Answer)
    return min(answers, key=order.index, default=Answer.FITS)


class Reach(StrEnum):
    """How far a workload gets before a resource is short."""

    START = "start"
    """It cannot start, even if nothing else runs."""
    ALL = "all"
    """It starts, but never has all of its pods."""
    LARGEST = "largest"
    """It has the pods that it needs, but cannot grow to its largest pod counts."""
    NOW = "now"
    """It must wait until other workloads free resources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The pods of one pod set, with what each pod takes."""

    pod_set: str
    pods: int
    each: Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A resource that is too scarce for a workload."""

    of: str
    """The name of the quota or queue."""
    resource: str
    """The name of the resource in the quota or queue."""
    needs: Quantity
    most: Quantity
    """The most that the quota or queue can give."""
    used: Quantity | None = None
    """Current usage; only where `reach` is NOW."""
    reach: Reach
    parts: tuple[Part, ...] = ()
    """The parts that `needs` consists of, where several pod sets or pods share it."""
    assumption: str = ""
    """The condition under which the shortage exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer of an authority about a workload."""

    answer: Answer
    shortages: tuple[Shortage, ...] = ()
    unknowns: tuple[str, ...] = ()
    """Missing facts that make the answer UNKNOWN."""
