"""What a history knows of one cluster."""

from collections.abc import Mapping
from dataclasses import field, replace

from usher.audit.document import Audit, FindingEntry, Point, Subject
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A finding that an audit had."""

    fingerprint: str
    code: str
    title: str
    category: str
    subject: Subject
    first_seen: str
    last_seen: str
    gone: str = ""
    """The audit that no longer had it; empty while it is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Earlier audits of a cluster, and their findings."""

    points: tuple[Point, ...] = ()
    """Oldest first."""
    left_out: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The sources that an audit left out, by the time of the audit; at least of those that saw an open finding last."""
    findings: tuple[Seen, ...] = ()


def of(audit: Audit) -> Past:
    """A past of this one audit, as if a history began with it."""
    findings = tuple(seen(each, at=audit.taken) for each in audit.findings)
    first_seen = audit.trend.first_seen
    return Past(
        points=(point(audit),),
        left_out={audit.taken: left_out(audit)},
        findings=tuple(replace(each, first_seen=first_seen.get(each.fingerprint, audit.taken)) for each in findings),
    )


def seen(finding: FindingEntry, *, at: str) -> Seen:
    """A finding that an audit sees for the first time."""
    return Seen(
        fingerprint=finding.fingerprint,
        code=finding.code,
        title=finding.title,
        category=finding.category,
        subject=finding.subject,
        first_seen=at,
        last_seen=at,
    )


def left_out(audit: Audit) -> frozenset[str]:
    """What an audit left out on purpose: sources, and checks without a verdict as `check CODE`."""
    sources = {each.source for each in audit.completeness.left_out}
    return frozenset(sources | {f"check {each.code}" for each in audit.not_evaluated})


def point(audit: Audit) -> Point:
    """The headline numbers of an audit."""
    found = audit.summary
    return Point(
        taken=audit.taken,
        complete=audit.completeness.complete,
        gpus=found.gpus,
        gpus_allocated=found.gpus_allocated,
        idle=found.idle,
        idle_cost=found.cost_idle,
        not_held=found.not_held,
        not_held_cost=found.cost_not_held,
        activity=found.activity,
        findings=len(audit.findings),
        never=found.workloads_never,
        readiness_failed=found.readiness.get("fail", 0),
    )
