"""Writes a Markdown comment for a pull request: the findings by cause, and a marker by which a bot finds the comment.

GitHub accepts 65,536 characters. The end of the comment counts the mildest findings that do not fit.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from usher.dataclass import dataclass
from usher.reports import causes, summary, wording
from usher.reports.ci import entries, markdown_text
from usher.reports.ci.entries import Entry
from usher.scan import findings

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of the comment that is shown completely or left out."""

    heading: str
    """Shown above the first part with this heading."""
    text: str
    findings: int


def write(found: findings.Report, stream: TextIO, /, *, max_size: int = MAX_SIZE) -> None:
    """Writes the comment, of at most `max_size` characters."""
    text = f"{MARKER}\n## gpu-usher: {_verdict(found)}\n\n{_prose(summary.numbers(found))}\n"
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
    pieces.append(f"\n{_prose(f'gpu-usher {found.version}, configuration: {summary.configuration(found)}')}\n")
    stream.write("".join(pieces))


def _verdict(found: findings.Report) -> str:
    incomplete = "incomplete, " if found.failed else ""
    return f"{incomplete}{_prose(wording.finding_counts(found.totals))}"


def _unfinished(found: findings.Report) -> Iterator[_Part]:
    heading = "\n### not read or not judged\n\n"
    for entry in entries.of(found):
        if entry.result is None:
            yield _Part(heading=heading, text=f"* {_code(entry.where)}: {_prose(entry.text)}\n", findings=1)


def _causes(found: findings.Report) -> Iterator[_Part]:
    for check in causes.of(found.results):
        rule = found.rules.get(check.key)
        affected = causes.affected(hit.result for hit in check.hits)
        title = _prose(f"{entries.LEVELS[check.outcome]} {check.code} {check.name}")
        why = f"{_prose(rule.why)}\n\n" if rule is not None and rule.why else ""
        heading = f"\n### {title} ({_prose(affected)})\n\n{why}"
        for cause in check.causes:
            text = ". ".join(filter(None, (cause.message.rstrip("."), *map(wording.capitalised, _details(cause)))))
            places = [_place(hit) for hit in cause.hits]
            yield _Part(heading=heading, text=f"* {_prose(text)}\n{_listed(places)}", findings=len(places))


def _place(hit: causes.Hit) -> str:
    added = " (a field that the mutating webhook adds)" if hit.finding.added else ""
    return f"{hit.where} {wording.about(hit.result, hit.finding.pod_set)}{added}"


def _details(cause: causes.Cause) -> Iterator[str]:
    yield from filter(None, (cause.remedy, cause.milder))


def _unread(found: findings.Report) -> Iterator[_Part]:
    by_reason: dict[str, list[Entry]] = {}
    for result in found.results:
        for entry in entries.unread(result, found):
            by_reason.setdefault(entry.message, []).append(entry)
    for reason, group in by_reason.items():
        places = [f"{entry.where} {entry.subject}" for entry in group]
        text = f"* {_prose(reason)}\n{_listed(places)}"
        yield _Part(heading="\n### unknown to usher\n\n", text=text, findings=len(places))


def _listed(places: Sequence[str]) -> str:
    shown = [f"  * {_code(place.strip())}\n" for place in places[:_SHOWN]]
    if len(places) > _SHOWN:
        shown.append(f"  * and {len(places) - _SHOWN:,} more\n")
    return "".join(shown)


def _prose(text: str) -> str:
    return markdown_text.prose(_shortened(text))


def _code(text: str) -> str:
    return markdown_text.code(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _size(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
