"""Selects the entries that a CI system shows beside the code, because it accepts only a few of each level."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from usher.check import findings
from usher.check.formats import entries, wording
from usher.check.formats.entries import Entry, Level

MOST: Final = 10
"""The most annotations of one level and step that GitHub Actions and Azure Pipelines show."""

_MAX_TEXT: Final = 4_000
"""The most characters of a message; runners cut a longer one."""


class Annotations(Struct, frozen=True, kw_only=True):
    shown: Sequence[Entry]
    """Errors first; at most MOST of each level, and one note fewer, which leaves room for a notice of our own."""
    left_out: Sequence[Entry]


def of(found: findings.Report) -> Annotations:
    shown: list[Entry] = []
    left_out: list[Entry] = []
    room = {Level.ERROR: MOST, Level.WARNING: MOST, Level.NOTE: MOST - 1}
    for entry in entries.worst_first(entries.of_report(found)):
        room[entry.level] -= 1
        (shown if room[entry.level] >= 0 else left_out).append(entry)
    return Annotations(shown=shown, left_out=left_out)


def counted(left_out: Sequence[Entry]) -> str:
    """`32 more errors and 4 more warnings`."""
    numbers = [(level, sum(entry.level is level for entry in left_out)) for level in Level]
    return wording.sentence(wording.count(number, f"more {level}") for level, number in numbers if number)


def text(entry: Entry, *, between: str) -> str:
    """The whole text of an entry, safe in a line of a log; `between` separates its sentences."""
    parts = [wording.without_commands(wording.printable(part)) for part in (entry.text, *entry.details)]
    whole = between.join(parts)
    return whole if len(whole) <= _MAX_TEXT else f"{whole[: _MAX_TEXT - 1]}…"


def plain(entry: Entry) -> str:
    """An entry as a line of a log that a CI system does not read as a command."""
    line = f"{entry.level}: {entry.where}: {entry.title}: {text(entry, between='; ')}"
    return wording.harmless(wording.printable(line))
