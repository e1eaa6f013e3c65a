"""Writes the effect of a change of configuration, policies or version, for people: numbers, then the
objects by cause.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TextIO

from rich.text import Text

from usher.replay import causes
from usher.replay.amounts import Group
from usher.replay.causes import Chapter
from usher.replay.comparison import Difference
from usher.replay.impact import Impact
from usher.reports import replay_wording, wording
from usher.reports.lines import Lines

SHOWN: Final = 10
"""The most rows of one table, and notes; the JSON report has all."""


class _Room(NamedTuple):
    """How much of a difference is shown: checks, messages of a check, and objects of a message."""

    checks: int
    causes: int
    objects: int


_WHOLE: Final = _Room(checks=10, causes=5, objects=5)
_SHORT: Final = _Room(checks=5, causes=1, objects=3)
_IN_FULL: Final = (Difference.NEWLY_DENIED, Difference.NOT_EVALUATED, Difference.NO_LONGER_DENIED)
"""The differences that matter for a merge decision."""

_STYLES: Final = {
    Difference.NEWLY_DENIED: "bold red",
    Difference.NOT_EVALUATED: "magenta",
    Difference.NO_LONGER_DENIED: "bold green",
    Difference.NEWLY_WARNED: "yellow",
    Difference.NO_LONGER_WARNED: "green",
}
_ALL: Final = "--format json lists all"


def write(impact: Impact, stream: TextIO, /, *, color: bool = False, width: int | None = None) -> None:
    """Writes the report, in colour if requested; `width` is the number of columns of the terminal, if there is one."""
    lines = Lines(stream, color=color, width=width)
    _head(impact, lines)
    _differences(impact, lines)
    _checks(impact, lines)
    for title, groups in (("namespace", impact.namespaces), ("owner", impact.owners), ("user", impact.users)):
        _groups(title, groups, impact, lines)
    for difference, chapters in impact.causes.items():
        _differences_by_cause(difference, chapters, impact, lines)
    _end(impact, lines)


def _head(impact: Impact, lines: Lines) -> None:
    worst = next(iter(impact.by_difference), Difference.NOTHING)
    lines.wrapped(replay_wording.summary(impact), first=Text(""), rest="  ", style=_STYLES.get(worst, "bold"))
    for label, side in replay_wording.sides(impact):
        lines.wrapped(side, first=Text(f"  {label:<6}  ", style="dim"), rest=" " * 10)
    lines.write()


def _differences(impact: Impact, lines: Lines) -> None:
    rows = [
        (difference.value, f"{each.objects:,}", wording.amount(each.pods), wording.devices(each.devices))
        for difference, each in impact.by_difference.items()
    ]
    whole = impact.whole
    rows.append(("all", f"{whole.objects:,}", wording.amount(whole.pods), wording.devices(whole.devices)))
    lines.table(("", "objects", "pods", "accelerators"), rows, right=("objects", "pods"))
    lines.write()


def _checks(impact: Impact, lines: Lines) -> None:
    columns = ("newly denies", "no longer denies", "newly warns", "no longer warns", "not evaluated")
    rows = [
        (
            f"{each.code} {each.name}".strip() or causes.UNREAD,
            *(
                replay_wording.cell(part)
                for part in (
                    each.newly_denies,
                    each.no_longer_denies,
                    each.newly_warns,
                    each.no_longer_warns,
                    each.not_evaluated,
                )
            ),
        )
        for each in impact.checks
    ]
    _table(("check", *columns), rows, lines)


def _groups(title: str, groups: Sequence[Group], impact: Impact, lines: Lines) -> None:
    differences = [each for each in impact.by_difference if each is not Difference.NOTHING]
    rows = [
        (group.name or f"(no {title})", *(replay_wording.cell(group.of(each)) for each in differences))
        for group in groups
    ]
    _table((title, *(each.value for each in differences)), rows, lines)


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]], lines: Lines) -> None:
    """Writes the first rows, without columns that are empty in all of them."""
    if not rows:
        return
    kept = [index for index in range(len(headers)) if any(row[index] for row in rows)]
    lines.table([headers[index] for index in kept], [[row[index] for index in kept] for row in rows[:SHOWN]])
    _more(len(rows) - SHOWN, headers[0], lines)
    lines.write()


def _differences_by_cause(difference: Difference, chapters: Sequence[Chapter], impact: Impact, lines: Lines) -> None:
    room = _WHOLE if difference in _IN_FULL else _SHORT
    concerned = impact.of(difference)
    lines.write(
        Text.assemble(
            (f"{difference.value}: ", _STYLES.get(difference, "bold")),
            (f"{replay_wording.things(concerned)}, {wording.devices(concerned.devices)}", "dim"),
        )
    )
    for chapter in chapters[: room.checks]:
        _chapter(chapter, room, lines)
    _more(len(chapters) - room.checks, "check", lines)
    lines.write()


def _chapter(chapter: Chapter, room: _Room, lines: Lines) -> None:
    code, name, turn = chapter.heading
    if code or name:
        numbers = replay_wording.counted(chapter.changes)
        title = Text.assemble("  ", (wording.printable(f"{code} {name}".strip()), "bold"), "  ")
        lines.wrapped(f"{numbers}; {turn}" if turn else numbers, first=title, rest="    ")
    if chapter.remedy:
        lines.wrapped(chapter.remedy, first=Text("    = ", style="dim"), rest="      ")
    for cause in chapter.causes[: room.causes]:
        lines.wrapped(cause.message, first=Text("    "), rest="    ")
        if cause.remedy and not chapter.remedy:
            lines.wrapped(cause.remedy, first=Text("      = ", style="dim"), rest="        ")
        for change in cause.changes[: room.objects]:
            # Never wraps: people cannot click or copy a path that is broken over lines.
            text = f"      {replay_wording.subject(change)}, {replay_wording.place(change, cause.message)}"
            lines.write(Text(wording.printable(text)))
        _more(len(cause.changes) - room.objects, "object", lines, margin=6)
    _more(len(chapter.causes) - room.causes, "message", lines, margin=4)


def _more(number: int, thing: str, lines: Lines, *, margin: int = 2) -> None:
    if number > 0:
        lines.write(Text(f"{' ' * margin}and {wording.count(number, f'more {thing}')}; {_ALL}", style="dim"))


def _end(impact: Impact, lines: Lines) -> None:
    comparison = impact.comparison
    if fidelity := replay_wording.fidelity(impact):
        lines.wrapped(fidelity, first=Text("record: ", style="dim"), rest="  ")
    if comparison.owned:
        lines.wrapped(replay_wording.owned(comparison.owned), first=Text("left out: ", style="dim"), rest="  ")
    notes = list(dict.fromkeys((*comparison.before.notes, *comparison.after.notes)))
    for note in notes[:SHOWN]:
        lines.wrapped(note, first=Text("left out: ", style="dim"), rest="  ")
    _more(len(notes) - SHOWN, "note", lines, margin=0)
    for problem in dict.fromkeys((*comparison.before.problems, *comparison.after.problems)):
        lines.write(Text.assemble(("not read: ", "bold red"), wording.printable(problem)))
    for change in comparison.failures[:SHOWN]:
        text = f"{change.shown.subject}, {replay_wording.place(change)}: {change.reason}"
        lines.write(Text.assemble(("not judged: ", "bold red"), wording.printable(text)))
    _more(len(comparison.failures) - SHOWN, "object", lines, margin=0)
    if incomplete := replay_wording.stays(impact):
        lines.write(Text(incomplete, style="bold red"))
