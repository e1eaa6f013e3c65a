"""Writes a Markdown comment for a pull request: the effect of a change of usher.yaml or of the policies.

GitHub accepts 65,536 characters. The end of the comment counts the causes that do not fit.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from usher.replay import causes
from usher.replay.amounts import Group
from usher.replay.causes import Cause, Chapter
from usher.replay.comparison import Difference
from usher.replay.impact import Impact
from usher.reports import replay_wording, wording
from usher.reports.ci import markdown_text

MARKER: Final = "<!-- gpu-usher:replay -->"
"""The first line. A bot updates the comment that begins with it and does not add another one."""
MAX_SIZE: Final = 65_536
"""Characters of a comment, as UTF-16 counts them."""

_RESERVED: Final = 1_000
"""Characters reserved for the sentence about a cut, and for the end."""
_SHOWN: Final = 10
_MAX_TEXT: Final = 600
"""The most characters of one text, so that one workload cannot fill the comment."""


def write(impact: Impact, stream: TextIO, /, *, max_size: int = MAX_SIZE) -> None:
    """Writes the comment, of at most `max_size` characters."""
    pieces, left_out = [_head(impact)], 0
    size = _size(pieces[0])
    for part in (*_tables(impact), *_causes(impact), *_problems(impact)):
        if left_out or size + _size(part) > max_size - _RESERVED:
            left_out += 1
            continue
        pieces.append(part)
        size += _size(part)
    if left_out:
        parts = wording.count(left_out, "part is", "parts are")
        pieces.append(f"\n**{parts} left out**, because a comment has room for {max_size:,} characters.\n")
    comparison = impact.comparison
    pieces.append("\n" + "".join(f"* {label}: {_prose(side)}\n" for label, side in replay_wording.sides(impact)))
    if fidelity := replay_wording.fidelity(impact):
        pieces.append(f"* {_prose(fidelity)}\n")
    if comparison.owned:
        pieces.append(f"* {_prose(replay_wording.owned(comparison.owned))}\n")
    stream.write("".join(pieces))


def _head(impact: Impact) -> str:
    incomplete = replay_wording.stays(impact)
    warning = f"\n**{_prose(incomplete)}**\n" if incomplete else ""
    rows = [
        (each.value, f"{found.objects:,}", wording.amount(found.pods), wording.devices(found.devices))
        for each, found in impact.by_difference.items()
    ]
    table = _table(("", "objects", "pods", "accelerators"), rows)
    return f"{MARKER}\n## gpu-usher: {_prose(replay_wording.summary(impact))}\n{warning}{table}"


def _tables(impact: Impact) -> Iterator[str]:
    rows = [
        (
            f"{each.code} {each.name}".strip() or causes.UNREAD,
            replay_wording.cell(each.newly_denies),
            replay_wording.cell(each.no_longer_denies),
            replay_wording.cell(each.newly_warns),
            replay_wording.cell(each.no_longer_warns),
            replay_wording.cell(each.not_evaluated),
        )
        for each in impact.checks
    ]
    headers = ("check", "newly denies", "no longer denies", "newly warns", "no longer warns", "not evaluated")
    yield _table(headers, rows)
    yield _groups("namespace", impact.namespaces, impact)
    yield _groups("owner", impact.owners, impact)
    yield _groups("user", impact.users, impact)


def _groups(title: str, groups: Sequence[Group], impact: Impact) -> str:
    differences = [each for each in impact.by_difference if each is not Difference.NOTHING]
    rows = [
        (group.name or f"(no {title})", *(replay_wording.cell(group.of(each)) for each in differences))
        for group in groups
    ]
    return _table((title, *(each.value for each in differences)), rows)


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with the first rows, without columns that are empty in all of them; empty without rows."""
    if not rows:
        return ""
    kept = [index for index in range(len(headers)) if any(row[index] for row in rows)]
    lines = [[headers[index] for index in kept], ["---"] * len(kept)]
    # `prose` would make a word of an empty text.
    lines += [[row[index] and _prose(row[index]) for index in kept] for row in rows[:_SHOWN]]
    more = f"\nand {len(rows) - _SHOWN:,} more\n" if len(rows) > _SHOWN else ""
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + more


def _causes(impact: Impact) -> Iterator[str]:
    for difference, chapters in impact.causes.items():
        title = f"\n### {difference.value}: {_prose(replay_wording.things(impact.of(difference)))}\n"
        for chapter in chapters:
            heading = f"{title}{_heading(chapter)}"
            for cause in chapter.causes:
                yield f"{heading}{_cause(cause, remedy='' if chapter.remedy else cause.remedy)}"
                heading = title = ""


def _heading(chapter: Chapter) -> str:
    code, name, turn = chapter.heading
    if not code and not name:
        return "\n"
    numbers = replay_wording.counted(chapter.changes)
    texts = (f"{numbers}; {turn}" if turn else numbers, wording.capitalised(chapter.remedy) if chapter.remedy else "")
    return f"\n**{_prose(f'{code} {name}'.strip())}** {_prose('. '.join(filter(None, texts)))}\n\n"


def _cause(cause: Cause, *, remedy: str) -> str:
    text = cause.message.rstrip(".") + (f". {wording.capitalised(remedy)}" if remedy else "")
    places = [f"{replay_wording.subject(each)}, {replay_wording.place(each, cause.message)}" for each in cause.changes]
    listed = "".join(f"  * {_code(place)}\n" for place in places[:_SHOWN])
    more = f"  * and {len(places) - _SHOWN:,} more\n" if len(places) > _SHOWN else ""
    return f"* {_prose(text)}\n{listed}{more}"


def _problems(impact: Impact) -> Iterator[str]:
    comparison = impact.comparison
    texts = list(dict.fromkeys((*comparison.before.problems, *comparison.after.problems)))
    texts += [f"{each.shown.subject}, {replay_wording.place(each)}: {each.reason}" for each in comparison.failures]
    heading = "\n### not read or not judged\n\n"
    for text in texts:
        yield f"{heading}* {_prose(text)}\n"
        heading = ""


def _prose(text: str) -> str:
    return markdown_text.prose(_shortened(text))


def _code(text: str) -> str:
    return markdown_text.code(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _size(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
