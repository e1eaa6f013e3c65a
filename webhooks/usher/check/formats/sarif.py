"""Writes SARIF 2.1.0, for GitHub code scanning and for editors.

GitHub refuses a run with more than 25,000 results and a file of more than 10 MB compressed, and shows 5,000 results.
A larger run loses its mildest results, and a notification says how many. `fixes` are left out: a remedy is a
sentence, and a mistake that the mutating webhook mends is not a result.

Source: https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support-for-code-scanning

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

import gzip
import posixpath
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NotRequired, TextIO, TypedDict

import orjson

from usher import model
from usher.check import findings
from usher.check.formats import entries, markdown, wording
from usher.check.formats.entries import Entry
from usher.policy.checks import catalogue

Severity = Literal["none", "note", "warning", "error"]


class Message(TypedDict):
    text: str
    markdown: NotRequired[str]


class ArtifactLocation(TypedDict):
    uri: str


class Region(TypedDict):
    startLine: int
    startColumn: NotRequired[int]
    endLine: int
    endColumn: NotRequired[int]


class PhysicalLocation(TypedDict):
    artifactLocation: ArtifactLocation
    region: NotRequired[Region]


class LogicalLocation(TypedDict):
    kind: str
    fullyQualifiedName: str
    name: NotRequired[str]


class Location(TypedDict):
    physicalLocation: NotRequired[PhysicalLocation]
    logicalLocations: NotRequired[list[LogicalLocation]]


class Configuration(TypedDict):
    level: Severity
    rank: float


Properties = TypedDict(
    "Properties",
    {
        "tags": list[str],
        "problem.severity": Literal["error", "warning", "recommendation"],
        "security-severity": NotRequired[str],
    },
)


class Rule(TypedDict):
    id: str
    name: str
    shortDescription: Message
    fullDescription: Message
    help: Message
    helpUri: NotRequired[str]
    defaultConfiguration: NotRequired[Configuration]
    properties: NotRequired[Properties]


class Suppression(TypedDict):
    kind: Literal["external"]
    status: Literal["accepted"]
    justification: str


class Result(TypedDict):
    ruleId: str
    ruleIndex: int
    level: Severity
    message: Message
    locations: list[Location]
    partialFingerprints: dict[str, str]
    suppressions: NotRequired[list[Suppression]]


class RuleReference(TypedDict):
    id: str


class Notification(TypedDict):
    level: Severity
    message: Message
    locations: NotRequired[list[Location]]
    associatedRule: NotRequired[RuleReference]


class Invocation(TypedDict):
    executionSuccessful: bool
    exitCode: NotRequired[int]
    exitCodeDescription: NotRequired[str]
    toolExecutionNotifications: list[Notification]


class Driver(TypedDict):
    name: str
    version: str
    semanticVersion: str
    rules: list[Rule]


class Tool(TypedDict):
    driver: Driver


class Run(TypedDict):
    tool: Tool
    invocations: list[Invocation]
    columnKind: Literal["unicodeCodePoints"]
    results: list[Result]


Log = TypedDict("Log", {"$schema": str, "version": Literal["2.1.0"], "runs": list[Run]})

_SECURITY: Final = frozenset({"isolation", "tenancy"})
"""Categories of checks that isolate workloads; only these have a security severity."""

_SCORES: Final = {
    catalogue.Severity.CRITICAL: "9.5",
    catalogue.Severity.HIGH: "8.0",
    catalogue.Severity.MEDIUM: "5.5",
    catalogue.Severity.LOW: "2.5",
}
"""GitHub reads 9.0 and more as critical, 7.0 as high, 4.0 as medium, less as low."""

_LEVELS: Final[Mapping[catalogue.Severity, Severity]] = {
    catalogue.Severity.CRITICAL: "error",
    catalogue.Severity.HIGH: "error",
    catalogue.Severity.MEDIUM: "warning",
    catalogue.Severity.LOW: "note",
}
_RANKS: Final = {
    catalogue.Severity.CRITICAL: 95.0,
    catalogue.Severity.HIGH: 75.0,
    catalogue.Severity.MEDIUM: 50.0,
    catalogue.Severity.LOW: 25.0,
}
_MAX_TEXT: Final = 1_024
"""The most characters of a description that GitHub stores."""


def rules_by_key(kept: Iterable[Entry], found: findings.Report) -> dict[str, Rule]:
    """The rules of the findings and of the checks that were not evaluated, by key, sorted by code."""
    named = {each.check: (each.code or each.check, each.name) for each in found.not_evaluated}
    for entry in kept:
        if entry.finding is not None:
            judgement = entry.finding.judgement
            named[judgement.finding.check] = (_id(judgement), judgement.name)
    in_order = sorted(named, key=lambda check: (len(named[check][0]), *named[check]))
    base = found.configuration.check_pages
    return {
        check: _rule(found.rules[check], base) if check in found.rules else _unknown_rule(*named[check])
        for check in in_order
    }


def _id(judgement: model.Judgement) -> str:
    """The code of a check. A policy of the site also has its constraint, because a template may have several."""
    of_site = judgement.of_gatekeeper
    return f"{judgement.code}/{judgement.name}" if of_site else judgement.code


def _unknown_rule(code: str, name: str) -> Rule:
    text = Message(text=name)
    return {"id": code, "name": name, "shortDescription": text, "fullDescription": text, "help": text}


def _rule(entry: catalogue.Entry, base: str | None) -> Rule:
    severity = entry.severity or catalogue.Severity.MEDIUM
    level = _LEVELS[severity]
    properties: Properties = {
        "tags": [entry.category, *(["security"] if entry.category in _SECURITY else [])],
        "problem.severity": "error" if level == "error" else "warning" if level == "warning" else "recommendation",
    }
    if entry.category in _SECURITY:
        properties["security-severity"] = _SCORES[severity]
    rule: Rule = {
        "id": entry.code,
        "name": entry.name,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": _shortened(" ".join((entry.why or entry.description).split()))},
        "help": _help(entry),
        "defaultConfiguration": {"level": level, "rank": _RANKS[severity]},
        "properties": properties,
    }
    page = entry.page(base)
    if page:
        rule["helpUri"] = page
    return rule


def _help(entry: catalogue.Entry) -> Message:
    parts = [part.strip() for part in (entry.why, entry.description, entry.remediation) if part.strip()]
    of_code = [] if entry.category == catalogue.OWN_CATEGORY else [_help_sentence(entry)]
    links = [f"[{markdown.prose(each.description or each.ref)}](<{each.ref}>)" for each in entry.links]
    sources = "\n".join(f"* {link}" for link in links)
    return {
        "text": "\n\n".join([*parts, *of_code, *(each.ref for each in entry.links)]),
        "markdown": "\n\n".join([f"**{entry.code} {entry.title}**", *parts, *of_code, *([sources] if sources else [])]),
    }


def _help_sentence(entry: catalogue.Entry) -> str:
    page = f"docs/checks/{entry.name}.md"
    return f"`usher explain {entry.code}` and {page} of gpu-usher show examples."


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


MAX_RESULTS: Final = 25_000
SHOWN_RESULTS: Final = 5_000
MAX_COMPRESSED: Final = 10_000_000
"""The most bytes after gzip."""

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT: Final = "gpuUsherFinding/v1"
"""It is not primaryLocationLineHash: GitHub's upload computes that from the line, and warns about any other value."""


def write(
    found: findings.Report, stream: TextIO, /, *, most: int = MAX_RESULTS, max_compressed: int = MAX_COMPRESSED
) -> None:
    """Writes the report with at most `most` results and at most `max_compressed` bytes after gzip."""
    listed = entries.of_report(found)
    results = entries.worst_first(each for each in listed if each.finding is not None)
    other = [each for each in listed if each.finding is None]
    kept = results[:most]
    data = _document(found, kept, other, cut=len(results) - len(kept))
    while kept and len(data) > max_compressed and (size := len(gzip.compress(data, mtime=0))) > max_compressed:
        kept = kept[: min(len(kept) - 1, len(kept) * max_compressed // size)]
        data = _document(found, kept, other, cut=len(results) - len(kept))
    stream.write(wording.json_without_commands(data.decode()))


def _document(found: findings.Report, kept: Sequence[Entry], other: Sequence[Entry], *, cut: int) -> bytes:
    rules = rules_by_key(kept, found)
    indices = {check: number for number, check in enumerate(rules)}
    run: Run = {
        "tool": {
            "driver": {
                "name": "gpu-usher",
                "version": found.version,
                "semanticVersion": found.version,
                "rules": list(rules.values()),
            }
        },
        "invocations": [_invocation(found, [*_cut(len(kept), cut), *_notifications(found, other)])],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(entry, each, found, fingerprint, rules, indices)
            for entry, fingerprint in entries.with_fingerprints(kept)
            if (each := entry.finding) is not None
        ],
    }
    log: Log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(log, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _invocation(found: findings.Report, notifications: list[Notification]) -> Invocation:
    ending = found.ending
    unknown = ending is not None and not ending.unknown_accepted and found.unread > 0
    invocation: Invocation = {
        "executionSuccessful": not found.failed and not unknown,
        "toolExecutionNotifications": notifications,
    }
    if ending is not None:
        invocation["exitCode"] = ending.code
        invocation["exitCodeDescription"] = ending.reason
    return invocation


def _result(  # noqa: PLR0913, PLR0917 - the finding, its run, and the place of its rule
    entry: Entry,
    finding: findings.Finding,
    found: findings.Report,
    fingerprint: str,
    rules: dict[str, Rule],
    indices: dict[str, int],
) -> Result:
    check = finding.judgement.finding.check
    result: Result = {
        "ruleId": rules[check]["id"],
        "ruleIndex": indices[check],
        "level": _level(entry),
        "message": _message(". ".join([entry.text.rstrip("."), *entry.details])),
        "locations": [_location(entry)],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
    }
    number = finding.judgement.exception
    if number is not None and number < len(found.exceptions):
        used = found.exceptions[number]
        reason = wording.printable(f"exception {used.ticket} of {used.owner} until {used.expires}")
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return result


def _location(entry: Entry) -> Location:
    location: Location = {}
    if entry.file:
        location["physicalLocation"] = {"artifactLocation": {"uri": uri(entry.file)}}
        if entry.line:
            region: Region = {"startLine": entry.line, "endLine": entry.line}
            if entry.column:
                region["startColumn"] = entry.column
                region["endColumn"] = max(entry.end_column, entry.column + 1)
            location["physicalLocation"]["region"] = region
    named = list(_logical(entry))
    if named:
        location["logicalLocations"] = named
    return location


def _logical(entry: Entry) -> Iterator[LogicalLocation]:
    """The object, and the field in it as a JSON Pointer."""
    if entry.result is None:
        return
    identity = entry.result.identity
    parts = (identity.api_version, identity.kind, identity.namespace, identity.name)
    name = wording.printable("/".join(filter(None, parts)))
    yield {"kind": "resource", "name": wording.printable(identity.name or "(unnamed)"), "fullyQualifiedName": name}
    path = entry.finding.judgement.finding.path if entry.finding is not None else ""
    if path:
        yield {"kind": "property", "fullyQualifiedName": wording.printable(path)}


def uri(file: str) -> str:
    """A relative reference for a relative path, so that GitHub resolves it from the root of the repository."""
    path = posixpath.normpath(file)
    # It also escapes `:`, or the start of a name would be a scheme.
    quoted = urllib.parse.quote(path, safe="/", errors="backslashreplace")
    return f"file://{quoted}" if path.startswith("/") else quoted


def _level(entry: Entry) -> Severity:
    return entry.level.value


def _message(text: str) -> Message:
    """A message in which a name cannot become a link: `[text](target)` is one, even in plain text."""
    return {"text": wording.printable(text).replace("](", "] (")}


def _cut(kept: int, cut: int) -> Iterator[Notification]:
    if cut:
        text = f"{wording.count(cut, 'result')} of {kept + cut:,} left out, the mildest: GitHub accepts no larger file"
        yield {"level": "warning", "message": {"text": text}}
    if kept > SHOWN_RESULTS:
        text = f"GitHub shows {SHOWN_RESULTS:,} of the {kept:,} results; --format json=FILE has all"
        yield {"level": "note", "message": {"text": text}}


def _notifications(found: findings.Report, other: Sequence[Entry]) -> Iterator[Notification]:
    for entry in other:
        notification: Notification = {
            "level": _level(entry),
            "message": _message(". ".join([f"{entry.title}: {entry.text}", *entry.details])),
        }
        if entry.file or entry.result is not None:
            notification["locations"] = [_location(entry)]
        yield notification
    for each in found.not_evaluated:
        where = wording.count(each.workloads, each.subject)
        yield {
            "level": "warning" if each.required else "note",
            "message": _message(f"{f'{each.code} {each.name}'.strip()} not evaluated, {where}: {each.reason}"),
            "associatedRule": {"id": each.code or each.check},
        }
    for kind, reason in entries.keys_not_compared(found):
        yield {"level": "note", "message": _message(f"{kind}: {reason}")}
    for note in found.notes:
        yield {"level": "note", "message": _message(f"{note.source}: {note.reason}")}
