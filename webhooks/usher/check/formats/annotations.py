"""Entries beside the code in CI systems: GitHub Actions, Azure Pipelines and GitLab, each within what it accepts.

GitHub shows ten annotations of each level and step. The worst entries become annotations, the others lines of the log.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands and ActionCommand.cs of
https://github.com/actions/runner

Azure has errors and warnings; a note becomes a line of the log. It shows ten issues of each level and step: the worst
become issues, the others lines of the log.

Source: https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands and Command.cs of
https://github.com/microsoft/azure-pipelines-agent

GitLab matches issues of two runs only by their fingerprint, so the fingerprint does not contain the line.

Source: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NotRequired, TextIO, TypedDict

import orjson
from msgspec import Struct

from usher.check import findings
from usher.check.formats import entries, summary, wording
from usher.check.formats.entries import Entry, Level
from usher.policy.checks import catalogue

MOST: Final = 10
"""The most annotations of one level and step that GitHub Actions and Azure Pipelines show."""

_MAX_TEXT: Final = 4_000
"""The most characters of a message; runners cut a longer one."""


class Annotations(Struct, frozen=True, kw_only=True):
    shown: Sequence[Entry]
    """Errors first; at most MOST of each level, and one note fewer, which leaves room for a notice of our own."""
    left_out: Sequence[Entry]


def of(found: findings.Report) -> Annotations:
    shown: list[Entry] = []
    left_out: list[Entry] = []
    room = {Level.ERROR: MOST, Level.WARNING: MOST, Level.NOTE: MOST - 1}
    for entry in entries.worst_first(entries.of_report(found)):
        room[entry.level] -= 1
        (shown if room[entry.level] >= 0 else left_out).append(entry)
    return Annotations(shown=shown, left_out=left_out)


def counted(left_out: Sequence[Entry]) -> str:
    """`32 more errors and 4 more warnings`."""
    numbers = [(level, sum(entry.level is level for entry in left_out)) for level in Level]
    return wording.sentence(wording.count(number, f"more {level}") for level, number in numbers if number)


def text(entry: Entry, *, between: str) -> str:
    """The whole text of an entry, safe in a line of a log; `between` separates its sentences."""
    sentences = filter(None, (entry.text, *entry.details, entry.page))
    parts = [wording.without_commands(wording.printable(part)) for part in sentences]
    joined = between.join(parts)
    return joined if len(joined) <= _MAX_TEXT else f"{joined[: _MAX_TEXT - 1]}…"


def plain(entry: Entry) -> str:
    """An entry as a line of a log that a CI system does not read as a command."""
    line = f"{entry.level}: {entry.where}: {entry.title}: {text(entry, between='; ')}"
    return wording.harmless(wording.printable(line))


_GITHUB_COMMANDS: Final = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
_GITHUB_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_GITHUB_PROPERTY: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def write_github(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the commands, then the entries that GitHub would not show, then the totals of the run."""
    chosen = of(found)
    for entry in chosen.shown:
        message = text(entry, between="\n")
        stream.write(github_command(_GITHUB_COMMANDS[entry.level], message, **dict(_github_properties(entry))))
    if chosen.left_out:
        more = counted(chosen.left_out)
        notice = f"GitHub shows {MOST} annotations of each level. {more} are in the log of this step."
        stream.write(github_command("notice", notice, title="gpu-usher"))
        stream.write(github_command("group", more))
        stream.writelines(f"{plain(entry)}\n" for entry in chosen.left_out)
        stream.write(github_command("endgroup", ""))
    stream.write(f"{wording.harmless(wording.printable(summary.numbers(found)))}\n")


def github_command(name: str, message: str, **properties: str) -> str:
    """A line with a workflow command, escaped so that the runner reads the same texts from it."""
    written = ",".join(f"{key}={value.translate(_GITHUB_PROPERTY)}" for key, value in properties.items() if value)
    return f"::{name}{f' {written}' if written else ''}::{message.translate(_GITHUB_DATA)}\n"


def _github_properties(entry: Entry) -> Iterator[tuple[str, str]]:
    if entry.file:
        yield "file", wording.without_commands(wording.printable(entry.file))
        if entry.line:
            yield "line", str(entry.line)
            yield "endLine", str(entry.line)
        if entry.column:
            yield "col", str(entry.column)
            yield "endColumn", str(max(entry.end_column, entry.column + 1))
    yield "title", wording.without_commands(wording.printable(entry.title))


_AZURE_TYPES: Final = {Level.ERROR: "error", Level.WARNING: "warning"}
_AZURE_DATA: Final = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A"})
_AZURE_PROPERTY: Final = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A", "]": "%5D", ";": "%3B"})


def write_azure(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the commands, then the entries that Azure would not show, then the totals of the run."""
    chosen = of(found)
    issues = [entry for entry in chosen.shown if entry.level in _AZURE_TYPES]
    others = [entry for entry in chosen.shown if entry.level not in _AZURE_TYPES]
    for entry in issues:
        title = wording.without_commands(wording.printable(entry.title))
        message = f"{title}: {text(entry, between='. ')}"
        stream.write(azure_command("task.logissue", message, **dict(_azure_properties(entry))))
    left_out = [entry for entry in chosen.left_out if entry.level in _AZURE_TYPES]
    if left_out:
        more = counted(left_out)
        stream.write(f"Azure Pipelines shows {MOST} issues of each level. {more} follow here.\n")
    stream.writelines(f"{plain(entry)}\n" for entry in (*left_out, *others))
    stream.writelines(f"{plain(entry)}\n" for entry in chosen.left_out if entry.level not in _AZURE_TYPES)
    stream.write(f"{wording.harmless(wording.printable(summary.numbers(found)))}\n")


def azure_command(name: str, message: str, **properties: str) -> str:
    """A line with a logging command, escaped so that the agent reads the same texts from it."""
    written = "".join(f"{key}={value.translate(_AZURE_PROPERTY)};" for key, value in properties.items() if value)
    return f"##vso[{name} {written}]{message.translate(_AZURE_DATA)}\n"


def _azure_properties(entry: Entry) -> Iterator[tuple[str, str]]:
    yield "type", _AZURE_TYPES[entry.level]
    if entry.file:
        yield "sourcepath", wording.without_commands(wording.printable(entry.file))
        if entry.line:
            yield "linenumber", str(entry.line)
        if entry.column:
            yield "columnnumber", str(entry.column)
    if entry.finding is not None:
        yield "code", wording.printable(entry.finding.judgement.code)


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


def write_gitlab(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the issues as one JSON list; empty for a clean run."""
    listed = entries.worst_first(entries.of_report(found))
    issues = [_issue(entry, fingerprint, found) for entry, fingerprint in entries.with_fingerprints(listed)]
    text = orjson.dumps(issues, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    stream.write(wording.json_without_commands(text))


def _issue(entry: Entry, fingerprint: str, found: findings.Report) -> Issue:
    lines: Lines = {"begin": entry.line, "end": entry.line} if entry.line else {"begin": 1}
    text = ". ".join(filter(None, [entry.text.rstrip("."), *entry.details, entry.page]))
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
