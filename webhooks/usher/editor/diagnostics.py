"""Diagnostics: the places that the editor underlines, each with a severity and a message."""

from enum import StrEnum

from usher.dataclass import dataclass
from usher.editor.positions import Point, Range, Text


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One message about a place."""

    range: Range
    severity: Severity
    message: str
    code: str = ""
    """USH103; empty for a message that is not a finding of a check."""
    link: str = ""
    """The address of a page about the message."""
    rule: str = ""
    """`category/name` of the check."""


def at_line(text: Text, line: int, *, severity: Severity, message: str) -> Diagnostic:
    """A diagnostic about one line, counted from 1 as in usher. It does not underline the blanks around the text."""
    number = text.point(text.offset_of(line, 1)).line
    content = text.line(number)
    start = text.offset(Point(number, 0))
    indented = len(content) - len(content.lstrip())
    return Diagnostic(
        range=text.range(start + indented, start + max(len(content.rstrip()), indented)),
        severity=severity,
        message=message,
    )
