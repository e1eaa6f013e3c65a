"""Texts of an audit in Markdown: a hostile name changes nothing of the page, and a long one is cut."""

from typing import Final

from usher.reports.ci import markdown_text

_MAX_TEXT: Final = 400
"""Characters of one text, so that one name cannot fill the report."""


def prose(text: str, *, empty: str | None = None) -> str:
    """A text as it is; `empty` in the place of one without characters, where it is given."""
    return empty if empty is not None and not text else markdown_text.prose(_shortened(text))


def code(text: str) -> str:
    """A name in a span of code."""
    # A bar ends a cell, within a span of code too.
    return markdown_text.code(_shortened(text)).replace("|", "\\|")


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
