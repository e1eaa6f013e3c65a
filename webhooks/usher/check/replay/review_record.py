"""Judges the reviews of a record again, and gathers the verdicts of one side of a comparison."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

from msgspec import Struct, field

from usher import errors, model, paths
from usher.check import devices, findings, judging, sources
from usher.check.batches import Item
from usher.check.judging import Settings
from usher.check.replay.comparison import Found, Outcome, Side, Unknown, Verdict
from usher.check.runner import Watch, unwatched
from usher.policy.checks.catalogue import Entry
from usher.policy.decision import Operation
from usher.policy.evaluator import Evaluator
from usher.review import admission_review, records
from usher.review.records import Head, RecordedReview

LONGEST_LINE: Final = 8 * 2**20
"""Bytes. The API server sends no larger review, and lines of a server's record are far shorter."""

_HEAD: Final = 4096
"""The bytes at the start of a file that `is_record` needs."""

_MOST_PROBLEMS: Final = 100
"""The most problems of one file that a report lists singly."""

_SETTINGS: Final = Settings(command=findings.Command.AUDIT, mutated=True)


class Occasion(Struct, frozen=True, kw_only=True):
    """The object of a review, and its user."""

    key: str
    """Identifies the object."""
    operation: str
    uid: str
    owner_uid: str
    user: str
    allowed: bool | None
    """The answer of the server; None if the record does not have it."""


class Judged(Struct, frozen=True, kw_only=True):
    """The decision about a recorded review."""

    occasion: Occasion
    result: findings.Result | findings.Failure


class Record(Struct, frozen=True, kw_only=True):
    """The decisions about each object of a record, from its last review of each operation."""

    judged: tuple[list[Judged], ...]
    """One list for each evaluator."""
    problems: list[findings.Problem] = field(default_factory=list)
    notes: list[findings.Note] = field(default_factory=list)


def is_record(path: Path) -> bool:
    """Whether a file holds lines of JSON: the record of a server, or its log, which the reader refuses with a clear
    message.
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            first, newline, rest = stream.read(_HEAD).partition(b"\n")
    except (OSError, ValueError):
        return False
    named = any(kind in first for kind in (b'"kind":"ReviewRecord"', b'"kind":"AdmissionReview"'))
    logged = all(field in first for field in (b'"event":"', b'"level":"', b'"timestamp":"'))
    # A manifest in JSON begins with a brace too, but if it has several lines, its first line is not complete.
    one_line = bool(newline) and first.rstrip().endswith(b"}") and (not rest.strip() or rest.lstrip().startswith(b"{"))
    is_object = first.lstrip().startswith(b"{") and (one_line or not newline)
    return path.suffix == ".jsonl" or (is_object and (named or logged))


def judge(path: Path, evaluators: Sequence[Evaluator], *, watch: Watch = unwatched) -> Record:
    """The decisions about the objects in a record.

    As in a cluster, the mutating webhook goes first. The recorded objects already contain its former changes.

    Raises:
        InputError: the file cannot be read.
    """
    source = sources.path_text(path)
    record = Record(judged=tuple([] for _ in evaluators))
    try:
        with path.open("rb") as stream:
            last = _Reader(source, record).last_occasions(stream)
            for number, (line, start) in enumerate(sorted(last.values()), 1):
                stream.seek(start)
                found = records.read_line(stream.readline(LONGEST_LINE + 1))
                if isinstance(found, RecordedReview):
                    for evaluator, judged in zip(evaluators, record.judged, strict=True):
                        judged.extend(_judged(found, source, line, evaluator))
                watch("reviews judged", number, len(last))
    except OSError as error:
        raise errors.InputError(f"{source}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    return record


def _judged(found: RecordedReview, source: str, line: int, evaluator: Evaluator) -> Iterator[Judged]:
    """The decision about a review; empty if its object makes no pods and no rule reads it."""
    request = admission_review.request_of(found.review)
    item = Item(value=request.value)
    result = judging.answered(request, item, source, line=line, evaluator=evaluator, settings=_SETTINGS)
    if result is not None:
        yield Judged(occasion=occasion_of(found), result=result)


class _Reader:
    """Reads the lines of a record, and names the damaged ones."""

    def __init__(self, source: str, record: Record) -> None:
        self._source, self._record = source, record
        self._missing: Counter[str] = Counter()
        self._bad = 0

    def last_occasions(self, stream: BinaryIO) -> dict[tuple[str, str], tuple[int, int]]:
        """Line and first byte of the last review of each object and operation."""
        last: dict[tuple[str, str], tuple[int, int]] = {}
        for line, start, data in _lines(stream):
            if not data.strip():
                continue
            try:
                found = _read_line(data)
            except errors.InputError as error:
                self._problem(line, str(error))
                continue
            if isinstance(found, Head):
                self._missing.update(found.missing)
                if found.anonymised:
                    self._missing["anonymised"] = 1
                continue
            if reason := _not_judged(found):
                self._missing[reason] += 1
                continue
            about = occasion_of(found)
            # The last review also comes last in the order, as in the file.
            last[about.key, about.operation] = line, start
        self._end(len(last))
        return last

    def _problem(self, line: int, reason: str) -> None:
        self._bad += 1
        if self._bad <= _MOST_PROBLEMS:
            self._record.problems.append(findings.Problem(source=self._source, line=line, reason=reason))

    def _end(self, objects: int) -> None:
        if self._bad > _MOST_PROBLEMS:
            more = f"{self._bad - _MOST_PROBLEMS:,} more lines cannot be read"
            self._record.problems.append(findings.Problem(source=self._source, reason=more))
        if not objects and not self._bad:
            reason = "holds no review that creates or changes an object; `usher serve --record FILE` records them"
            self._record.problems.append(findings.Problem(source=self._source, reason=reason))
        if self._missing.pop("anonymised", 0):
            reason = "is anonymised: rules of usher.yaml by namespace, name, user or image do not match its objects"
            self._record.notes.append(findings.Note(source=self._source, reason=reason))
        for reason, number in sorted(self._missing.items()):
            text = f"{number:,} {'review' if number == 1 else 'reviews'}: {reason}"
            self._record.notes.append(findings.Note(source=self._source, reason=text))


def _read_line(data: bytes) -> RecordedReview | Head:
    if len(data) > LONGEST_LINE:
        raise errors.InputError(f"longer than {LONGEST_LINE // 2**20} MiB, which no review is")
    return records.read_line(data)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Number, first byte and content of each line. A line that is too long is cut, but long enough to show that."""
    number = 0
    while True:
        start = stream.tell()
        data = stream.readline(LONGEST_LINE + 1)
        if not data:
            return
        number += 1
        yield number, start, data
        while len(data) > LONGEST_LINE and not data.endswith(b"\n"):
            data = stream.readline(LONGEST_LINE + 1)


def _not_judged(found: RecordedReview) -> str:
    """Why usher does not judge a review; empty if it does."""
    review = found.review
    if review.value is None or review.operation not in (Operation.CREATE, Operation.UPDATE):
        return f"{review.operation} is not judged"
    return "of a scale whose object the record does not hold" if admission_review.scaled_field(review) else ""


def occasion_of(found: RecordedReview) -> Occasion:
    """The object of a review, and its user.

    A controller tries again with another name when its pod is denied. These pods count as one object.
    """
    review = found.review
    metadata = paths.metadata(review.value or {})
    generated, owner = paths.text(metadata.get("generateName")), _controller(metadata.get("ownerReferences"))
    name = review.name or paths.text(metadata.get("name"))
    if generated and ((owner and found.allowed is False) or not name):
        name = f"{generated}* {owner}"
    kind = f"{review.kind}.{review.resource.group}"
    return Occasion(
        key=f"{kind} {review.namespace}/{name}",
        operation="/".join(filter(None, (review.operation.value, review.sub_resource))),
        uid=paths.text(metadata.get("uid")),
        owner_uid=owner,
        user="" if review.user is None else review.user.name,
        allowed=found.allowed,
    )


def _controller(references: paths.Json) -> str:
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, dict) and reference.get("controller") is True:
            return paths.text(reference.get("uid"))
    return ""


_NO_RULES: Final[Mapping[str, Entry]] = MappingProxyType({})


def side_of_report(
    found: findings.Report,
    *,
    label: str,
    policies: str,
    reviews: Iterable[Judged] = (),
    rules: Mapping[str, Entry] = _NO_RULES,
) -> Side:
    """One side of a comparison.

    Args:
        found: the report of its run. The order distinguishes objects with the same name in one file.
        label: the configuration as people call it.
        policies: the revision of its policies.
        reviews: its decisions about recorded reviews.
        rules: the checks that the reviews may name, by key.
    """
    verdicts = [
        *(verdict_of_result(each, found.rules) for each in found.results),
        *map(verdict_of_failure, found.failures),
    ]
    reviews = list(reviews)
    known = [each for each in reviews if each.occasion.allowed is not None]
    return Side(
        label=label,
        version=found.version,
        policies=policies,
        verdicts=(*_numbered(verdicts), *(verdict_of_review(each, rules) for each in reviews)),
        problems=tuple(_place(each.source, each.line, each.reason) for each in found.problems),
        notes=tuple(_place(each.source, 0, each.reason) for each in found.notes),
        recorded=len(known),
        as_recorded=sum(_allows(each) is each.occasion.allowed for each in known),
    )


def verdict_of_result(result: findings.Result, rules: Mapping[str, Entry]) -> Verdict:
    """The verdict in a result; `rules` are the checks that it names."""
    counted = not result.is_template
    return Verdict(
        key=_key(result.source, result.identity),
        source=result.source,
        line=result.line,
        kind=result.identity.kind,
        namespace=result.identity.namespace,
        name=result.identity.name,
        owner=_owner(result),
        pods=devices.of_pods(result.pods) if counted and result.makes_pods else devices.NOTHING,
        devices=result.accelerators if counted else {},
        workload=result.makes_pods,
        found=tuple(_finding_of(each) for each in result.findings),
        unknown=tuple(_unknown(each, rules) for each in result.not_judged),
        exemption=result.exemption,
    )


def verdict_of_review(judged: Judged, rules: Mapping[str, Entry]) -> Verdict:
    """The verdict about a recorded review."""
    result, occasion = judged.result, judged.occasion
    verdict = verdict_of_failure(result) if isinstance(result, findings.Failure) else verdict_of_result(result, rules)
    return dataclasses.replace(
        verdict,
        key=occasion.key,
        occasion=occasion.operation,
        uid=occasion.uid,
        owner_uid=occasion.owner_uid,
        user=occasion.user,
    )


def _allows(judged: Judged) -> bool | None:
    result = judged.result
    return None if isinstance(result, findings.Failure) else result.worst is not model.Outcome.DENY


def verdict_of_failure(failure: findings.Failure) -> Verdict:
    """The verdict for an object that usher failed to judge."""
    identity = failure.identity
    return Verdict(
        key=_key(failure.source, identity),
        source=failure.source,
        line=failure.line,
        kind=identity.kind,
        namespace=identity.namespace,
        name=identity.name,
        owner=f"{identity.kind}/{identity.name}",
        devices={},
        workload=False,
        failure=failure.reason,
    )


def _numbered(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """The verdicts in the order of their sources. Objects with the same name get a number by their order in
    the file.
    """
    seen: Counter[str] = Counter()
    for verdict in sorted(verdicts, key=lambda each: (each.source, each.line)):
        seen[verdict.key] += 1
        number = seen[verdict.key]
        yield verdict if number == 1 else dataclasses.replace(verdict, key=f"{verdict.key} ({number})")


def _key(source: str, identity: findings.Identity) -> str:
    group = identity.api_version.rpartition("/")[0]
    return f"{source}: {identity.kind}.{group} {identity.namespace}/{identity.name}"


def _owner(result: findings.Result) -> str:
    owner = result.owner
    return f"{result.identity.kind}/{result.identity.name}" if owner is None else f"{owner.kind}/{owner.name}"


def _finding_of(finding: findings.Finding) -> Found:
    judgement = finding.judgement
    return Found(
        check=judgement.finding.check,
        code=judgement.code,
        name=judgement.name,
        outcome=Outcome(judgement.outcome.value),
        path=judgement.finding.path,
        message=judgement.finding.message,
        remedy=judgement.finding.remedy,
        line=0 if finding.place is None else finding.place.line,
    )


def _unknown(part: findings.NotJudged, rules: Mapping[str, Entry]) -> Unknown:
    unknown = part.unknown
    rule = rules.get(unknown.check)
    code, name = ("", unknown.check) if rule is None else (rule.code, rule.name)
    return Unknown(check=unknown.check, code=code, name=name, path=unknown.path, reason=unknown.reason)


def _place(source: str, line: int, reason: str) -> str:
    return f"{source}:{line}: {reason}" if line else f"{source}: {reason}"
