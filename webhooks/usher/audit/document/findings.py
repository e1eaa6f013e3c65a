"""Findings of an audit: those of checks on single objects, and those about the cluster as a whole."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Final

from pydantic import Field

from usher.audit.document.part import Part

_SOON: Final = 14
"""Days."""


class Severity(StrEnum):
    """How bad a finding is, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Subject(Part):
    """The object that an entry is about; empty texts where a field does not apply."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str


class FindingEntry(Part):
    """One finding.

    `fingerprint` stays the same while the finding is the same: code, object and path, no number and no message.
    """

    fingerprint: str
    code: str
    name: str
    title: str
    category: str
    """The category of the check; `cluster` for findings about the cluster as a whole."""
    outcome: str
    """`deny`, `warn` or `audit`: what admission would do; `audit` for findings about the cluster."""
    severity: Severity
    subject: Subject
    path: str = ""
    """The field as people read it; empty for the whole object."""
    message: str
    remedy: str = ""
    team: str = ""
    gpus: float | None = 0
    """Of a workload the GPUs that it holds, or the most that it asks for where it holds none, so that all its findings
    have one number; of anything else those that the message is about. Null where an amount cannot be read."""
    since: str = ""
    """When what it is about began, ISO 8601 in UTC: creation of the object, or start of the waiting."""
    evidence: tuple[str, ...] = ()
    held_by: str = ""
    """For what does not start: the authority that holds it (Kueue, Volcano, nodes, a quota, the scheduler)."""
    never: bool = False
    """Whether it means that the workload can never run."""
    prevented_by: str = ""
    """The code of the rule of usher that denies this today, so that admission would have prevented it; else empty. It
    is another rule than the one of the finding."""
    preventable_by: str = ""
    """The code of a rule that found the mistake and only warns of it: it would have prevented it if it denied."""
    mended_by: str = ""
    """The mutation with which admission mends it today, so that it would not deny the object for it; else empty."""
    exception: str = ""
    """The ticket of the exception that covers it."""
    gpus_least: float | None = None
    """`gpus` without the extra pods of a rollout or an autoscaler; null where it is not known, and for findings about
    the cluster also where it is the same number."""
    other_accelerators: Mapping[str, float] = Field(default={})
    """Accelerators that are no GPUs, which the object holds or asks for, by resource."""
    because: str = ""
    """Why the outcome is milder than the one of the rule: an assumption of usher, or usher.yaml."""
    place: str = ""
    """File and line of a manifest; empty for what comes from a cluster."""

    gpus_lost: float | None = None
    """Of a node the GPUs that are out of use until it is repaired; of a gang those that it holds without work. Null for
    all other findings, and where pods were not read."""
    cost_per_hour: float | None = None
    """What `gpus_lost` cost in an hour; null where not priced."""
    fixed_by_platform: bool = False
    """Whether the remedy changes nodes alone, so that the platform team makes it, and not `team`."""

    @property
    def known_gpus(self) -> float:
        """For sums and for sorting: 0 where the number is not known."""
        return self.gpus or 0.0

    @property
    def known_least(self) -> float:
        """`gpus_least`; the one number where both are the same, and 0 where it is not known."""
        return self.known_gpus if self.gpus_least is None else self.gpus_least


class NotEvaluatedEntry(Part):
    """A check without a verdict: neither a pass nor a violation."""

    code: str
    name: str
    reason: str
    workloads: int


class NotJudgedEntry(Part):
    """A part of an object that could not be read, so that no check judged it: neither a pass nor a violation."""

    subject: Subject
    path: str = ""
    """As people read it; empty for the whole object."""
    reason: str
    place: str = ""
    """File and line of a manifest; empty for what comes from a cluster."""


class ExceptionEntry(Part):
    """An exception of usher.yaml. `state` is `used`, `unused`, `expired` or `not needed`."""

    ticket: str
    owner: str
    reason: str = ""
    checks: tuple[str, ...]
    namespaces: tuple[str, ...]
    expires: date
    state: str
    findings: int
    days_left: int
    """Days until it ends; negative where it has ended."""

    @property
    def ends_soon(self) -> bool:
        """Whether it ends within 14 days, and has not ended."""
        return 0 <= self.days_left <= _SOON
