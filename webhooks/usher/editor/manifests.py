"""The findings of `usher check` about a manifest in the editor, at their exact places."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from usher import errors
from usher.documents import chunks
from usher.editor import changes
from usher.editor.analysis import Analysis
from usher.editor.diagnostics import Diagnostic, Severity, at_line
from usher.editor.documents import Document
from usher.editor.neighbours import Check, Directories, Neighbours
from usher.editor.positions import Text
from usher.editor.site import Site
from usher.policy.evaluator import Evaluator
from usher.reports import wording
from usher.reports.ci import entries
from usher.scan import findings, judging, outlines, parsing, runner, sources
from usher.scan.batches import Batch
from usher.scan.surroundings import Surroundings

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
        unread = list(_of_unread(batch, text))
        if not batch.items:
            return Analysis(document=document, diagnostics=tuple(unread))
        try:
            evaluator = self.site.evaluator()
        except errors.UsherError as error:
            reason = wording.printable("; ".join(str(error).splitlines()))
            message = f"usher judges no manifest until this is corrected: {reason}"
            unread.append(at_line(text, 1, severity=Severity.WARNING, message=message))
            return Analysis(document=document, diagnostics=tuple(unread))
        around = self._around(document, opened, check)
        # The editor shows its problems and notes already.
        report = self._report(replace(batch, problems=(), notes=()), around, evaluator, diff=False, check=check)
        shown = [*unread, *_of_report(report, text, evaluator)]
        if around.left_out:
            shown.append(at_line(text, 1, severity=Severity.INFORMATION, message=around.left_out))
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
        write: changes.Write,
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
        own = outlines.of(batch, namespace=self._namespace)
        surroundings = Surroundings([own, *around.outlines], namespace=self._namespace)
        part = judging.judge(batch, surroundings, evaluator=evaluator, settings=settings, before_each=check)
        return runner.report(part, evaluator=evaluator, settings=settings)

    def _around(self, document: Document, opened: Mapping[Path, str], check: Check) -> Neighbours:
        if document.path is None:
            return Neighbours()
        return self._directories.around(document.path, opened, check=check)


def _read(document: Document) -> Batch:
    """The objects of a document. Editors open YAML of all kinds, so only broken manifests count as problems."""
    path = document.path
    source = _UNSAVED if path is None else sources.name(path)
    content = document.text.content.encode(errors="surrogatepass")
    return parsing.parsed(content, source=source, explicit=False)


def _of_unread(batch: Batch, text: Text) -> Iterator[Diagnostic]:
    """Diagnostics of a file whose objects usher cannot read: broken YAML, and workloads without apiVersion."""
    for problem in batch.problems:
        message = wording.printable(problem.reason)
        if problem.reason.startswith(chunks.UNRENDERED):
            yield _placed(text, problem.line, problem.column, severity=Severity.INFORMATION, message=message)
        else:
            message = wording.capitalised(message)
            yield _placed(text, problem.line, problem.column, severity=Severity.ERROR, message=message)
    for note in batch.notes:
        line = note.source.rpartition(":")[2]
        message = f"usher did not judge this: {wording.printable(note.reason)}"
        yield at_line(text, int(line) if line.isdecimal() else 1, severity=Severity.WARNING, message=message)


def _placed(text: Text, line: int, column: int, *, severity: Severity, message: str) -> Diagnostic:
    """A diagnostic from a place to the end of its word."""
    if not line:
        return at_line(text, 1, severity=severity, message=message)
    start = text.offset_of(line, column)
    word = _WORD.match(text.content, start)
    return Diagnostic(range=text.range(start, word.end() if word else start + 1), severity=severity, message=message)


def _of_report(found: findings.Report, text: Text, evaluator: Evaluator) -> list[Diagnostic]:
    every = entries.worst_first(entries.of(found))
    shown = [_diagnostic(entry, text, evaluator) for entry in every[:MAX_DIAGNOSTICS]]
    if len(every) > MAX_DIAGNOSTICS:
        message = f"{len(every) - MAX_DIAGNOSTICS:,} more findings, which the editor does not show; run usher check"
        shown.append(at_line(text, 1, severity=Severity.WARNING, message=message))
    return shown


def _diagnostic(entry: entries.Entry, text: Text, evaluator: Evaluator) -> Diagnostic:
    finding = entry.finding
    message = wording.printable(entry.message)
    severity = _SEVERITIES[entry.level]
    first = wording.capitalised(message if finding is not None else f"{entry.title}: {message}")
    message = "\n".join([first, *map(wording.printable, entry.details)])
    if not entry.end_column:
        line = entry.line or (entry.result.line if entry.result is not None else 1)
        return at_line(text, line, severity=severity, message=message)
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
