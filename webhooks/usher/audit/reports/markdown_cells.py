"""Texts of an audit in Markdown: a hostile name changes nothing of the page, and a long one is cut."""

from typing import Final

from usher.audit.document import Subject
from usher.audit.reports import words
from usher.reports.ci import markdown_text

_MAX_TEXT: Final = 400
"""Characters of one text, so that one name cannot fill the report."""
_WORD: Final = 40
"""Characters at the end of a cut text in which a space is looked for, so that it ends with a whole word."""


def prose(text: str, *, empty: str | None = None) -> str:
    """A text as it is; `empty` in the place of one without characters, where it is given."""
    return empty if empty is not None and not text else markdown_text.prose(_shortened(text))


def code(text: str) -> str:
    """A name in a span of code."""
    # A bar ends a cell, within a span of code too.
    return markdown_text.code(_shortened(text)).replace("|", "\\|")


def subject(value: Subject) -> str:
    """`Job ml-research/bert` in a span of code."""
    return code(words.subject(value))


def _shortened(text: str) -> str:
    if len(text) <= _MAX_TEXT:
        return text
    kept = text[: _MAX_TEXT - 1]
    place = kept.rfind(" ", _MAX_TEXT - _WORD)
    return f"{kept[:place] if place > 0 else kept}…"
