"""Answers an editor's questions, and keeps its open manifests with their results. For one thread."""

import contextlib
import logging
import os
import re
import stat
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.check import batches, findings, judging, runner, sources, surroundings
from usher.check.batches import Batch, Item
from usher.check.editor import completion, documents
from usher.check.editor.documents import (
    Analysis,
    Diagnostic,
    Document,
    DocumentType,
    Judge,
    Range,
    Severity,
    Text,
    diagnostic_at_line,
)
from usher.check.fix import remedies, rounds
from usher.check.formats import entries, wording
from usher.check.surroundings import Outline, Surroundings
from usher.config import load, models
from usher.documents import chunks, reader
from usher.policy import config_problems, decision
from usher.policy.checks.catalogue import Catalogue
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
    return sources.parse_file(sources.File(path, explicit=False, size=0), content)


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
            opened: the texts of all files that are open in the editor.
            check: called from time to time; raises an error when the editor no longer wants the answer.
        """
        text = document.text
        batch = _read_document(document)
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
        batch = _read_document(document)
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


def _read_document(document: Document) -> Batch:
    """The objects of a document. Editors open YAML of all kinds, so only broken manifests count as problems."""
    path = document.path
    source = _UNSAVED if path is None else sources.path_text(path)
    content = document.text.content.encode(errors="surrogatepass")
    found = sources.parse_content(content, source=source, explicit=False)
    sources.forget_patches()
    return found if path is None else sources.without_patches(found, path)


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
        link=check.page(evaluator.config.check_pages) if check is not None else "",
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


_CONFIG_SOURCE: Final = "usher.yaml"


def config_diagnostics(text: Text, catalogue: Catalogue) -> list[Diagnostic]:
    """All mistakes and warnings of a text for usher.yaml, in the order of their lines."""
    try:
        documents = reader.parse(text.content, source=_CONFIG_SOURCE)
    except errors.ManifestError as error:
        start = text.offset_of(error.line, error.column)
        message = wording.capitalised(wording.printable(error.reason))
        return [Diagnostic(range=text.range(start, start + 1), severity=Severity.ERROR, message=message)]
    if not documents:
        return []
    if len(documents) > 1:
        message = "usher.yaml is one document; remove this one"
        return [diagnostic_at_line(text, documents[1].line, severity=Severity.ERROR, message=message)]
    found = list(_find_mistakes(documents[0], text, catalogue))
    return sorted(found, key=lambda each: each.range.start)


def _find_mistakes(document: reader.Document, text: Text, catalogue: Catalogue) -> Iterator[Diagnostic]:
    mistakes = load.find_mistakes(document.value, check=lambda config: config_problems.problems(config, catalogue))
    where = _Places(document, text)
    for pointer, reason in mistakes:
        yield where.diagnostic(pointer, reason, Severity.ERROR)
    if not mistakes:
        config = models.Config.model_validate(document.value)
        doubts = [*config_problems.warnings(config), *config_problems.expired(config, decision.today())]
        for pointer, reason in doubts:
            yield where.diagnostic(pointer, reason, Severity.WARNING)


class _Places:
    def __init__(self, document: reader.Document, text: Text) -> None:
        self._value = document.value
        self._text = text
        self._places = reader.Places(document)
        value = document.value if isinstance(document.value, dict) else {}
        self._pointer = batches.Pointer(Item(value=value, document=document))

    def diagnostic(self, pointer: str, reason: str, severity: Severity) -> Diagnostic:
        line, column, end_column = self._place(pointer)
        start, end = self._text.offset_of(line, column), self._text.offset_of(line, end_column)
        message = wording.capitalised(wording.printable(reason))
        if pointer not in self._places:
            message = f"{wording.printable(paths.readable(pointer))}: {wording.printable(reason)}"
        return Diagnostic(range=self._text.range(start, end), severity=severity, message=message)

    def _place(self, pointer: str) -> tuple[int, int, int]:
        """The place of an unknown key, or of the value of a known key if it is a text or a number."""
        known = self._places.get(pointer)
        if known is not None and known.key is not None and not completion.field_at(self._keys(pointer)):
            return known.key.line, known.key.column, known.key.end_column
        place = self._pointer.place(pointer)
        return (place.line, place.column, place.end_column) if place is not None else (1, 1, 1)

    def _keys(self, pointer: str) -> Sequence[str | int]:
        """The pointer as keys, with numbers for the items of lists."""
        keys = list[str | int]()
        value = self._value
        for key in paths.split(pointer):
            if isinstance(value, list):
                keys.append(int(key))
                value = value[int(key)]
            else:
                keys.append(key)
                value = value.get(key) if isinstance(value, dict) else None
        return keys


MAX_REMEDIES: Final = 8
"""The most checks for which one place offers changes."""
_REMEMBERED_ANSWERS: Final = 64
_NOT_JUDGED: Final = {
    DocumentType.CHART_TEMPLATE: "a template of a Helm chart, which usher does not render; "
    "run: helm template CHART | usher "
    "check -",
    DocumentType.TOO_LARGE: f"usher judges files of up to {documents.MAX_BYTES // 2**20} MiB in an editor; usher check "
    "judges larger ones",
}

_log = logging.getLogger(__name__)


class Cancelled(Exception):  # noqa: N818 - not an error: the text has changed, so the answer is not wanted any more
    """Raised by `check` when the editor no longer wants the answer."""


class Session:
    """Judges documents and offers changes."""

    def __init__(self, manifests: Manifests, *, catalogue: Catalogue, write: documents.Write | None = None) -> None:
        """Keeps the parts that answers need.

        Args:
            manifests: judges manifests.
            write: writes changes; None if usher cannot.
        """
        self.catalogue = catalogue
        self._manifests = manifests
        self._write = write
        self._written: OrderedDict[tuple[str, str, frozenset[str]], documents.Edit | None] = OrderedDict()

    @property
    def offers_changes(self) -> bool:
        return self._write is not None

    def analyse(self, document: Document, opened: Mapping[Path, str], *, check: Check) -> Analysis:
        """The analysis of a document. A fault of usher becomes a diagnostic too, so that usher goes on with the next
        text.

        Args:
            opened: the texts of all files that are open in the editor.
            check: called from time to time; raises Cancelled when the editor no longer wants the answer.
        """
        try:
            return self._analysed(document, opened, check)
        except Cancelled:
            raise
        except errors.UsherError as error:
            message = f"not judged: {wording.printable('; '.join(str(error).splitlines()))}"
        except Exception as error:  # noqa: BLE001 - one document must not end the server
            _log.exception("usher could not judge %s", document.uri)
            # The state that the fault left must not affect the next text.
            self._manifests.site.close()
            message = f"not judged, because of an internal error: {type(error).__name__}. Please report it with the log"
        warning = diagnostic_at_line(document.text, 1, severity=Severity.WARNING, message=message)
        return Analysis(document=document, diagnostics=(warning,))

    def remedies(
        self, analysis: Analysis, wanted: Range, opened: Mapping[Path, str], *, check: Check
    ) -> Iterator[documents.Change]:
        """The changes that remove findings in a range.

        Raises:
            UsherError: the document cannot be judged.
        """
        found = [each for each in analysis.diagnostics if each.rule and _touch(each.range, wanted)]
        for rule in list(dict.fromkeys(each.rule for each in found))[:MAX_REMEDIES]:
            entry = self.catalogue.checks.get(rule)
            edit = None if entry is None else self._edit(analysis.document, {rule}, opened, check)
            if entry is not None and edit is not None:
                yield documents.Change(title=f"{entry.code} {entry.name}: write the remedy", edit=edit, rule=rule)

    def whole_changes(
        self, document: Document, opened: Mapping[Path, str], *, check: Check
    ) -> Iterator[documents.Change]:
        """The changes for the whole document.

        Raises:
            UsherError: the document cannot be judged.
        """
        mutations = {key for key, entry in self.catalogue.mutations.items() if not entry.silent}
        edit = self._edit(document, mutations, opened, check)
        if edit is not None:
            yield documents.Change(title="Write what the mutating webhook would add", edit=edit)
        edit_of_all = self._edit(document, (), opened, check)
        if edit_of_all is not None and edit_of_all != edit:
            yield documents.Change(title="Write what the webhook would add, and all safe remedies", edit=edit_of_all)

    def _analysed(self, document: Document, opened: Mapping[Path, str], check: Check) -> Analysis:
        sort = documents.sort_of(document)
        if sort in _NOT_JUDGED:
            # A chart can be large too, and its templates are not YAML.
            about = diagnostic_at_line(document.text, 1, severity=Severity.INFORMATION, message=_NOT_JUDGED[sort])
            return Analysis(document=document, diagnostics=(about,))
        if sort is DocumentType.CONFIGURATION:
            found = config_diagnostics(document.text, self.catalogue)
            return Analysis(document=document, diagnostics=tuple(found))
        return self._manifests.analysed(document, opened, check=check)

    def _edit(
        self, document: Document, keys: Collection[str], opened: Mapping[Path, str], check: Check
    ) -> documents.Edit | None:
        if self._write is None or documents.sort_of(document) is not DocumentType.MANIFEST:
            return None
        known = document.uri, document.text.content, frozenset(keys)
        if known not in self._written:
            new = self._manifests.written(document, opened, write=self._write, keys=keys, check=check)
            self._written[known] = documents.edit_between(document.text, new)
            if len(self._written) > _REMEMBERED_ANSWERS:
                self._written.popitem(last=False)
        return self._written[known]


def _touch(one: Range, other: Range) -> bool:
    return one.start <= other.end and other.start <= one.end
