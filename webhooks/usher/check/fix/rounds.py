"""Writes the wishes of a run, judges the new text as `usher check` does, and repeats this until nothing is left to
write.

One remedy can enable another change: with the right resource name, the pods also get their toleration. So there are
several rounds. After the last one, a second run finds nothing to write.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from usher import errors, model
from usher.check import findings, sources
from usher.check.batches import Batch
from usher.check.fix import remedies, rewriting
from usher.check.fix.remedies import Wish, WishSource
from usher.documents import reader

_STAYS: Final = "usher would still report the finding afterwards; change it by hand"

_Counted = Counter[tuple[str, model.Outcome]]


def why_taken_back(
    made: Sequence[Wish], before: findings.Result, after: findings.Result | None
) -> Mapping[tuple[str, ...], str]:
    """Why changes of an object must be taken back, by the identity of the wish; empty if they may stay.

    It counts findings, because changes of a list move the places of its items.

    Args:
        before: the verdict about the object without these changes.
        after: the verdict with them; None if no check reads the object any more.
    """
    if after is None:
        return {}
    old, new = _count_findings(before), _count_findings(after)
    remedied = Counter(wish.key for wish in made if wish.source is WishSource.REMEDIES)
    stays = {
        wish.identity: _STAYS
        for wish in made
        if wish.source is WishSource.REMEDIES and _total(new, wish.key) > _total(old, wish.key) - remedied[wish.key]
    }
    if stays:
        return stays
    names = {
        each.judgement.finding.check: f"{each.judgement.code} {each.judgement.name}"
        for each in after.findings
        if each.judgement.outcome is model.Outcome.DENY
    }
    worse = [name for check, name in names.items() if new[check, model.Outcome.DENY] > old[check, model.Outcome.DENY]]
    if after.unread > before.unread:
        worse.append("a part that it cannot judge")
    if not worse:
        return {}
    reason = f"usher would then report {', '.join(worse)}; change it by hand"
    return {wish.identity: reason for wish in made}


def _count_findings(result: findings.Result) -> _Counted:
    return Counter((each.judgement.finding.check, each.judgement.outcome) for each in result.findings)


def _total(counted: _Counted, check: str) -> int:
    return sum(number for (key, _), number in counted.items() if key == check)


MAX_ROUNDS: Final = 50

_FAILED: Final = "usher could not judge the object afterwards; change it by hand"
_TOO_MANY: Final = "there were too many rounds of changes; run usher fix again"

Judge = Callable[[Sequence[Batch]], findings.Report]
Read = Callable[[Batch], bytes]

_Object = tuple[int, int]
"""Number of the file and of the object in it."""


class Done(Struct, frozen=True, kw_only=True):
    """A change that is in the new content."""

    item: int
    wish: Wish
    identity: findings.Identity
    pointers: tuple[str, ...]


class Left(Struct, frozen=True, kw_only=True):
    """A change that could not be made."""

    wish: Wish
    identity: findings.Identity
    line: int
    reason: str
    judged: bool = False
    """Whether it was written and then taken back, because of the verdict on the result."""


class File(Struct, kw_only=True):
    """A file with its changes so far."""

    batch: Batch
    """The objects of the content."""
    original: bytes = b""
    content: bytes = b""
    done: list[Done] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    problem: str = ""
    """Why the file could not be read again."""

    @property
    def source(self) -> str:
        return self.batch.source

    @property
    def changed(self) -> bool:
        return self.content != self.original


class Fixed(Struct, frozen=True, kw_only=True):
    files: Sequence[File]
    """The files with changes, and the files whose changes could not be made."""
    before: findings.Report
    after: findings.Report
    """The report about the new content."""

    @property
    def incomplete(self) -> bool:
        """Whether an input could not be used, or a change could not be written. A remedy that does not remove its
        finding does not count, because `usher check` still reports the finding.
        """
        return self.before.failed or any(
            file.problem or any(not left.judged for left in file.left) for file in self.files
        )


def fix(batches: Sequence[Batch], *, judge: Judge, read: Read, choice: remedies.Choice) -> Fixed:
    """Makes all changes in memory.

    Args:
        judge: judges files together, with mutations and diffs.
        read: the content of a file; raises InputError.
        choice: the changes to make.
    """
    run = _Run(batches, judge=judge, read=read, choice=choice)
    for _ in range(MAX_ROUNDS):
        if not run.round():
            break
    else:
        run.give_up()
    return Fixed(files=run.files, before=run.before, after=run.report)


class _Run:
    def __init__(self, batches: Sequence[Batch], *, judge: Judge, read: Read, choice: remedies.Choice) -> None:
        self._batches = list(batches)
        self._judge, self._read, self._choice = judge, read, choice
        self._files: dict[int, File] = {}
        self._closed: set[tuple[_Object, tuple[str, ...]]] = set()
        """Wishes that are written or given up."""
        self._careful: set[_Object] = set()
        """Objects that get one change in a round, after all others are done, because several changes together, or a
        change of another object, made something worse.
        """
        self.before = self.report = judge(self._batches)

    @property
    def files(self) -> list[File]:
        return [self._files[number] for number in sorted(self._files)]

    def round(self) -> bool:
        """Writes the open changes, and returns whether there were any."""
        results = self._results(self._batches, self.report)
        asked = self._open(results)
        written = {number: found for number, each in asked.items() if (found := self._written(number, each, results))}
        if not written:
            # By now, wishes that cannot be written are closed.
            return bool(asked)
        batches = list(self._batches)
        for number, found in written.items():
            batches[number] = self._parsed(number, found.documents)
        report = self._judge(batches)
        if len(report.failures) > len(self.report.failures):
            # This is a fault of usher, and the new text proves nothing.
            self._take_back(written, results)
            return True
        if not self._accepts(written, results, self._results(batches, report)):
            return True
        self._batches, self.report = batches, report
        for number, found in written.items():
            self._keep(number, found, results)
        return True

    def give_up(self) -> None:
        results = self._results(self._batches, self.report)
        for number, each in self._open(results).items():
            self._leave(number, [rewriting.Unwritten(asked=one, line=0, reason=_TOO_MANY) for one in each], results)

    def _results(self, batches: Sequence[Batch], report: findings.Report) -> Mapping[_Object, findings.Result]:
        places = {
            id(item.value): (number, index)
            for number, batch in enumerate(batches)
            for index, item in enumerate(batch.items)
        }
        return {
            place: result
            for result in report.results
            if result.change is not None and (place := places.get(id(result.change.before))) is not None
        }

    def _open(self, results: Mapping[_Object, findings.Result]) -> dict[int, list[rewriting.NumberedWish]]:
        found: dict[int, list[rewriting.NumberedWish]] = {}
        waiting: dict[int, list[rewriting.NumberedWish]] = {}
        for place, result in results.items():
            number, index = place
            wished = [
                rewriting.NumberedWish(item=index, wish=wish)
                for wish in remedies.wishes_of_result(result, self._choice)
                if (place, wish.identity) not in self._closed
            ]
            if not wished or (number in self._files and self._files[number].problem):
                continue
            if place in self._careful:
                waiting.setdefault(number, []).append(wished[0])
            else:
                found.setdefault(number, []).extend(wished)
        return found or waiting

    def _written(
        self, number: int, asked: Sequence[rewriting.NumberedWish], results: Mapping[_Object, findings.Result]
    ) -> rewriting.Written | None:
        file = self._file(number)
        if file.problem:
            return None
        written = rewriting.write_wishes(file.content, self._batches[number], asked)
        self._leave(number, written.unwritten, results)
        return written if written.pointers else None

    def _file(self, number: int) -> File:
        if number not in self._files:
            batch = self._batches[number]
            file = File(batch=batch)
            try:
                file.original = file.content = self._read(batch)
            except errors.InputError as error:
                file.problem = str(error)
            else:
                if not rewriting.holds_documents(file.content, batch.documents):
                    file.problem = f"{batch.source}: the file changed while usher read it; run usher fix again"
            self._files[number] = file
        return self._files[number]

    def _parsed(self, number: int, documents: Sequence[reader.Document]) -> Batch:
        old = self._batches[number]
        new = sources.batch_of_documents(documents, source=old.source, explicit=True)
        return replace(old, items=new.items, documents=new.documents)

    def _accepts(
        self,
        written: Mapping[int, rewriting.Written],
        before: Mapping[_Object, findings.Result],
        after: Mapping[_Object, findings.Result],
    ) -> bool:
        """Whether every finding with a remedy is gone and nothing new is denied. Otherwise it closes the wishes that
        caused it.
        """
        accepted = True
        for number, found in written.items():
            by_item: dict[int, list[Wish]] = {}
            for asked, _ in found.pointers:
                by_item.setdefault(asked.item, []).append(asked.wish)
            for index, made in by_item.items():
                place = number, index
                reasons = why_taken_back(made, before[place], after.get(place))
                if not reasons:
                    continue
                accepted = False
                if len(made) > 1 or place not in self._careful:
                    self._careful.add(place)
                    continue
                for wish in made:
                    self._close(place, wish)
                    left = Left(
                        wish=wish,
                        identity=before[place].identity,
                        line=before[place].line,
                        reason=reasons[wish.identity],
                        judged=True,
                    )
                    self._files[number].left.append(left)
        return accepted

    def _take_back(self, written: Mapping[int, rewriting.Written], results: Mapping[_Object, findings.Result]) -> None:
        for number, found in written.items():
            asked = [rewriting.Unwritten(asked=each, line=0, reason=_FAILED) for each, _ in found.pointers]
            self._leave(number, asked, results)

    def _keep(self, number: int, found: rewriting.Written, results: Mapping[_Object, findings.Result]) -> None:
        file = self._files[number]
        file.content = found.content
        file.batch = self._batches[number]
        for asked, pointers in found.pointers:
            place = number, asked.item
            self._close(place, asked.wish)
            identity = results[place].identity
            file.done.append(Done(item=asked.item, wish=asked.wish, identity=identity, pointers=pointers))

    def _leave(
        self, number: int, unwritten: Sequence[rewriting.Unwritten], results: Mapping[_Object, findings.Result]
    ) -> None:
        for each in unwritten:
            place = number, each.asked.item
            self._close(place, each.asked.wish)
            left = Left(wish=each.asked.wish, identity=results[place].identity, line=each.line, reason=each.reason)
            self._files[number].left.append(left)

    def _close(self, place: _Object, wish: Wish) -> None:
        self._closed.add((place, wish.identity))
