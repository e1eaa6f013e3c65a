"""Writes SARIF 2.1.0, for GitHub code scanning and for editors.

GitHub refuses a run with more than 25,000 results and a file of more than 10 MB compressed, and shows 5,000 results.
A larger run loses its mildest results, and a notification says how many. `fixes` are left out: a remedy is a
sentence, and a mistake that the mutating webhook mends is not a result.

Source: https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support-for-code-scanning
"""

import gzip
import posixpath
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

import orjson

from usher.reports import wording
from usher.reports.ci import entries, fingerprints, sarif_rules, sarif_shape
from usher.reports.ci.entries import Entry
from usher.scan import findings

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
    listed = entries.of(found)
    results = entries.worst_first(each for each in listed if each.finding is not None)
    other = [each for each in listed if each.finding is None]
    kept = results[:most]
    data = _document(found, kept, other, cut=len(results) - len(kept))
    while kept and len(data) > max_compressed and (size := len(gzip.compress(data, mtime=0))) > max_compressed:
        kept = kept[: min(len(kept) - 1, len(kept) * max_compressed // size)]
        data = _document(found, kept, other, cut=len(results) - len(kept))
    stream.write(wording.json_without_commands(data.decode()))


def _document(found: findings.Report, kept: Sequence[Entry], other: Sequence[Entry], *, cut: int) -> bytes:
    rules = sarif_rules.of(kept, found)
    indices = {check: number for number, check in enumerate(rules)}
    run: sarif_shape.Run = {
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
            for entry, fingerprint in fingerprints.of(kept)
            if (each := entry.finding) is not None
        ],
    }
    log: sarif_shape.Log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(log, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _invocation(found: findings.Report, notifications: list[sarif_shape.Notification]) -> sarif_shape.Invocation:
    ending = found.ending
    unknown = ending is not None and not ending.unknown_accepted and found.unread > 0
    invocation: sarif_shape.Invocation = {
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
    rules: dict[str, sarif_shape.Rule],
    indices: dict[str, int],
) -> sarif_shape.Result:
    check = finding.judgement.finding.check
    result: sarif_shape.Result = {
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


def _location(entry: Entry) -> sarif_shape.Location:
    location: sarif_shape.Location = {}
    if entry.file:
        location["physicalLocation"] = {"artifactLocation": {"uri": uri(entry.file)}}
        if entry.line:
            region: sarif_shape.Region = {"startLine": entry.line, "endLine": entry.line}
            if entry.column:
                region["startColumn"] = entry.column
                region["endColumn"] = max(entry.end_column, entry.column + 1)
            location["physicalLocation"]["region"] = region
    named = list(_logical(entry))
    if named:
        location["logicalLocations"] = named
    return location


def _logical(entry: Entry) -> Iterator[sarif_shape.LogicalLocation]:
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


def _level(entry: Entry) -> sarif_shape.Severity:
    return entry.level.value


def _message(text: str) -> sarif_shape.Message:
    """A message in which a name cannot become a link: `[text](target)` is one, even in plain text."""
    return {"text": wording.printable(text).replace("](", "] (")}


def _cut(kept: int, cut: int) -> Iterator[sarif_shape.Notification]:
    if cut:
        text = f"{wording.count(cut, 'result')} of {kept + cut:,} left out, the mildest: GitHub accepts no larger file"
        yield {"level": "warning", "message": {"text": text}}
    if kept > SHOWN_RESULTS:
        text = f"GitHub shows {SHOWN_RESULTS:,} of the {kept:,} results; --format json=FILE has all"
        yield {"level": "note", "message": {"text": text}}


def _notifications(found: findings.Report, other: Sequence[Entry]) -> Iterator[sarif_shape.Notification]:
    for entry in other:
        notification: sarif_shape.Notification = {
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
    for note in found.notes:
        yield {"level": "note", "message": _message(f"{note.source}: {note.reason}")}
