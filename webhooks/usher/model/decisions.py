"""Findings and intents about a workload, and the decision that follows."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from usher import paths
from usher.model.workload import Unknown, Workload

GATEKEEPER: Final = "gatekeeper/"
"""The start of the key of a Gatekeeper policy, instead of the category of a check."""


class Need(Struct, frozen=True, kw_only=True):
    """An object of the cluster that the value of an intent needs. Without that object the intent is not applied."""

    group: str
    kind: str
    name: str
    namespace: str = ""
    """Empty for cluster-scoped kinds."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that it must have, each with the accepted values; an empty value accepts a missing label."""


class Finding(Struct, frozen=True, kw_only=True):
    """The result of a check: something is wrong at a place."""

    check: str
    """`category/name`, the key into the catalogue."""
    path: str
    message: str
    remedy: str = ""
    assumption: str = ""
    """An assumption of the check about the cluster; with one, the finding warns at most."""
    noted: bool = False
    """Whether only the site can confirm the assumption, so that presets other than `strict` note the finding."""
    missing: Need | None = None
    """The missing object that a finding is about; no report prints it."""


class Note(Struct, frozen=True, kw_only=True):
    """A warning of a mutation about something that it does not change, with the reason."""

    mutation: str
    """As in an Intent; `at` too."""
    at: str
    reason: str


class Intent(Struct, frozen=True, kw_only=True):
    """The result of a mutation: this value should be at that place. Never a patch."""

    mutation: str
    """`category/name`, the key into the catalogue."""
    at: str
    """The object (empty), a pod set or a container, by its path."""
    field: str
    value: paths.Json
    reason: str
    needs: tuple[Need, ...] = ()


class Outcome(StrEnum):
    """The consequence of a finding, worst first."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"


class Judgement(Struct, frozen=True, kw_only=True):
    """A finding with its outcome, and with the code and name of its check."""

    finding: Finding
    outcome: Outcome
    code: str
    name: str
    because: str = ""
    """Why the outcome is milder than the check's own; empty if it is not milder."""
    exception: int | None = None
    """The exception of usher.yaml that covers it, counted from 0; None without one."""
    suppressed: bool = False
    """Whether the author of the object suppresses it, and usher.yaml lets authors do that."""

    @property
    def of_gatekeeper(self) -> bool:
        """Whether a policy of Gatekeeper found it; then the code is the kind of its constraint."""
        return self.finding.check.startswith(GATEKEEPER)

    @property
    def rule(self) -> str:
        """The rule in logs: the code of a check, or kind and name of a constraint."""
        return f"{self.code}/{self.name}" if self.of_gatekeeper else self.code

    @property
    def series(self) -> str:
        """The rule in metrics: the name of a check, or the key of a policy of Gatekeeper."""
        return self.finding.check if self.of_gatekeeper else self.name


class Decision(Struct, frozen=True, kw_only=True):
    """The decision about one object: the same in a webhook, in CI and in an audit."""

    workload: Workload | None
    """None for objects that make no pods."""
    judgements: tuple[Judgement, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    exemption: str = ""
    """Why the object was not judged; empty if it was."""
    unprotected: bool = False
    """Whether a mutation that protects others, and whose absence no check finds, has something to add."""
    missed: tuple[str, ...] = ()
    """Mutations that the object lacks, if they would have removed a finding."""
    try_again: bool = False
    """Whether the object must wait for these mutations: the mutating webhook has to answer first."""

    @property
    def allowed(self) -> bool:
        return not self.try_again and all(judgement.outcome is not Outcome.DENY for judgement in self.judgements)
