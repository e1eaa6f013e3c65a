"""The verdict of an authority: whether a workload starts, and which resources are short."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from usher.quantities import Quantity


class Answer(StrEnum):
    """Whether a workload starts, the worst first."""

    NEVER = "never"
    """As things are configured, whatever else is running."""
    UNKNOWN = "unknown"
    NOT_NOW = "not now"
    """Something is used up, stopped or not there yet."""
    COULD = "could"
    """Nothing that is configured stands in the way; what is free at the moment is not known."""
    FITS = "fits now"


def worst(answers: Iterable[Answer]) -> Answer:
    """The worst of several answers; FITS without any."""
    order = list(Answer)
    return min(answers, key=order.index, default=Answer.FITS)


class Reach(StrEnum):
    """How far a workload gets before a resource is short."""

    START = "start"
    """It cannot start, whatever else runs."""
    ALL = "all"
    """It starts, and never has all of its pods."""
    LARGEST = "largest"
    """It has all pods that it must have, and cannot grow as far as it says."""
    NOW = "now"
    """It has to wait for what others use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Pods of one pod set with what each of them takes."""

    pod_set: str
    pods: int
    each: Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A resource of which a workload needs more than there is."""

    of: str
    """Name of the quota or queue."""
    resource: str
    """As the quota or queue calls it."""
    needs: Quantity
    most: Quantity
    """What the quota or queue can give at most."""
    used: Quantity | None = None
    """Only where `reach` is NOW."""
    reach: Reach
    parts: tuple[Part, ...] = ()
    """What `needs` is made of, where several pod sets or pods share it."""
    assumption: str = ""
    """What must be so for the resource to be short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an authority says of a workload."""

    answer: Answer
    shortages: tuple[Shortage, ...] = ()
    unknowns: tuple[str, ...] = ()
    """What would have to be known for another answer than UNKNOWN."""
