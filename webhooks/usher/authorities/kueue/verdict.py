"""The verdict of Kueue on a workload in a queue."""

from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavor_choice import total
from usher.authorities.kueue.flavors import FlavorRefusal
from usher.authorities.verdict import Answer
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorCapacity:
    """The amounts of one resource that a queue could give in one flavor."""

    flavor: str
    own: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorShortage:
    """A resource whose demand is higher than the queue could ever give."""

    resource: str
    pods: tuple[CountedPods, ...]
    """The pods that ask for the resource and must share it."""
    flavors: tuple[FlavorCapacity, ...]
    """Flavors that take the pods; the largest comes first."""
    together: bool = False
    """Whether there is enough of each resource, but not of all of them in one flavor."""
    fits: int = 0
    """The most that these pods could ask for together, if all other pods stay as they are."""
    more: int | None = None
    """How much more quota the only flavor needs so that all pods find room; None where that alone does not help."""

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
class PodSetLimit:
    """The most pod sets of a Workload in a version of Kueue; the workload has more."""

    pod_sets: int
    most: int
    version: str


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
    """The chosen flavors; only where the answer is COULD and Kueue's own order finds room for every pod set."""
    takes_all: bool = True
    """False where all pods would fit, but Kueue may not find the room because it never revises a choice."""
    pod_set_limit: PodSetLimit | None = None
    """Set where the workload has more pod sets than Kueue accepts."""
    uncovered: tuple[str, ...] = ()
    """Resources without quota in any flavor of the queue."""
    unmatched: tuple[UnmatchedPods, ...] = ()
    shortages: tuple[FlavorShortage, ...] = ()
    unknowns: tuple[str, ...] = ()
    """Missing facts that make the answer UNKNOWN."""
