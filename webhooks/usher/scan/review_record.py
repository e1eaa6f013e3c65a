"""Judges the reviews of a record again. A line that cannot be read becomes a problem, and usher judges all others."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import BinaryIO, Final

from usher import errors, paths
from usher.dataclass import dataclass
from usher.policy.decision import Operation
from usher.policy.evaluator import Evaluator
from usher.review import parsing, record_lines, scaling
from usher.review.record_lines import Head, RecordedReview
from usher.scan import findings, judging, sources
from usher.scan.batches import Item
from usher.scan.judging import Settings
from usher.scan.runner import Watch, unwatched

LONGEST_LINE: Final = 8 * 2**20
"""Bytes. The API server sends no larger review, and lines of a server's record are far shorter."""

_HEAD: Final = 4096
"""The bytes at the start of a file that `is_record` needs."""

_MOST_PROBLEMS: Final = 100
"""The most problems of one file that a report lists singly."""

_SETTINGS: Final = Settings(command=findings.Command.AUDIT, mutated=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """The object of a review, and its user."""

    key: str
    """Identifies the object."""
    operation: str
    uid: str
    owner_uid: str
    user: str
    allowed: bool | None
    """The answer of the server; None if the record does not have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The decision about a recorded review."""

    occasion: Occasion
    result: findings.Result | findings.Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
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
    source = sources.name(path)
    record = Record(judged=tuple([] for _ in evaluators))
    try:
        with path.open("rb") as stream:
            last = _Reader(source, record).last_occasions(stream)
            for number, (line, start) in enumerate(sorted(last.values()), 1):
                stream.seek(start)
                found = record_lines.read(stream.readline(LONGEST_LINE + 1))
                if isinstance(found, RecordedReview):
                    for evaluator, judged in zip(evaluators, record.judged, strict=True):
                        judged.extend(_judged(found, source, line, evaluator))
                watch("reviews judged", number, len(last))
    except OSError as error:
        raise errors.InputError(f"{source}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    return record


def _judged(found: RecordedReview, source: str, line: int, evaluator: Evaluator) -> Iterator[Judged]:
    """The decision about a review; empty if its object makes no pods and no rule reads it."""
    request = parsing.request_of(found.review)
    item = Item(value=request.value)
    result = judging.answered(request, item, source, line=line, evaluator=evaluator, settings=_SETTINGS)
    if result is not None:
        yield Judged(occasion=occasion(found), result=result)


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
                found = _read(data)
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
            about = occasion(found)
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


def _read(data: bytes) -> RecordedReview | Head:
    if len(data) > LONGEST_LINE:
        raise errors.InputError(f"longer than {LONGEST_LINE // 2**20} MiB, which no review is")
    return record_lines.read(data)


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
    return "of a scale whose object the record does not hold" if scaling.field(review) else ""


def occasion(found: RecordedReview) -> Occasion:
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
