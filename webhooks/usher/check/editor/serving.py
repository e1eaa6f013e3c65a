"""The language server: messages of the protocol in and out. One other thread judges all documents.

Source: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
"""

import asyncio
import functools
import logging
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from lsprotocol import types
from msgspec import Struct
from pygls.lsp.server import LanguageServer

from usher import __version__, errors
from usher.check.editor import completion, documents
from usher.check.editor.completion import Hover
from usher.check.editor.session import Cancelled, Check, Session

SOURCE: Final = "usher"
"""The name of our diagnostics in the editor."""
MARKDOWN: Final = types.MarkupKind.Markdown
PLAIN: Final = types.MarkupKind.PlainText

_SEVERITIES: Final = {
    documents.Severity.ERROR: types.DiagnosticSeverity.Error,
    documents.Severity.WARNING: types.DiagnosticSeverity.Warning,
    documents.Severity.INFORMATION: types.DiagnosticSeverity.Information,
}
_KINDS: Final = {
    completion.CompletionType.KEY: types.CompletionItemKind.Property,
    completion.CompletionType.VALUE: types.CompletionItemKind.EnumMember,
}
# Everything that CommonMark lets a backslash escape, except characters that never begin markup within a sentence.
_MARKS: Final = re.compile(r"([\\`*_\[\]<>#|~!&])")
_LARGEST: Final = 2**31 - 1


def encoding_of(name: str | types.PositionEncodingKind | None) -> documents.Encoding:
    """The units of columns; UTF-16 if client and server did not agree on any."""
    word = name.value if isinstance(name, types.PositionEncodingKind) else name
    return documents.Encoding(word) if word in set(documents.Encoding) else documents.Encoding.UTF_16


def point_of(position: types.Position) -> documents.Point:
    return documents.Point(min(position.line, _LARGEST), min(position.character, _LARGEST))


def range_of(value: types.Range) -> documents.Range:
    return documents.Range(point_of(value.start), point_of(value.end))


def to_range(value: documents.Range) -> types.Range:
    return types.Range(start=_position(value.start), end=_position(value.end))


def to_diagnostic(value: documents.Diagnostic) -> types.Diagnostic:
    return types.Diagnostic(
        range=to_range(value.range),
        message=value.message,
        severity=_SEVERITIES[value.severity],
        source=SOURCE,
        code=value.code or None,
        code_description=types.CodeDescription(href=value.link) if value.code and value.link else None,
    )


def to_hover(values: Sequence[Hover], kind: types.MarkupKind) -> types.Hover | None:
    """One hover for all explanations of a place; None without an explanation."""
    if not values:
        return None
    text = _markdown if kind is MARKDOWN else _plain_text
    separator = "\n\n---\n\n" if kind is MARKDOWN else "\n\n"
    contents = types.MarkupContent(kind=kind, value=separator.join(map(text, values)))
    return types.Hover(contents=contents, range=to_range(values[0].range))


def to_completions(values: Iterable[completion.Completion]) -> types.CompletionList:
    items = [
        types.CompletionItem(
            label=value.label,
            kind=_KINDS[value.sort],
            detail=value.detail or None,
            documentation=value.description or None,
            # In the order of the configuration, which keeps related entries together.
            sort_text=f"{number:04}",
            text_edit=types.TextEdit(range=to_range(value.range), new_text=value.text),
        )
        for number, value in enumerate(values)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def to_action(
    value: documents.Change,
    *,
    kind: types.CodeActionKind,
    uri: str,
    version: int,
    diagnostics: Sequence[types.Diagnostic],
) -> types.CodeAction:
    """An action that edits one version of a document."""
    document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
    edits = types.TextDocumentEdit(text_document=document, edits=[_edit(value.edit)])
    return types.CodeAction(
        title=value.title,
        kind=kind,
        diagnostics=list(diagnostics) or None,
        edit=types.WorkspaceEdit(document_changes=[edits]),
    )


def _edit(value: documents.Edit) -> types.TextEdit:
    return types.TextEdit(range=to_range(value.range), new_text=value.text)


def _position(value: documents.Point) -> types.Position:
    return types.Position(line=value.line, character=value.column)


def _markdown(value: Hover) -> str:
    lines = [f"**{_escaped(value.title)}**", *map(_escaped, value.paragraphs)]
    lines += [f"[{_escaped(title)}](<{address}>)" for title, address in value.links if _is_web(address)]
    return "\n\n".join(lines)


def _plain_text(value: Hover) -> str:
    return "\n\n".join([value.title, *value.paragraphs, *(f"{title}: {address}" for title, address in value.links)])


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)


def _is_web(address: str) -> bool:
    return address.startswith("https://") and not set(address) & set("<>\\ \n")


WAIT: Final = 0.2
"""Seconds that usher waits after a change of the text before it judges, because another change may follow."""

_Answer = TypeVar("_Answer")
_log = logging.getLogger(__name__)


class _Running(Struct, frozen=True):
    """A document that usher is judging, or that waits for it."""

    task: asyncio.Task[None]
    stop: threading.Event


class Server:
    """Serves one editor over a pair of streams."""

    def __init__(self, session: Session, *, wait: float = WAIT) -> None:
        self._session = session
        self._wait = wait
        self._analyses: dict[str, documents.Analysis] = {}
        self._running: dict[str, _Running] = {}
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judging")
        # The editor sends the whole text with each change: manifests are small, and no edit can go to a wrong place.
        self._language = LanguageServer(
            "usher", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full, max_workers=1
        )
        self._register()

    def run(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        """Serves until the editor ends, or asks the server to."""
        try:
            self._language.start_io(stdin, stdout)
        finally:
            for running in self._running.values():
                running.stop.set()
            self._worker.shutdown(cancel_futures=True)

    def _register(self) -> None:
        handlers: dict[str, Callable[..., object]] = {
            types.TEXT_DOCUMENT_DID_OPEN: self._opened,
            types.TEXT_DOCUMENT_DID_CHANGE: self._changed,
            types.TEXT_DOCUMENT_DID_SAVE: self._saved,
            types.TEXT_DOCUMENT_DID_CLOSE: self._closed,
            types.TEXT_DOCUMENT_HOVER: self._hover,
            types.TEXT_DOCUMENT_COMPLETION: self._completion,
        }
        options = None
        if self._session.offers_changes:
            handlers[types.TEXT_DOCUMENT_CODE_ACTION] = self._actions
            kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]
            options = types.CodeActionOptions(code_action_kinds=kinds)
        for name, handler in handlers.items():
            # pygls gives its handlers attributes, which a method cannot have.
            of_actions = options if name == types.TEXT_DOCUMENT_CODE_ACTION else None
            self._language.feature(name, of_actions)(functools.partial(handler))

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        self._judge(params.text_document.uri, wait=0)

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        self._judge(params.text_document.uri, wait=self._wait)

    def _saved(self, _params: types.DidSaveTextDocumentParams) -> None:
        """Judges all documents again: the saved file may be usher.yaml, or a neighbour."""
        for document in self._documents():
            self._judge(document.uri, wait=self._wait)

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self._stop(uri)
        self._analyses.pop(uri, None)
        self._language.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    def _judge(self, uri: str, *, wait: float) -> None:
        self._stop(uri)
        stop = threading.Event()
        task = asyncio.get_running_loop().create_task(self._judged(uri, wait, stop))
        self._running[uri] = _Running(task, stop)

    def _stop(self, uri: str) -> None:
        running = self._running.pop(uri, None)
        if running is not None:
            running.stop.set()
            running.task.cancel()

    async def _judged(self, uri: str, wait: float, stop: threading.Event) -> None:
        await asyncio.sleep(wait)
        document = self._document(uri)
        if document is None:
            return
        opened = self._texts()
        try:
            analysis = await self._in_worker(lambda: self._session.analyse(document, opened, check=_check(stop)))
        except Cancelled:
            return
        self._analyses[uri] = analysis
        shown = [to_diagnostic(each) for each in analysis.diagnostics]
        self._language.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=document.version, diagnostics=shown)
        )

    def _hover(self, params: types.HoverParams) -> types.Hover | None:
        document = self._document(params.text_document.uri)
        if document is None:
            return None
        point = point_of(params.position)
        if documents.sort_of(document) is documents.DocumentType.CONFIGURATION:
            key = completion.hover_of_key(document.text, point)
            return to_hover([key] if key is not None else [], self._markup())
        analysis = self._analyses.get(document.uri)
        if analysis is None:
            return None
        found = completion.hovers_of_findings(point, analysis, self._session.catalogue)
        return to_hover(list(found), self._markup())

    def _completion(self, params: types.CompletionParams) -> types.CompletionList | None:
        document = self._document(params.text_document.uri)
        if document is None or documents.sort_of(document) is not documents.DocumentType.CONFIGURATION:
            return None
        point = point_of(params.position)
        return to_completions(completion.completions(document.text, point, self._session.catalogue))

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        document = self._document(params.text_document.uri)
        analysis = self._analyses.get(params.text_document.uri)
        if document is None or analysis is None or analysis.document.version != document.version:
            return []
        opened, stop = self._texts(), threading.Event()
        wanted, only = range_of(params.range), params.context.only
        automatic = params.context.trigger_kind is types.CodeActionTriggerKind.Automatic

        def found() -> list[types.CodeAction]:
            check = _check(stop)
            actions = list[types.CodeAction]()
            if _is_requested_kind(types.CodeActionKind.QuickFix, only):
                remedies = self._session.remedies(analysis, wanted, opened, check=check)
                actions += (self._quick_fix(each, analysis) for each in remedies)
            # An editor asks for light bulbs at each move of the cursor.
            if _is_requested_kind(types.CodeActionKind.SourceFixAll, only) and not automatic:
                kind = types.CodeActionKind.SourceFixAll
                every = self._session.whole_changes(document, opened, check=check)
                actions += (_action(each, kind, document, ()) for each in every)
            return actions

        try:
            return await self._in_worker(found)
        except errors.UsherError as error:
            # The diagnostics show it too.
            _log.warning("no changes are offered: %s", error)
            return []
        finally:
            stop.set()

    def _quick_fix(self, change: documents.Change, analysis: documents.Analysis) -> types.CodeAction:
        mended = [to_diagnostic(each) for each in analysis.diagnostics if each.rule == change.rule]
        return _action(change, types.CodeActionKind.QuickFix, analysis.document, mended)

    async def _in_worker(self, question: Callable[[], _Answer]) -> _Answer:
        return await asyncio.get_running_loop().run_in_executor(self._worker, question)

    def _document(self, uri: str) -> documents.Document | None:
        return next((each for each in self._documents(only=uri)), None)

    def _documents(self, *, only: str = "") -> list[documents.Document]:
        units = encoding_of(self._language.workspace.position_encoding)
        return [
            documents.Document(
                uri=each.uri, text=documents.Text(each.source, encoding=units), version=each.version or 0
            )
            for each in self._language.workspace.text_documents.values()
            if not only or each.uri == only
        ]

    def _texts(self) -> dict[Path, str]:
        """The texts of all files that are open."""
        found = {}
        for each in self._language.workspace.text_documents.values():
            path = documents.path_of(each.uri)
            if path is not None:
                found[path] = each.source
        return found

    def _markup(self) -> types.MarkupKind:
        """The markup that the editor can show."""
        text = self._language.client_capabilities.text_document
        hover = text.hover if text is not None else None
        formats: Sequence[types.MarkupKind] = (hover.content_format if hover is not None else None) or ()
        return MARKDOWN if MARKDOWN in formats else PLAIN


def _action(
    change: documents.Change,
    kind: types.CodeActionKind,
    document: documents.Document,
    diagnostics: Sequence[types.Diagnostic],
) -> types.CodeAction:
    return to_action(change, kind=kind, uri=document.uri, version=document.version, diagnostics=diagnostics)


def _is_requested_kind(kind: types.CodeActionKind, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether an editor asks for a kind of actions, or for a kind that includes it: `source` includes all its kinds."""
    words = [each.value if isinstance(each, types.CodeActionKind) else each for each in only or ()]
    return not words or any(kind.value == word or kind.value.startswith(f"{word}.") for word in words)


def _check(stop: threading.Event) -> Check:
    def check() -> None:
        if stop.is_set():
            raise Cancelled

    return check
