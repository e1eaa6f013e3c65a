"""Converts our values to those of the Language Server Protocol, and back.

Source: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from lsprotocol import types

from usher.editor import completion
from usher.editor.changes import Change, Edit
from usher.editor.diagnostics import Diagnostic, Severity
from usher.editor.explanation import Hover
from usher.editor.positions import Encoding, Point, Range

SOURCE: Final = "usher"
"""The name of our diagnostics in the editor."""
MARKDOWN: Final = types.MarkupKind.Markdown
PLAIN: Final = types.MarkupKind.PlainText

_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
}
_KINDS: Final = {
    completion.Sort.KEY: types.CompletionItemKind.Property,
    completion.Sort.VALUE: types.CompletionItemKind.EnumMember,
}
# Everything that CommonMark lets a backslash escape, except characters that never begin markup within a sentence.
_MARKS: Final = re.compile(r"([\\`*_\[\]<>#|~!&])")
_LARGEST: Final = 2**31 - 1


def encoding(name: str | types.PositionEncodingKind | None) -> Encoding:
    """The units of columns; UTF-16 if client and server did not agree on any."""
    word = name.value if isinstance(name, types.PositionEncodingKind) else name
    return Encoding(word) if word in set(Encoding) else Encoding.UTF_16


def point(position: types.Position) -> Point:
    return Point(min(position.line, _LARGEST), min(position.character, _LARGEST))


def range_of(value: types.Range) -> Range:
    return Range(point(value.start), point(value.end))


def to_range(value: Range) -> types.Range:
    return types.Range(start=_position(value.start), end=_position(value.end))


def to_diagnostic(value: Diagnostic) -> types.Diagnostic:
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
    text = _markdown if kind is MARKDOWN else _plain
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
    value: Change, *, kind: types.CodeActionKind, uri: str, version: int, diagnostics: Sequence[types.Diagnostic]
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


def _edit(value: Edit) -> types.TextEdit:
    return types.TextEdit(range=to_range(value.range), new_text=value.text)


def _position(value: Point) -> types.Position:
    return types.Position(line=value.line, character=value.column)


def _markdown(value: Hover) -> str:
    lines = [f"**{_escaped(value.title)}**", *map(_escaped, value.paragraphs)]
    lines += [f"[{_escaped(title)}](<{address}>)" for title, address in value.links if _is_web(address)]
    return "\n\n".join(lines)


def _plain(value: Hover) -> str:
    return "\n\n".join([value.title, *value.paragraphs, *(f"{title}: {address}" for title, address in value.links)])


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)


def _is_web(address: str) -> bool:
    return address.startswith("https://") and not set(address) & set("<>\\ \n")
