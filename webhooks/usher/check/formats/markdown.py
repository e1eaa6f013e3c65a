"""Writes a Markdown comment for a pull request: the findings by cause, and a marker by which a bot finds the comment.

GitHub accepts 65,536 characters. The end of the comment counts the mildest findings that do not fit.

Names come from manifests and file names. They must not become markup, links, mentions of people, references to issues,
or the commands of a bot.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from msgspec import Struct

from usher.check import findings
from usher.check.formats import entries, summary, wording
from usher.check.formats.entries import Entry

_MARKUP: Final = re.compile(r"([\\`*_\[\]<>|~&$])")
"""Characters with a meaning within a line."""
_BLOCK: Final = re.compile(r"^(\d{1,9})?([#+=.)-])")
"""Patterns with a meaning at the start of a line: a heading, an underline, a list."""
_BREAK: Final = "\u200b"
"""A zero-width space: it breaks mentions, references and addresses, and people do not see it."""
_REFERENCE: Final = re.compile(r"@|[#!$&%](?=\d)|(?<=GH)-(?=\d)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
_BACKTICKS: Final = re.compile(r"`+")


def prose(text: str) -> str:
    """A text within other text; readers see each of its characters."""
    # Spaces at an edge would make an indented block or a line break.
    plain = wording.printable(text).strip() or "(empty)"
    plain = _REFERENCE.sub(lambda match: match.group() + _BREAK, plain)
    plain = _ADDRESS.sub(_BREAK, plain)
    return _BLOCK.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", plain))


def code(text: str) -> str:
    """A name as a code span, in which GitHub and GitLab find no mentions or references."""
    plain = wording.without_commands(wording.printable(text)) or " "
    longest = max((len(found) for found in _BACKTICKS.findall(plain)), default=0)
    fence = "`" * (longest + 1)
    # CommonMark removes one space from both ends, unless the span holds only spaces.
    edge = " " if plain.strip(" ") and (plain[0] in "` " or plain[-1] in "` ") else ""
    return f"{fence}{edge}{plain}{edge}{fence}"


MARKER: Final = "<!-- gpu-usher:report -->"
"""The first line. A bot updates the comment that begins with it and does not add another one."""
MAX_SIZE: Final = 65_536
"""Characters of a comment, as UTF-16 counts them."""

_RESERVED: Final = 1_000
"""Characters reserved for the sentence about a cut, and for the end."""
_SHOWN: Final = 10
"""The most places of one cause."""
_MAX_TEXT: Final = 600
"""The most characters of one text, so that one workload cannot fill the comment."""


class _Part(Struct, frozen=True, kw_only=True):
    """A part of the comment that is shown completely or left out."""

    heading: str
    """Shown above the first part with this heading."""
    text: str
    findings: int


def write(found: findings.Report, stream: TextIO, /, *, max_size: int = MAX_SIZE) -> None:
    """Writes the comment, of at most `max_size` characters."""
    text = f"{MARKER}\n## gpu-usher: {_verdict(found)}\n\n{_short_prose(summary.numbers(found))}\n"
    parts = [*_unfinished(found), *_causes(found), *_unread(found)]
    size, heading, shown = _size(text), "", 0
    pieces = [text]
    for part in parts:
        piece = f"{'' if part.heading == heading else part.heading}{part.text}"
        size += _size(piece)
        if size > max_size - _RESERVED:
            break
        pieces.append(piece)
        heading, shown = part.heading, shown + 1
    left_out = sum(part.findings for part in parts[shown:])
    if left_out:
        more = wording.count(left_out, "more entry", "more entries")
        pieces.append(f"\n**{more} left out**, because a comment has room for {max_size:,} characters.\n")
    pieces.append(f"\n{_short_prose(f'gpu-usher {found.version}, configuration: {summary.configuration(found)}')}\n")
    stream.write("".join(pieces))


def _verdict(found: findings.Report) -> str:
    incomplete = "incomplete, " if found.failed else ""
    return f"{incomplete}{_short_prose(wording.finding_counts(found.totals))}"


def _unfinished(found: findings.Report) -> Iterator[_Part]:
    heading = "\n### not read or not judged\n\n"
    for entry in entries.of_report(found):
        if entry.result is None:
            yield _Part(heading=heading, text=f"* {_short_code(entry.where)}: {_short_prose(entry.text)}\n", findings=1)


def _causes(found: findings.Report) -> Iterator[_Part]:
    for check in summary.findings_by_check(found.results):
        rule = found.rules.get(check.key)
        affected = summary.affected(hit.result for hit in check.hits)
        title = _short_prose(f"{entries.LEVELS[check.outcome]} {check.code} {check.name}")
        why = f"{_short_prose(rule.why)}\n\n" if rule is not None and rule.why else ""
        heading = f"\n### {title} ({_short_prose(affected)})\n\n{why}"
        for cause in check.causes:
            text = ". ".join(filter(None, (cause.message.rstrip("."), *map(wording.capitalised, _details(cause)))))
            places = [_place(hit) for hit in cause.hits]
            yield _Part(heading=heading, text=f"* {_short_prose(text)}\n{_listed(places)}", findings=len(places))


def _place(hit: summary.Hit) -> str:
    added = " (a field that the mutating webhook adds)" if hit.finding.added else ""
    return f"{hit.where} {wording.about(hit.result, hit.finding.pod_set)}{added}"


def _details(cause: summary.Cause) -> Iterator[str]:
    yield from filter(None, (cause.remedy, cause.milder))


def _unread(found: findings.Report) -> Iterator[_Part]:
    by_reason: dict[str, list[Entry]] = {}
    for result in found.results:
        for entry in entries.unread(result, found):
            by_reason.setdefault(entry.message, []).append(entry)
    for reason, group in by_reason.items():
        places = [f"{entry.where} {entry.subject}" for entry in group]
        text = f"* {_short_prose(reason)}\n{_listed(places)}"
        yield _Part(heading="\n### unknown to usher\n\n", text=text, findings=len(places))


def _listed(places: Sequence[str]) -> str:
    shown = [f"  * {_short_code(place.strip())}\n" for place in places[:_SHOWN]]
    if len(places) > _SHOWN:
        shown.append(f"  * and {len(places) - _SHOWN:,} more\n")
    return "".join(shown)


def _short_prose(text: str) -> str:
    return prose(_shortened(text))


def _short_code(text: str) -> str:
    return code(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _size(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
