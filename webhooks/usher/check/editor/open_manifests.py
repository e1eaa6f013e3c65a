"""The findings of `usher check` about a manifest in the editor, with the other files of its directory."""

import contextlib
import os
import re
import stat
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors
from usher.check import findings, judging, runner, sources, surroundings
from usher.check.batches import Batch
from usher.check.editor import documents
from usher.check.editor.documents import Analysis, Diagnostic, Document, Judge, Severity, Text, diagnostic_at_line
from usher.check.fix import remedies, rounds
from usher.check.formats import entries, wording
from usher.check.surroundings import Outline, Surroundings
from usher.documents import chunks
from usher.policy.evaluator import Evaluator

MAX_FILES: Final = 200
MAX_BYTES: Final = 8 * 2**20
"""Bytes of all neighbours together."""
_REMEMBERED: Final = 1000
_ENTRIES: Final = 10_000
"""usher does not read a directory with more entries."""

Check = Callable[[], None]
"""Raises an error when the editor no longer wants the answer."""


class Neighbours(Struct, frozen=True, kw_only=True):
    """The outlines of the other files of a directory."""

    outlines: tuple[Outline, ...] = ()
    left_out: str = ""
    """Why the directory was not read; empty if it was."""


class _File(Struct, frozen=True, kw_only=True):
    """A file with a stamp that changes with its content."""

    path: Path
    size: int
    changed: int
    """Nanoseconds since 1970."""
    inode: int


class Directories:
    """Reads directories, and remembers the files that have not changed. For one thread."""

    def __init__(self, *, namespace: str) -> None:
        self._namespace = namespace
        self._known: OrderedDict[_File, Outline] = OrderedDict()

    def around(self, path: Path, opened: Mapping[Path, str], *, check: Check) -> Neighbours:
        """The neighbours of a file.

        Args:
            path: the file; it is not read itself.
            opened: the texts of files that are open in the editor, and may not be saved.
            check: called before each file.
        """
        files = _manifests(path.parent, without=path)
        if files is None or len(files) > MAX_FILES or sum(file.size for file in files) > MAX_BYTES:
            reason = (
                f"the directory has more than {MAX_FILES} manifests or {MAX_BYTES // 2**20} MiB of them, so the editor "
                "judges this file alone; usher check judges them together"
            )
            return Neighbours(left_out=reason)
        found = []
        for file in files:
            check()
            if file.path in opened:
                found.append(self._outline(_parsed(opened[file.path].encode(errors="surrogatepass"), file.path)))
            else:
                found.append(self._remembered(file))
        return Neighbours(outlines=tuple(found))

    def _remembered(self, file: _File) -> Outline:
        if file not in self._known:
            content = sources.read_content(sources.File(file.path, explicit=False, size=file.size))
            self._known[file] = self._outline(content if isinstance(content, Batch) else _parsed(content, file.path))
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(file)
        return self._known[file]

    def _outline(self, batch: Batch) -> Outline:
        return surroundings.outline_of(batch, namespace=self._namespace)


def _parsed(content: bytes, path: Path) -> Batch:
    return sources.parse_content(content, source=sources.path_text(path), explicit=False)


def _manifests(directory: Path, *, without: Path) -> list[_File] | None:
    """The manifests directly in a directory, sorted; None if it has too many entries."""
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_ENTRIES), strict=False)]
    except OSError:
        return []
    if len(names) == _ENTRIES:
        return None
    found = []
    for name in sorted(names):
        path = directory / name
        if name.startswith(".") or path == without or path.suffix not in sources.SUFFIXES:
            continue
        with contextlib.suppress(OSError):
            status = path.stat()
            # Opening a pipe or a device could wait for ever.
            if stat.S_ISREG(status.st_mode):
                found.append(_File(path=path, size=status.st_size, changed=status.st_mtime_ns, inode=status.st_ino))
    return found


MakeEvaluator = Callable[[], Evaluator]
_Stamp = tuple[tuple[int, int] | None, ...]


class Site:
    """Makes the evaluator on first use. For one thread."""

    def __init__(self, make: MakeEvaluator, *, rests_on: Callable[[], Iterable[Path]]) -> None:
        """Keeps how to make the evaluator.

        Args:
            make: makes an evaluator.
            rests_on: lists the files that it reads.
        """
        self._make = make
        self._rests_on = rests_on
        self._stamp: _Stamp = ()
        self._made: Evaluator | None = None

    def evaluator(self) -> Evaluator:
        """The evaluator.

        Raises:
            UsherError: usher.yaml or the facts cannot be used. usher never falls back to other rules, so no manifest
                is judged until they can be used again.
        """
        stamp = tuple(_stamp(path) for path in self._rests_on())
        if self._made is None or stamp != self._stamp:
            self.close()
            made = self._make()
            made.engine.ready()
            self._made, self._stamp = made, stamp
        return self._made

    def close(self) -> None:
        """Ends the engine."""
        if self._made is not None:
            self._made.engine.close()
            self._made = None


def _stamp(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError, ValueError):
        status = path.stat()
        return status.st_mtime_ns, status.st_size
    return None


MAX_DIAGNOSTICS: Final = 500
"""The most diagnostics that usher shows: more make editors slow."""

_UNSAVED: Final = "<editor>"
_WORD: Final = re.compile(r"\S+")
_SEVERITIES: Final = {
    entries.Level.ERROR: Severity.ERROR,
    entries.Level.WARNING: Severity.WARNING,
    entries.Level.NOTE: Severity.INFORMATION,
}


class Manifests:
    """Judges manifests. For one thread."""

    def __init__(self, site: Site, *, namespace: str) -> None:
        self.site = site
        self._namespace = namespace
        self._directories = Directories(namespace=namespace)

    def analysed(self, document: Document, opened: Mapping[Path, str], *, check: Check) -> Analysis:
        """The findings of a document.

        Args:
            document: the document.
            opened: the texts of all files that are open in the editor.
            check: called from time to time; raises an error when the editor no longer wants the answer.
        """
        text = document.text
        batch = _read(document)
        unread = list(_diagnostics_of_unread(batch, text))
        if not batch.items:
            return Analysis(document=document, diagnostics=tuple(unread))
        try:
            evaluator = self.site.evaluator()
        except errors.UsherError as error:
            reason = wording.printable("; ".join(str(error).splitlines()))
            message = f"usher judges no manifest until this is corrected: {reason}"
            unread.append(diagnostic_at_line(text, 1, severity=Severity.WARNING, message=message))
            return Analysis(document=document, diagnostics=tuple(unread))
        around = self._around(document, opened, check)
        # The editor shows its problems and notes already.
        report = self._report(replace(batch, problems=(), notes=()), around, evaluator, diff=False, check=check)
        shown = [*unread, *_diagnostics_of_report(report, text, evaluator)]
        if around.left_out:
            shown.append(diagnostic_at_line(text, 1, severity=Severity.INFORMATION, message=around.left_out))
        return Analysis(
            document=document,
            diagnostics=tuple(shown),
            config=evaluator.config,
            items=batch.items,
            results=report.results,
        )

    def written(
        self,
        document: Document,
        opened: Mapping[Path, str],
        *,
        write: documents.Write,
        keys: Collection[str],
        check: Check,
    ) -> str:
        """The text of a document with the changes of some checks and mutations; `keys` as for `changes.Write`.

        Raises:
            UsherError: it cannot be judged.
        """
        batch = _read(document)
        if not batch.items:
            return document.text.content
        evaluator = self.site.evaluator()
        around = self._around(document, opened, check)

        def judge(batches: Sequence[Batch]) -> findings.Report:
            return self._report(batches[0], around, evaluator, diff=True, check=check)

        content = document.text.content.encode()
        return write(batch, content, judge=judge, evaluator=evaluator, keys=keys).decode()

    def _report(
        self, batch: Batch, around: Neighbours, evaluator: Evaluator, *, diff: bool, check: Check
    ) -> findings.Report:
        """The verdict about one file, with its neighbours taken into account; `diff` as for `usher check`."""
        settings = judging.Settings(command=findings.Command.CHECK, namespace=self._namespace, mutated=True, diff=diff)
        own = surroundings.outline_of(batch, namespace=self._namespace)
        around_file = Surroundings([own, *around.outlines], namespace=self._namespace)
        part = judging.judge(batch, around_file, evaluator=evaluator, settings=settings, before_each=check)
        return runner.report(part, evaluator=evaluator, settings=settings)

    def _around(self, document: Document, opened: Mapping[Path, str], check: Check) -> Neighbours:
        if document.path is None:
            return Neighbours()
        return self._directories.around(document.path, opened, check=check)


def _read(document: Document) -> Batch:
    """The objects of a document. Editors open YAML of all kinds, so only broken manifests count as problems."""
    path = document.path
    source = _UNSAVED if path is None else sources.path_text(path)
    content = document.text.content.encode(errors="surrogatepass")
    return sources.parse_content(content, source=source, explicit=False)


def _diagnostics_of_unread(batch: Batch, text: Text) -> Iterator[Diagnostic]:
    """Diagnostics of a file whose objects usher cannot read: broken YAML, and workloads without apiVersion."""
    for problem in batch.problems:
        message = wording.printable(problem.reason)
        if problem.reason.startswith(chunks.UNRENDERED):
            severity = Severity.INFORMATION
            yield _diagnostic_at_word(text, problem.line, problem.column, severity=severity, message=message)
        else:
            message = wording.capitalised(message)
            yield _diagnostic_at_word(text, problem.line, problem.column, severity=Severity.ERROR, message=message)
    for note in batch.notes:
        line = note.source.rpartition(":")[2]
        message = f"usher did not judge this: {wording.printable(note.reason)}"
        yield diagnostic_at_line(text, int(line) if line.isdecimal() else 1, severity=Severity.WARNING, message=message)


def _diagnostic_at_word(text: Text, line: int, column: int, *, severity: Severity, message: str) -> Diagnostic:
    """A diagnostic from a place to the end of its word."""
    if not line:
        return diagnostic_at_line(text, 1, severity=severity, message=message)
    start = text.offset_of(line, column)
    word = _WORD.match(text.content, start)
    return Diagnostic(range=text.range(start, word.end() if word else start + 1), severity=severity, message=message)


def _diagnostics_of_report(found: findings.Report, text: Text, evaluator: Evaluator) -> list[Diagnostic]:
    every = entries.worst_first(entries.of_report(found))
    shown = [_diagnostic(entry, text, evaluator) for entry in every[:MAX_DIAGNOSTICS]]
    if len(every) > MAX_DIAGNOSTICS:
        message = f"{len(every) - MAX_DIAGNOSTICS:,} more findings, which the editor does not show; run usher check"
        shown.append(diagnostic_at_line(text, 1, severity=Severity.WARNING, message=message))
    return shown


def _diagnostic(entry: entries.Entry, text: Text, evaluator: Evaluator) -> Diagnostic:
    finding = entry.finding
    message = wording.printable(entry.message)
    severity = _SEVERITIES[entry.level]
    first = wording.capitalised(message if finding is not None else f"{entry.title}: {message}")
    message = "\n".join([first, *map(wording.printable, entry.details)])
    if not entry.end_column:
        line = entry.line or (entry.result.line if entry.result is not None else 1)
        return diagnostic_at_line(text, line, severity=severity, message=message)
    rule = "" if finding is None else finding.judgement.finding.check
    check = evaluator.catalogue.checks.get(rule)
    return Diagnostic(
        range=text.range(text.offset_of(entry.line, entry.column), text.offset_of(entry.line, entry.end_column)),
        severity=severity,
        message=message,
        code="" if finding is None else finding.judgement.code,
        link=check.links[0].ref if check is not None and check.links else "",
        rule=rule,
    )


def write_changes(batch: Batch, content: bytes, *, judge: Judge, evaluator: Evaluator, keys: Collection[str]) -> bytes:
    """The new content, as `changes.Write` defines it. It leaves out a remedy that keeps its finding or
    causes another.
    """
    choice = remedies.Choice(
        keys=frozenset(keys), names=remedies.names_of_devices() | set(evaluator.config.accelerators.resources)
    )
    fixed = rounds.fix([batch], judge=judge, read=lambda _batch: content, choice=choice)
    return next((file.content for file in fixed.files if not file.problem), content)
