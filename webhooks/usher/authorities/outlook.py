"""What is to be said of one workload: the answer of everybody who has a say in whether it starts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from usher import model, quantities
from usher.authorities.verdict import Answer, worst

NODES: Final = "nodes"
"""The authority of which nothing is known that holds only now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What is asked of one resource, and what there is."""

    of: str
    """Who gives it: `flavor a100`, `ResourceQuota gpus`; for people."""
    resource: str
    """As who gives it calls it."""
    asks: quantities.Quantity
    most: quantities.Quantity | None
    """What it could ever give; None where nothing bounds it."""
    own: quantities.Quantity | None = None
    """The part of `most` that is not borrowed, where something is."""
    used: quantities.Quantity | None = None
    """None where nobody knows; of a queue what it has reserved itself."""
    free: quantities.Quantity | None = None
    """What is left now, as `used`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The flavor that pods would get."""

    pod_set: str
    resources: tuple[str, ...]
    flavor: str
    now: bool
    """Whether it has room now; else the one with room if nothing else ran."""


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
    """Of those that are there; at the most so many."""
    grows: tuple[str, ...]
    """Pools that an autoscaler fills and whose nodes could hold one."""
    nearest: str = ""
    """Of which the least is missing, where there is none."""
    missing: tuple[str, ...] = ()
    """What that place lacks, or why nobody can tell."""


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
    """What has to come free."""

    @property
    def is_of_nodes(self) -> bool:
        return self.authority == NODES


def together(sections: Iterable[Section]) -> Answer:
    """The answer of all; that nodes could hold the pods says nothing of now, and is no doubt about the others."""
    answers = [section.answer for section in sections if not (section.is_of_nodes and section.answer is Answer.COULD)]
    return worst(answers) if answers else Answer.COULD


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """A priority class that counts for the workload."""

    kind: str
    """`WorkloadPriorityClass` or `PriorityClass`."""
    name: str
    """Empty for no class at all."""
    value: int | None
    """None where the class is not known or not there."""
    of: tuple[str, ...] = ()
    """Pod sets; empty for all of them."""
    by_default: bool = False
    missing: bool = False
    """Whether it is known not to be there."""
    given: bool = False
    """As of a section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Of one workload, as the mutating webhook would leave it unless it is taken as it stands."""

    workload: model.Workload
    ranks: tuple[Rank, ...]
    sections: tuple[Section, ...]
    given: tuple[str, ...] = ()
    """What the mutating webhook adds, in few words each."""
    fewer: tuple[str, ...] = ()
    """With how many pods it would do, by all sections together."""

    @property
    def answer(self) -> Answer:
        return together(self.sections)

    @property
    def remedies(self) -> tuple[str, ...]:
        """What would make it fit: with fewer pods everywhere, and else what each authority by itself would take."""
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
