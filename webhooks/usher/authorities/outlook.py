"""What `usher queue` says of one workload: the answers of all authorities."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from usher import model, quantities
from usher.authorities.verdict import Answer, worst

NODES: Final = "nodes"
"""The authority that knows nothing of what is free now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What is asked of one resource, and what there is."""

    of: str
    """What limits it: `flavor a100`, `ResourceQuota gpus`; for people."""
    resource: str
    """As the quota or queue calls it."""
    asks: quantities.Quantity
    most: quantities.Quantity | None
    """What it could ever give; None where nothing bounds it."""
    own: quantities.Quantity | None = None
    """The part of `most` that is not borrowed, where something is."""
    used: quantities.Quantity | None = None
    """None where it is not known; for a queue of Kueue what it has reserved itself."""
    free: quantities.Quantity | None = None
    """What is left now; None where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The flavor that pods would get."""

    pod_set: str
    resources: tuple[str, ...]
    flavor: str
    now: bool
    """Whether it has room now; else it has room if nothing else runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Another queue that the workload could use."""

    queue: str
    behind: str = ""
    """The ClusterQueue to which it leads."""
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Nodes that could hold one pod of a pod set, if they were empty."""

    pod_set: str
    answer: Answer
    nodes: int
    """How many of the nodes that are there could hold one; an upper bound."""
    grows: tuple[str, ...]
    """Pools that an autoscaler fills and whose nodes could hold one."""
    nearest: str = ""
    """The place that lacks least, where no node could hold one."""
    missing: tuple[str, ...] = ()
    """What that place lacks, or why the answer is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What one authority says."""

    authority: str
    """`Kueue`, `Volcano`, `GPUQuota`, `ResourceQuota`, `LimitRange`, `classes`, `nodes`."""
    way: tuple[str, ...] = ()
    """The queues or quotas that decide, from the one that is named to the outermost."""
    given: bool = False
    """Whether gpu-usher names the first of them, and the file does not."""
    answer: Answer
    reasons: tuple[str, ...] = ()
    balances: tuple[Balance, ...] = ()
    taken: tuple[Taken, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    holding: tuple[Holding, ...] = ()
    remedies: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    """What has to become free."""

    @property
    def is_of_nodes(self) -> bool:
        return self.authority == NODES


def together(sections: Iterable[Section]) -> Answer:
    """The worst answer. COULD of nodes does not count: they never say more, and the others may say FITS."""
    answers = [section.answer for section in sections if not (section.is_of_nodes and section.answer is Answer.COULD)]
    return worst(answers) if answers else Answer.COULD


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """A priority class that counts for the workload."""

    kind: str
    """`WorkloadPriorityClass` or `PriorityClass`."""
    name: str
    """Empty where the pods have no class."""
    value: int | None
    """None where the class is not known or not there."""
    of: tuple[str, ...] = ()
    """Pod sets; empty for all of them."""
    by_default: bool = False
    missing: bool = False
    """Whether the cluster does not have it."""
    given: bool = False
    """Whether gpu-usher names it, and the file does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """All that `usher queue` says of one workload."""

    workload: model.Workload
    ranks: tuple[Rank, ...]
    sections: tuple[Section, ...]
    given: tuple[str, ...] = ()
    """What the mutating webhook adds, in few words each."""
    fewer: tuple[str, ...] = ()
    """With how many pods it would fit, by all sections together."""

    @property
    def answer(self) -> Answer:
        return together(self.sections)

    @property
    def remedies(self) -> tuple[str, ...]:
        """What would make it fit: fewer pods for all authorities, and changes that each authority would accept."""
        found = [*self.fewer]
        for section in self.sections:
            own = [*map(_use, section.elsewhere), *section.remedies]
            own += () if self.answer is Answer.NEVER else section.waits
            found += (f"{section.authority}: {each}" for each in own)
        return tuple(dict.fromkeys(found))


def _use(other: Elsewhere) -> str:
    behind = f" (ClusterQueue {other.behind})" if other.behind else ""
    words = {Answer.FITS: "it has room now", Answer.NOT_NOW: "it could admit it, though not now"}
    return f"use queue {other.queue}{behind}: {words.get(other.answer, 'it could admit it')}"
