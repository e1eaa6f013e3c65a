"""Our values as those of the Language Server Protocol."""

import pytest
from lsprotocol import types

from usher.check.editor import completion, documents, serving
from usher.check.editor.completion import Hover
from usher.check.editor.documents import Diagnostic, Encoding, Point, Range, Severity

SPAN = Range(Point(1, 2), Point(3, 4))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, Encoding.UTF_16),
        (types.PositionEncodingKind.Utf8, Encoding.UTF_8),
        ("utf-32", Encoding.UTF_32),
        ("ebcdic", Encoding.UTF_16),
    ],
)
def test_columns_are_those_of_utf_16_unless_another_encoding_was_agreed_on(
    said: types.PositionEncodingKind | str | None, expected: Encoding
) -> None:
    assert serving.encoding_of(said) is expected


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        (Severity.ERROR, types.DiagnosticSeverity.Error),
        (Severity.WARNING, types.DiagnosticSeverity.Warning),
        (Severity.INFORMATION, types.DiagnosticSeverity.Information),
    ],
)
def test_a_diagnostic_has_its_severity(severity: Severity, expected: types.DiagnosticSeverity) -> None:
    assert serving.to_diagnostic(Diagnostic(range=SPAN, severity=severity, message="m")).severity is expected


def test_a_finding_has_a_code_that_leads_to_its_page() -> None:
    found = serving.to_diagnostic(
        Diagnostic(range=SPAN, severity=Severity.ERROR, message="m", code="USH103", link="https://example.com/a")
    )
    assert found.code == "USH103"
    assert found.code_description == types.CodeDescription(href="https://example.com/a")
    assert found.source == "usher"
    assert found.range == types.Range(types.Position(1, 2), types.Position(3, 4))


def test_marks_of_markdown_in_texts_are_escaped() -> None:
    hover = Hover(range=SPAN, title="a*b*", paragraphs=("<img src=x> [x](y) `c`",), links=(("t]", "https://e.com/a"),))
    found = serving.to_hover([hover], serving.MARKDOWN)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.value == ("**a\\*b\\***\n\n\\<img src=x\\> \\[x\\](y) \\`c\\`\n\n[t\\]](<https://e.com/a>)")


def test_only_an_address_of_the_web_becomes_a_link() -> None:
    hover = Hover(range=SPAN, title="t", paragraphs=(), links=(("a", "command:run"), ("b", "https://x>y")))
    found = serving.to_hover([hover], serving.MARKDOWN)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.value == "**t**"


def test_an_editor_without_markdown_gets_plain_text() -> None:
    hover = Hover(range=SPAN, title="a*b", paragraphs=("c_d",))
    found = serving.to_hover([hover], serving.PLAIN)
    assert found is not None
    assert found.contents == types.MarkupContent(kind=types.MarkupKind.PlainText, value="a*b\n\nc_d")


def test_a_place_without_explanations_has_no_hover() -> None:
    assert serving.to_hover([], serving.MARKDOWN) is None


def test_completions_keep_their_order() -> None:
    values = [
        completion.Completion(
            label=label, sort=completion.CompletionType.KEY, range=SPAN, text=f"{label}: ", description="d"
        )
        for label in ("zebra", "apple")
    ]
    items = serving.to_completions(values).items
    assert [each.label for each in sorted(items, key=lambda each: each.sort_text or "")] == ["zebra", "apple"]


def test_an_action_edits_the_version_that_was_judged() -> None:
    change = documents.Change(title="t", edit=documents.Edit(range=SPAN, text="new"))
    found = serving.to_action(change, kind=types.CodeActionKind.QuickFix, uri="file:///a", version=7, diagnostics=())
    assert found.edit is not None
    assert found.edit.document_changes is not None
    (document,) = found.edit.document_changes
    assert isinstance(document, types.TextDocumentEdit)
    assert (document.text_document.uri, document.text_document.version) == ("file:///a", 7)
