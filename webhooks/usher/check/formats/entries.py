"""The messages of a run, as flat entries with fingerprints: findings, unjudged parts and unusable inputs."""

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import groupby
from typing import Final

from msgspec import Struct

from usher import model, paths
from usher.check import findings
from usher.check.formats import wording

STDIN: Final = "<stdin>"
_SHOWN_FIELDS: Final = 5


class Level(StrEnum):
    """The severity of an entry, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


LEVELS: Final = {
    model.Outcome.DENY: Level.ERROR,
    model.Outcome.WARN: Level.WARNING,
    model.Outcome.AUDIT: Level.NOTE,
}


class Entry(Struct, frozen=True, kw_only=True):
    """One message with its place. Texts are as in the manifests: each format escapes them."""

    level: Level
    title: str
    """`USH103 gpu-requests-equal-limits`, or a short description of what failed."""
    message: str
    subject: str = ""
    """The workload: `PyTorchJob ml-research/bert, Worker (8 pods)`; empty if usher could not read an object."""
    details: tuple[str, ...] = ()
    """The remedy and further help, each a sentence that begins with a capital letter."""
    page: str = ""
    """The address of the page of its check; empty if usher.yaml names no address."""
    source: str
    line: int = 0
    """From 1; 0 if the place is unknown, or the object is in a cluster."""
    column: int = 0
    end_column: int = 0
    """The first column after the place."""
    file: str = ""
    """The file; empty for standard input and for objects of a cluster."""
    finding: findings.Finding | None = None
    """None if no check found it."""
    result: findings.Result | None = None

    @property
    def text(self) -> str:
        """Subject and message in one line."""
        return f"{self.subject}: {self.message}" if self.subject else self.message

    @property
    def where(self) -> str:
        """`jobs/bert.yaml:41:19`, or only the file if the line is unknown."""
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


def of_report(found: findings.Report) -> list[Entry]:
    """The entries of a run: first inputs and objects without a decision, then results in the order of reading."""
    return [*(_problem(each, found) for each in found.problems), *unfinished(found), *_entries_of_results(found)]


def unfinished(found: findings.Report) -> Iterator[Entry]:
    """The objects without a decision."""
    for failure in found.failures:
        yield Entry(
            level=Level.ERROR,
            title="not judged",
            message=failure.reason,
            subject=str(failure.identity),
            source=failure.source,
            line=failure.line,
            column=1 if failure.line else 0,
            file=file_name(failure.source, found),
        )


def keys_not_compared(found: findings.Report) -> Iterator[tuple[str, str]]:
    """Each kind that usher knows no definition of, and why its keys were not compared: a note, never a finding."""
    for kind, number in found.without_fields.items():
        yield kind, f"keys of {wording.count(number, 'object')} not compared: usher knows no definition of this kind"


def worst_first(entries: Iterable[Entry]) -> list[Entry]:
    """The entries in the same order, but errors before warnings before notes."""
    order = list(Level)
    return sorted(entries, key=lambda entry: order.index(entry.level))


def file_name(source: str, found: findings.Report) -> str:
    """The file of a source; empty if it is not a file."""
    return "" if found.origin or source == STDIN else source


def of_finding(finding: findings.Finding, result: findings.Result, found: findings.Report) -> Entry:
    judgement = finding.judgement
    rule = found.rules.get(judgement.finding.check)
    line, column, end_column = _place(finding.place)
    details = (wording.ADDED if finding.added else "", judgement.finding.remedy, wording.milder(judgement))
    field = paths.readable(judgement.finding.path) if not line and judgement.finding.path else ""
    # Annotations have no field for it, so the text names the line.
    where = f"{result.source}:{line}:{column}" if result.source == STDIN and line else field
    return Entry(
        level=LEVELS[judgement.outcome],
        title=f"{judgement.code} {judgement.name}",
        message=judgement.finding.message,
        subject=wording.about(result, finding.pod_set),
        details=tuple(map(wording.capitalised, filter(None, (f"at {where}" if where else "", *details)))),
        page=rule.page(found.configuration.check_pages) if rule is not None else "",
        source=result.source,
        line=line,
        column=column,
        end_column=end_column,
        file=file_name(result.source, found),
        finding=finding,
        result=result,
    )


def unread(result: findings.Result, found: findings.Report) -> Iterator[Entry]:
    """The parts of an object that usher could not judge, grouped by reason."""
    accepted = found.ending is None or found.ending.unknown_accepted
    parts = sorted((each for each in result.not_judged if not each.unknown.check), key=_reason)
    for reason, same in groupby(parts, key=_reason):
        group = list(same)
        line, column, end_column = _place(group[0].place)
        fields = [paths.readable(each.unknown.path) for each in group]
        more = f" and {len(fields) - _SHOWN_FIELDS} more" if len(fields) > _SHOWN_FIELDS else ""
        yield Entry(
            level=Level.WARNING if accepted else Level.ERROR,
            title="unknown to usher",
            message=reason,
            subject=str(result.identity),
            details=(f"At {', '.join(fields[:_SHOWN_FIELDS])}{more}",),
            source=result.source,
            line=line,
            column=column,
            end_column=end_column,
            file=file_name(result.source, found),
            result=result,
        )


def _place(place: findings.Place | None) -> tuple[int, int, int]:
    """Line, column and the column after the end; zeros if the place is unknown."""
    if place is None:
        return 0, 0, 0
    return place.line, place.column, place.end_column


def _reason(part: findings.NotJudged) -> str:
    return part.unknown.reason


def _problem(problem: findings.Problem, found: findings.Report) -> Entry:
    return Entry(
        level=Level.ERROR,
        title="cannot be read",
        message=problem.reason,
        source=problem.source,
        line=problem.line,
        column=problem.column,
        file=file_name(problem.source, found),
    )


def _entries_of_results(found: findings.Report) -> Iterator[Entry]:
    for result in found.results:
        yield from (of_finding(each, result, found) for each in result.findings)
        yield from unread(result, found)


_DIGITS: Final = 32


def with_fingerprints(entries: Iterable[Entry]) -> Iterator[tuple[Entry, str]]:
    """Each entry with its fingerprint: 32 hexadecimal digits, unique in the run."""
    seen: Counter[tuple[str, ...]] = Counter()
    for entry in entries:
        key = _fingerprint_key(entry)
        seen[key] += 1
        # A NUL as separator is enough: the API server accepts it in no name, and a clash does no harm.
        text = "\0".join((*key, str(seen[key])))
        yield entry, hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:_DIGITS]


def _fingerprint_key(entry: Entry) -> tuple[str, ...]:
    source = posixpath.normpath(entry.source)
    if entry.finding is None or entry.result is None:
        return source, entry.title, entry.subject, findings.without_numbers(entry.message)
    return source, *findings.fingerprint(entry.result, entry.finding)
