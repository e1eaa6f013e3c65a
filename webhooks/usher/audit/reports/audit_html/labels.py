"""What pages call the things of an audit."""

from typing import Final

from usher.audit.document import FindingEntry, Severity, Standing, Subject, WorkloadState
from usher.audit.reports.web import cells

NO_TEAM: Final = "no team"

PLATFORM: Final = "platform team"
"""Who looks after nodes, queues and usher itself."""

_EXCEPTIONS: Final = "owners of exceptions"

BADGES: Final = {
    Severity.CRITICAL: "bad",
    Severity.HIGH: "warn",
    Severity.MEDIUM: "quiet",
    Severity.LOW: "quiet",
    Standing.PASS: "good",
    Standing.FAIL: "bad",
    Standing.NOT_KNOWN: "quiet",
    Standing.NOT_APPLICABLE: "quiet",
    WorkloadState.RUNNING: "good",
    WorkloadState.PARTLY: "bad",
    WorkloadState.PENDING: "warn",
    WorkloadState.SUSPENDED: "quiet",
    WorkloadState.EMPTY: "quiet",
}
"""The look of the badge of each word."""

AT_ADMISSION: Final = {
    "deny": "would be denied",
    "warn": "would get a warning",
    "audit": "would be noted",
    "exempt": "not judged, exempt",
    "unknown": "not known",
    "clean": "would be let in",
}
"""What admission would do, by the outcome."""


def place(subject: Subject) -> str:
    """`speech-dev/asr`"""
    return f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name


def name_of(subject: Subject) -> str:
    """`Job speech-dev/asr`"""
    return f"{subject.kind} {place(subject)}"


def named(subject: Subject) -> cells.Cell:
    """The cell of an object: equal for equal objects, so that a link can search for it."""
    return cells.lines(("muted", subject.kind), ("strong", place(subject)))


def owner(found: FindingEntry) -> str:
    """Who makes the change: `search`, `platform team`, `platform team, for search`."""
    if found.fixed_by_platform:
        return f"{PLATFORM}, for {found.team}" if found.team else PLATFORM
    return found.team or (NO_TEAM if found.subject.namespace else _of_cluster(found))


def group(found: FindingEntry) -> str:
    """The choice of the filter by team that has a finding; people who own an exception share one."""
    if found.subject.kind == "Config":
        return _EXCEPTIONS
    if found.fixed_by_platform:
        return PLATFORM
    return "" if (name := owner(found)) == NO_TEAM else name


def _of_cluster(found: FindingEntry) -> str:
    """Nodes, queues and quotas belong to no namespace; neither may an object of a check, whose owner is not known."""
    return PLATFORM if found.category == "cluster" else NO_TEAM
