"""What a run over many objects found: the value that `scan` hands to `reports`.

Plain and frozen. It holds what a reader is shown and neither the objects nor their text, so that an audit of a hundred
thousand objects needs memory for what was found and not for what was read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from usher import model, paths
from usher.mutation import merge
from usher.scan.devices import NOTHING, Amount, Devices


class Command(StrEnum):
    """Who asked: `check` points at lines, `audit` opens with totals."""

    CHECK = "check"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One line of the source; the columns count its characters from 1, the end is the one after the last."""

    text: str
    column: int
    end_column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a file something stands; line and column count from 1."""

    line: int
    column: int
    excerpt: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """Which pod template of a workload a finding is about."""

    name: str
    pods: model.Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A judgement with its place."""

    judgement: model.Judgement
    place: Place | None
    """None where there is no text: objects of a live cluster."""
    pod_set: PodSet | None
    """None when it is about the workload as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotJudged:
    """A part of an object that could not be read, or a check that could not be evaluated on it."""

    unknown: model.Unknown
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which object it is."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        name, kind = self.name or "(unnamed)", self.kind or "(no kind)"
        # A Namespace stands in itself.
        within = f"{self.namespace}/" if self.namespace and (self.api_version, self.kind) != ("v1", "Namespace") else ""
        return f"{kind} {within}{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What the mutating webhook would do to an object."""

    before: paths.Object
    merged: merge.Merged
    names: Mapping[str, str]
    """Names of the mutations in `merged`, by key."""
    places: Mapping[str, str]
    """What people call the pod sets and containers that intents point at: `container pytorch of Worker`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was decided about one workload."""

    source: str
    line: int
    """First line of its document; 0 where there is no text."""
    identity: Identity
    role: model.Role
    pods: model.Count
    accelerators: Devices
    is_template: bool = False
    """Whether it makes pods only when something else refers to it, so that nothing of it is added up."""
    findings: tuple[Finding, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()
    exemption: str = ""
    makes_pods: bool = True
    """False for what is no workload: queues, quotas, classes, nodes."""
    change: Change | None = None
    """None when nobody asked for it."""

    @property
    def worst(self) -> model.Outcome | None:
        """The outcome that decides about it; None without findings."""
        return self.findings[0].judgement.outcome if self.findings else None

    @property
    def outcome(self) -> str:
        """What a report says of it: the worst outcome, or `exempt`, `unknown` or `clean`."""
        if self.exemption:
            return "exempt"
        if self.worst is not None:
            return self.worst.value
        return "unknown" if self.unread else "clean"

    @property
    def unread(self) -> int:
        """How many parts of the object itself could not be judged, whatever the checks said of the rest."""
        return sum(not entry.unknown.check for entry in self.not_judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An object about which nothing was decided, because we failed and not because of what it holds."""

    source: str
    line: int
    identity: Identity
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An input that could not be used; line and column are 0 where unknown. The run counts as failed."""

    source: str
    reason: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that was left out on purpose and that the reader should know of."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEvaluated:
    """A check that said of some workloads that it could not tell, all for the same reason."""

    check: str
    code: str
    name: str
    reason: str
    workloads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The numbers that a report ends or opens with."""

    files: int = 0
    objects: int = 0
    """All Kubernetes objects, workloads or not."""
    workloads: int = 0
    pods: Amount = NOTHING
    accelerators: Devices
    accelerators_with_errors: Devices
    """Of the workloads that have a finding which denies."""
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    """Findings by outcome: deny, warn, audit."""
    exempt: int = 0
    owned: int = 0
    """Objects that belong to a listed workload and are judged there."""
    finished: int = 0
    """Objects of a cluster that have run to their end: they hold no accelerator any more."""
    ignored: int = 0
    """Documents that are no Kubernetes objects."""

    @property
    def by_outcome(self) -> Mapping[model.Outcome, int]:
        return {model.Outcome.DENY: self.errors, model.Outcome.WARN: self.warnings, model.Outcome.AUDIT: self.notes}


class ExceptionState(StrEnum):
    USED = "used"
    UNUSED = "unused"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionUse:
    """An exception of usher.yaml, and whether anything still needs it."""

    checks: tuple[str, ...]
    namespaces: tuple[str, ...]
    ticket: str
    owner: str
    expires: date
    state: ExceptionState
    findings: int
    """How many findings it covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What the run judged by."""

    source: str = ""
    """The file; empty for the built-in defaults."""
    preset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All of one run, in the order in which the objects were met."""

    command: Command
    version: str
    configuration: Configuration
    origin: str = ""
    """The cluster that was audited; empty for files."""
    admitted: bool = False
    """Whether the objects were judged as the mutating webhook would leave them."""
    results: tuple[Result, ...]
    failures: tuple[Failure, ...]
    problems: tuple[Problem, ...]
    notes: tuple[Note, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    without_facts: int = 0
    """Checks that compare with the cluster and were not asked, because nothing is known of it."""
    exceptions: tuple[ExceptionUse, ...] = ()
    totals: Totals

    @property
    def denies(self) -> bool:
        return self.totals.errors > 0

    @property
    def unread(self) -> int:
        """Parts of workloads that nobody judged: unknown kinds, fields of a wrong type. No pass and no violation."""
        return sum(result.unread for result in self.results)

    @property
    def failed(self) -> bool:
        """Whether something could not be read or judged, so that a clean report would prove nothing."""
        return bool(self.problems or self.failures)
