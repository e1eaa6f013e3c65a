"""The effects of a change of configuration, policies or version, as text, JSON and Markdown.

A `difference` is a text of `usher.check.replay.comparison.Difference`. A field is absent where it does not apply.

GitHub accepts 65,536 characters. The end of the comment counts the causes that do not fit.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple, TextIO

from pydantic import BeforeValidator
from rich.text import Text

from usher.accelerators import names
from usher.check import devices as scan_devices
from usher.check.formats import json_report, markdown, wording
from usher.check.formats.json_report import API_VERSION, IF_KNOWN, Amount, IntegerIfAny, Shape, TextIfAny, attribute
from usher.check.formats.lines import Lines
from usher.check.replay import impact as replay_impact
from usher.check.replay.comparison import Change, Difference
from usher.check.replay.comparison import Side as ComparedSide
from usher.check.replay.impact import Affected, AffectedGroup, Cause, Chapter, Impact

_SENTENCES: Final = {
    Difference.NEWLY_DENIED: "newly denies {}",
    Difference.NOT_EVALUATED: "{} evaluated on one side alone",
    Difference.NO_LONGER_DENIED: "no longer denies {}",
    Difference.NEWLY_WARNED: "newly warns of {}",
    Difference.NO_LONGER_WARNED: "no longer warns of {}",
    Difference.OTHER_FINDINGS: "other findings in {}",
    Difference.OTHER_WORDS: "other words about {}",
    Difference.ONE_SIDE: "{} seen by one side alone",
}

_PLURAL: Final = re.compile(r"[A-Za-z]*[a-rt-xz]")
"""Names of kinds whose plural adds an s."""

_MOST_RESOURCES: Final = 2
"""The most resources in a cell of a table."""


def summary(impact: Impact) -> str:
    """`newly denies 12 Jobs = 384 GPUs; no longer denies 3 Jobs = 24 GPUs`."""
    return "; ".join(_parts(impact))


def _parts(impact: Impact) -> Iterator[str]:
    if Difference.NEWLY_DENIED not in impact.by_difference:
        yield "newly denies nothing"
    for difference, sentence in _SENTENCES.items():
        if difference in impact.by_difference:
            concerned = impact.of(difference)
            yield sentence.format(f"{things(concerned)}{_gpus(concerned)}")
    if set(impact.by_difference) <= {Difference.NOTHING}:
        yield f"no verdict changes among {things(impact.all_objects)}"


def things(concerned: Affected) -> str:
    """`12 Jobs`, `3 workloads`, `1 object`."""
    if len(concerned.kinds) == 1:
        (kind,) = concerned.kinds
        if _PLURAL.fullmatch(kind):
            return wording.count(concerned.objects, kind)
    return wording.count(concerned.objects, "workload" if concerned.workloads == concerned.objects else "object")


def counted(changes: Sequence[Change]) -> str:
    """`12 Jobs = 384 GPUs`."""
    concerned = replay_impact.concerned(changes)
    return f"{things(concerned)}{_gpus(concerned)}"


def cell(concerned: Affected) -> str:
    """`12 = 384 GPUs`, `2`; empty without objects."""
    return f"{concerned.objects:,}{_gpus(concerned)}" if concerned.objects else ""


def _gpus(concerned: Affected) -> str:
    """The accelerators, but other resources only as a number if there are many."""
    if not any(concerned.devices.values()):
        return ""
    if len(concerned.devices) <= _MOST_RESOURCES:
        return f" = {wording.devices(concerned.devices)}"
    gpus = scan_devices.gpus(concerned.devices)
    known = {name: each for name, each in concerned.devices.items() if name in names.WHOLE_GPUS}
    others = len(concerned.devices) - len(known)
    return (
        f" = {wording.devices(known) if gpus else ''}{' and ' if gpus else ''}{wording.count(others, 'other resource')}"
    )


def sides(impact: Impact) -> tuple[tuple[str, str], tuple[str, str]]:
    """`before` and `after`, each with its configuration, and with version and policies if these differ."""
    before, after = impact.comparison.before, impact.comparison.after

    def shown(side: ComparedSide) -> str:
        parts = [side.label]
        if before.version != after.version:
            parts.append(f"gpu-usher {side.version}")
        if before.policies != after.policies:
            parts.append(f"policies {side.policies[:16]}")
        return ", ".join(parts)

    return ("before", shown(before)), ("after", shown(after))


def subject(change: Change) -> str:
    """`Job ml-research/bert (8 GPUs)`."""
    devices = change.shown.devices
    return f"{change.shown.subject} ({wording.devices(devices)})" if any(devices.values()) else change.shown.subject


def place(change: Change, message: str = "") -> str:
    """`jobs/bert.yaml:41`, the line of the finding with this message, else of the object.

    For a recorded review, the line in the record and the user.
    """
    shown = change.shown
    line = next((each.line for each in shown.found if each.message == message and each.line), shown.line)
    where = f"{shown.source}:{line}" if line else shown.source
    occasion = f", {shown.occasion}" if shown.occasion not in ("", "CREATE") else ""
    return f"{where}{occasion}{f' by {shown.user}' if shown.user else ''}"


def owned(number: int) -> str:
    """A sentence about objects that count as part of their owner."""
    things_ = wording.count(
        number, "object that counts as part of its owner", "objects that count as part of their owners"
    )
    return f"{things_}, whose verdict changes in the same way"


def fidelity_text(impact: Impact) -> str:
    """How often the old side answers as the server did; empty if there are no recorded answers."""
    before = impact.comparison.before
    if not before.recorded:
        return ""
    of_all = "all" if before.as_recorded == before.recorded else f"{before.as_recorded:,} of"
    return f"the old side answers {of_all} {wording.count(before.recorded, 'recorded review')} as the server did then"


def not_proven(impact: Impact) -> str:
    """A sentence about the limits of the comparison; empty if it is complete."""
    comparison = impact.comparison
    problems = {*comparison.before.problems, *comparison.after.problems}
    parts = [f"{wording.count(len(problems), 'input')} could not be read"] if problems else []
    if comparison.failures:
        parts.append(f"{wording.count(len(comparison.failures), 'object')} could not be judged")
    return f"INCOMPLETE: {wording.sentence(parts)}" if parts else ""


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


def write_text(impact: Impact, stream: TextIO, /, *, color: bool = False, width: int | None = None) -> None:
    """Writes the report, in colour if requested; `width` is the number of columns of the terminal, if there is one."""
    lines = Lines(stream, color=color, width=width)
    _write_head(impact, lines)
    _differences(impact, lines)
    _checks(impact, lines)
    for title, groups in (("namespace", impact.namespaces), ("owner", impact.owners), ("user", impact.users)):
        _write_groups(title, groups, impact, lines)
    for difference, chapters in impact.causes.items():
        _differences_by_cause(difference, chapters, impact, lines)
    _end(impact, lines)


def _write_head(impact: Impact, lines: Lines) -> None:
    worst = next(iter(impact.by_difference), Difference.NOTHING)
    lines.wrapped(summary(impact), first=Text(""), rest="  ", style=_STYLES.get(worst, "bold"))
    for label, side in sides(impact):
        lines.wrapped(side, first=Text(f"  {label:<6}  ", style="dim"), rest=" " * 10)
    lines.write()


def _differences(impact: Impact, lines: Lines) -> None:
    rows = [
        (difference.value, f"{each.objects:,}", wording.amount(each.pods), wording.devices(each.devices))
        for difference, each in impact.by_difference.items()
    ]
    all_objects = impact.all_objects
    rows.append(
        ("all", f"{all_objects.objects:,}", wording.amount(all_objects.pods), wording.devices(all_objects.devices))
    )
    lines.table(("", "objects", "pods", "accelerators"), rows, right=("objects", "pods"))
    lines.write()


def _checks(impact: Impact, lines: Lines) -> None:
    columns = ("newly denies", "no longer denies", "newly warns", "no longer warns", "not evaluated")
    rows = [
        (
            f"{each.code} {each.name}".strip() or replay_impact.UNREAD,
            *(
                cell(part)
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
    _write_table(("check", *columns), rows, lines)


def _write_groups(title: str, groups: Sequence[AffectedGroup], impact: Impact, lines: Lines) -> None:
    differences = [each for each in impact.by_difference if each is not Difference.NOTHING]
    rows = [(group.name or f"(no {title})", *(cell(group.of(each)) for each in differences)) for group in groups]
    _write_table((title, *(each.value for each in differences)), rows, lines)


def _write_table(headers: Sequence[str], rows: Sequence[Sequence[str]], lines: Lines) -> None:
    """Writes the first rows, without columns that are empty in all of them."""
    if not rows:
        return
    kept = [index for index in range(len(headers)) if any(row[index] for row in rows)]
    lines.table([headers[index] for index in kept], [[row[index] for index in kept] for row in rows[:SHOWN]])
    _write_remaining_count(len(rows) - SHOWN, headers[0], lines)
    lines.write()


def _differences_by_cause(difference: Difference, chapters: Sequence[Chapter], impact: Impact, lines: Lines) -> None:
    room = _WHOLE if difference in _IN_FULL else _SHORT
    concerned = impact.of(difference)
    lines.write(
        Text.assemble(
            (f"{difference.value}: ", _STYLES.get(difference, "bold")),
            (f"{things(concerned)}, {wording.devices(concerned.devices)}", "dim"),
        )
    )
    for chapter in chapters[: room.checks]:
        _chapter(chapter, room, lines)
    _write_remaining_count(len(chapters) - room.checks, "check", lines)
    lines.write()


def _chapter(chapter: Chapter, room: _Room, lines: Lines) -> None:
    code, name, turn = chapter.heading
    if code or name:
        numbers = counted(chapter.changes)
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
            text = f"      {subject(change)}, {place(change, cause.message)}"
            lines.write(Text(wording.printable(text)))
        _write_remaining_count(len(cause.changes) - room.objects, "object", lines, margin=6)
    _write_remaining_count(len(chapter.causes) - room.causes, "message", lines, margin=4)


def _write_remaining_count(number: int, thing: str, lines: Lines, *, margin: int = 2) -> None:
    if number > 0:
        lines.write(Text(f"{' ' * margin}and {wording.count(number, f'more {thing}')}; {_ALL}", style="dim"))


def _end(impact: Impact, lines: Lines) -> None:
    comparison = impact.comparison
    if fidelity := fidelity_text(impact):
        lines.wrapped(fidelity, first=Text("record: ", style="dim"), rest="  ")
    if comparison.owned:
        lines.wrapped(owned(comparison.owned), first=Text("left out: ", style="dim"), rest="  ")
    notes = list(dict.fromkeys((*comparison.before.notes, *comparison.after.notes)))
    for note in notes[:SHOWN]:
        lines.wrapped(note, first=Text("left out: ", style="dim"), rest="  ")
    _write_remaining_count(len(notes) - SHOWN, "note", lines, margin=0)
    for problem in dict.fromkeys((*comparison.before.problems, *comparison.after.problems)):
        lines.write(Text.assemble(("not read: ", "bold red"), wording.printable(problem)))
    for change in comparison.failures[:SHOWN]:
        text = f"{change.shown.subject}, {place(change)}: {change.reason}"
        lines.write(Text.assemble(("not judged: ", "bold red"), wording.printable(text)))
    _write_remaining_count(len(comparison.failures) - SHOWN, "object", lines, margin=0)
    if incomplete := not_proven(impact):
        lines.write(Text(incomplete, style="bold red"))


def write_json(impact: Impact, stream: TextIO, /) -> None:
    """Writes the report as one JSON document."""
    comparison = impact.comparison
    document = Report.model_validate(
        {
            "summary": summary(impact),
            "complete": not comparison.failed,
            "before": comparison.before,
            "after": comparison.after,
            "whole": impact.all_objects,
            "by_difference": impact.by_difference,
            "checks": impact.checks,
            "namespaces": impact.namespaces,
            "owners": impact.owners,
            "users": impact.users,
            "objects": [change for change in comparison.changes if change.difference is not Difference.NOTHING],
            "failures": comparison.failures,
            "owned": comparison.owned,
            "problems": list(dict.fromkeys((*comparison.before.problems, *comparison.after.problems))),
            "notes": list(dict.fromkeys((*comparison.before.notes, *comparison.after.notes))),
        }
    )
    json_report.write_document(document, stream)


def _by_difference_text(found: Mapping[Difference, object]) -> Mapping[str, object]:
    return {difference.value: each for difference, each in found.items()}


class Concerned(Shape):
    """Objects, the pods that they make, and the accelerators that these request."""

    objects: int
    workloads: int
    pods: Amount
    gpus: Amount
    accelerators: dict[str, Amount] = attribute("devices")


ByDifference = Annotated[dict[str, Concerned], BeforeValidator(_by_difference_text)]


class Side(Shape):
    """One side: `asRecorded` of `recorded` reviews get the answer that the server gave."""

    label: str
    version: str
    policies: str
    recorded: IntegerIfAny
    as_recorded: IntegerIfAny


class Check(Shape):
    """The changes in one check; `check` is empty for parts of objects that could not be read."""

    check: str
    code: str
    name: str
    newly_denies: Concerned
    no_longer_denies: Concerned
    newly_warns: Concerned
    no_longer_warns: Concerned
    not_evaluated: Concerned


class Group(Shape):
    name: str
    by_difference: ByDifference


class CheckChanged(Shape):
    """The change of one check in an object: `deny`, `warn`, `audit`, `nothing` or `not evaluated`."""

    check: str
    code: str
    name: str
    before: str
    after: str
    messages: list[str]


class Outcome(Shape):
    """The worst outcome on one side."""

    outcome: str
    exemption: TextIfAny
    failure: TextIfAny


class Shown(Shape):
    kind: str
    namespace: str
    name: str
    owner: str
    user: TextIfAny
    occasion: TextIfAny
    source: str
    line: IntegerIfAny
    pods: Amount
    accelerators: dict[str, Amount] = attribute("devices")


class Object(Shape):
    shown: Shown
    difference: str
    before: Annotated[Outcome | None, IF_KNOWN]
    after: Annotated[Outcome | None, IF_KNOWN]
    checks: list[CheckChanged]


class Report(Shape):
    """The document. `complete` is false if an input could not be read or an object could not be judged.

    `byDifference` adds up to `whole`. Both leave out `owned` objects, which count as part of their owners.
    """

    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["ReplayReport"] = "ReplayReport"
    summary: str
    complete: bool
    before: Side
    after: Side
    whole: Concerned
    by_difference: ByDifference
    checks: list[Check]
    namespaces: list[Group]
    owners: list[Group]
    users: list[Group]
    objects: list[Object]
    failures: list[Object]
    owned: int
    problems: list[str]
    notes: list[str]


MARKDOWN_MARKER: Final = "<!-- gpu-usher:replay -->"
"""The first line. A bot updates the comment that begins with it and does not add another one."""
MAX_MARKDOWN_SIZE: Final = 65_536
"""Characters of a comment, as UTF-16 counts them."""

_RESERVED: Final = 1_000
"""Characters reserved for the sentence about a cut, and for the end."""
_SHOWN: Final = 10
_MAX_TEXT: Final = 600
"""The most characters of one text, so that one workload cannot fill the comment."""


def write_markdown(impact: Impact, stream: TextIO, /, *, max_size: int = MAX_MARKDOWN_SIZE) -> None:
    """Writes the comment, of at most `max_size` characters."""
    pieces, left_out = [_markdown_head(impact)], 0
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
    pieces.append("\n" + "".join(f"* {label}: {_prose(side)}\n" for label, side in sides(impact)))
    if fidelity := fidelity_text(impact):
        pieces.append(f"* {_prose(fidelity)}\n")
    if comparison.owned:
        pieces.append(f"* {_prose(owned(comparison.owned))}\n")
    stream.write("".join(pieces))


def _markdown_head(impact: Impact) -> str:
    incomplete = not_proven(impact)
    warning = f"\n**{_prose(incomplete)}**\n" if incomplete else ""
    rows = [
        (each.value, f"{found.objects:,}", wording.amount(found.pods), wording.devices(found.devices))
        for each, found in impact.by_difference.items()
    ]
    table = _markdown_table(("", "objects", "pods", "accelerators"), rows)
    return f"{MARKDOWN_MARKER}\n## gpu-usher: {_prose(summary(impact))}\n{warning}{table}"


def _tables(impact: Impact) -> Iterator[str]:
    rows = [
        (
            f"{each.code} {each.name}".strip() or replay_impact.UNREAD,
            cell(each.newly_denies),
            cell(each.no_longer_denies),
            cell(each.newly_warns),
            cell(each.no_longer_warns),
            cell(each.not_evaluated),
        )
        for each in impact.checks
    ]
    headers = ("check", "newly denies", "no longer denies", "newly warns", "no longer warns", "not evaluated")
    yield _markdown_table(headers, rows)
    yield _markdown_groups("namespace", impact.namespaces, impact)
    yield _markdown_groups("owner", impact.owners, impact)
    yield _markdown_groups("user", impact.users, impact)


def _markdown_groups(title: str, groups: Sequence[AffectedGroup], impact: Impact) -> str:
    differences = [each for each in impact.by_difference if each is not Difference.NOTHING]
    rows = [(group.name or f"(no {title})", *(cell(group.of(each)) for each in differences)) for group in groups]
    return _markdown_table((title, *(each.value for each in differences)), rows)


def _markdown_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
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
        title = f"\n### {difference.value}: {_prose(things(impact.of(difference)))}\n"
        for chapter in chapters:
            heading = f"{title}{_heading(chapter)}"
            for cause in chapter.causes:
                yield f"{heading}{_cause(cause, remedy='' if chapter.remedy else cause.remedy)}"
                heading = title = ""


def _heading(chapter: Chapter) -> str:
    code, name, turn = chapter.heading
    if not code and not name:
        return "\n"
    numbers = counted(chapter.changes)
    texts = (f"{numbers}; {turn}" if turn else numbers, wording.capitalised(chapter.remedy) if chapter.remedy else "")
    return f"\n**{_prose(f'{code} {name}'.strip())}** {_prose('. '.join(filter(None, texts)))}\n\n"


def _cause(cause: Cause, *, remedy: str) -> str:
    text = cause.message.rstrip(".") + (f". {wording.capitalised(remedy)}" if remedy else "")
    places = [f"{subject(each)}, {place(each, cause.message)}" for each in cause.changes]
    listed = "".join(f"  * {_code(place)}\n" for place in places[:_SHOWN])
    more = f"  * and {len(places) - _SHOWN:,} more\n" if len(places) > _SHOWN else ""
    return f"* {_prose(text)}\n{listed}{more}"


def _problems(impact: Impact) -> Iterator[str]:
    comparison = impact.comparison
    texts = list(dict.fromkeys((*comparison.before.problems, *comparison.after.problems)))
    texts += [f"{each.shown.subject}, {place(each)}: {each.reason}" for each in comparison.failures]
    heading = "\n### not read or not judged\n\n"
    for text in texts:
        yield f"{heading}* {_prose(text)}\n"
        heading = ""


def _prose(text: str) -> str:
    return markdown.prose(_shortened(text))


def _code(text: str) -> str:
    return markdown.code(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _size(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
