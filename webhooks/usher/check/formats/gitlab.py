"""Writes GitLab Code Quality: one list of issues, which a merge request compares with its target's.

GitLab matches issues of two runs only by their fingerprint, so the fingerprint does not contain the line.

Source: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

import posixpath
from typing import Final, Literal, NotRequired, TextIO, TypedDict

import orjson

from usher.check import findings
from usher.check.formats import entries, wording
from usher.check.formats.entries import Entry, Level
from usher.policy.checks import catalogue

Severity = Literal["info", "minor", "major", "critical", "blocker"]

_SEVERITIES: Final[dict[Level, Severity]] = {Level.ERROR: "critical", Level.WARNING: "minor", Level.NOTE: "info"}
_WORSE: Final[dict[Level, Severity]] = {Level.ERROR: "blocker", Level.WARNING: "major", Level.NOTE: "info"}
"""Severities for checks with severity critical, and for everything that makes a run incomplete."""


class Lines(TypedDict):
    begin: int
    end: NotRequired[int]


class Location(TypedDict):
    path: str
    lines: Lines


class Issue(TypedDict):
    description: str
    check_name: str
    fingerprint: str
    severity: Severity
    location: Location


def write(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the issues as one JSON list; empty for a clean run."""
    listed = entries.worst_first(entries.of_report(found))
    issues = [_issue(entry, fingerprint, found) for entry, fingerprint in entries.with_fingerprints(listed)]
    text = orjson.dumps(issues, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    stream.write(wording.json_without_commands(text))


def _issue(entry: Entry, fingerprint: str, found: findings.Report) -> Issue:
    lines: Lines = {"begin": entry.line, "end": entry.line} if entry.line else {"begin": 1}
    text = ". ".join([entry.text.rstrip("."), *entry.details])
    return {
        "description": wording.printable(text or entry.title),
        "check_name": wording.printable(entry.title),
        "fingerprint": fingerprint,
        "severity": _severity(entry, found),
        "location": {"path": wording.printable(posixpath.normpath(entry.source)), "lines": lines},
    }


def _severity(entry: Entry, found: findings.Report) -> Severity:
    if entry.finding is None:
        return _WORSE[entry.level]
    rule = found.rules.get(entry.finding.judgement.finding.check)
    is_critical = rule is not None and rule.severity is catalogue.Severity.CRITICAL
    return (_WORSE if is_critical else _SEVERITIES)[entry.level]
