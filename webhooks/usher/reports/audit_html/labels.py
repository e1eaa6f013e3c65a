"""What pages call the things of an audit."""

from typing import Final

from usher.audit.document import Severity, Standing, Subject, WorkloadState
from usher.reports.web import cells

NO_TEAM: Final = "no team"

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
    "deny": "denied",
    "warn": "let in with a warning",
    "audit": "let in, noted",
    "exempt": "not judged, exempt",
    "unknown": "not known",
    "clean": "let in",
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
