"""What a report format is."""

from typing import Protocol, TextIO

from usher.scan import findings


class Reporter(Protocol):
    """Writes a report; settings of the format (width, colour) are bound to it before."""

    def __call__(self, found: findings.Report, stream: TextIO, /) -> None: ...
