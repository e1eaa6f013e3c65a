"""What Kueue says of a workload in a queue."""

from dataclasses import dataclass

from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavor_choice import total
from usher.authorities.kueue.flavors import FlavorRefusal
from usher.authorities.verdict import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorCapacity:
    """What a queue could give of one resource in one flavor, as amounts."""

    flavor: str
    own: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorShortage:
    """A resource of which more is asked for than the queue could ever give."""

    resource: str
    pods: tuple[CountedPods, ...]
    """The pods that ask for it and have to share it."""
    flavors: tuple[FlavorCapacity, ...]
    """Flavors that take the pods, the one that gives most first."""
    together: bool = False
    """Whether there is enough of each resource, but not of all of them in one flavor."""

    @property
    def total(self) -> int:
        return total(self.pods, self.resource)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedPods:
    """Pods that no flavor of a resource group takes."""

    pods: CountedPods
    resources: tuple[str, ...]
    refusals: tuple[FlavorRefusal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorChoice:
    """The flavor that pods get for some of their resources."""

    pods: CountedPods
    resources: tuple[str, ...]
    flavor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KueueVerdict:
    answer: Answer
    """NEVER, UNKNOWN or COULD: the queue could admit it."""
    choices: tuple[FlavorChoice, ...] = ()
    """Only where the answer is COULD, and Kueue finds room for every pod set in its own order."""
    takes_all: bool = True
    """False where there is room for all, but Kueue does not find it because it never revises a choice."""
    uncovered: tuple[str, ...] = ()
    """Resources of which the queue has no quota in any flavor."""
    unmatched: tuple[UnmatchedPods, ...] = ()
    shortages: tuple[FlavorShortage, ...] = ()
    unknowns: tuple[str, ...] = ()
    """What would have to be known for another answer than UNKNOWN."""
