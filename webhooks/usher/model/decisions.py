"""What is said about a workload: findings, intents, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from usher import paths
from usher.model.workloads import Unknown, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check says: something is wrong at a place."""

    check: str
    """`category/name`, the key into the catalogue."""
    path: str
    message: str
    remedy: str = ""
    assumption: str = ""
    """What the check had to assume about the cluster; such a finding warns at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """An object of the cluster without which what a mutation gives would do harm: nothing is given that needs it."""

    group: str
    kind: str
    name: str
    namespace: str = ""
    """Empty for what stands in none."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that it must have, with the values that will do; an empty value stands for a label that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a mutation says of something that it leaves alone, and why."""

    mutation: str
    """As of an intent, and `at` as well."""
    at: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What a mutation says: this value should be at that place. Never a patch."""

    mutation: str
    """`category/name`, the key into the catalogue."""
    at: str
    """The object (empty), a pod set or a container, by its path."""
    field: str
    value: paths.Json
    reason: str
    needs: tuple[Need, ...] = ()


class Outcome(StrEnum):
    """What follows from a finding, worst first."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A finding with what follows from it and the identity of its check."""

    finding: Finding
    outcome: Outcome
    code: str
    name: str
    because: str = ""
    """Why the outcome is milder than the check's own, where it is."""
    exception: int | None = None
    """Which exception of usher.yaml covers it, counted from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """All that was decided about one object. Whoever asked, the same object gives the same decision."""

    workload: Workload | None
    """None for objects that make no pods."""
    judgements: tuple[Judgement, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    exemption: str = ""
    """Why the object was not judged; empty when it was."""

    @property
    def allowed(self) -> bool:
        return all(judgement.outcome is not Outcome.DENY for judgement in self.judgements)
