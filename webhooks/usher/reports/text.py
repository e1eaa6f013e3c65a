"""Writes the report for people: findings by file and line, each with its workload and remedy. A long report is by
cause.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, TextIO

from rich.cells import cell_len
from rich.text import Text

from usher import paths
from usher.reports import compact, grouped, mended, overview, summary, wording
from usher.reports.lines import Lines, fitted
from usher.scan import findings

_SHOWN_FIELDS: Final = 5

_Group = Sequence[findings.Finding]
"""Findings of one check about one pod set with the same outcome and remedy: shown under one heading."""


def write(
    found: findings.Report, stream: TextIO, /, *, color: bool = False, quiet: bool = False, width: int | None = None
) -> None:
    """Writes the report; `width` in columns, by default the terminal's.

    With `quiet` it leaves out numbers and the changes of the mutating webhook, so a clean run writes nothing.
    """
    lines = Lines(stream, color=color, width=width)
    audit, notes = found.command is findings.Command.AUDIT, not found.diff and not quiet
    by_cause = not audit and compact.is_long(found, notes=notes)
    if audit and not quiet:
        overview.write(found, lines)
    _by_file(found, lines, listed=() if audit or by_cause else found.results, notes=notes)
    if audit:
        grouped.write(found.results, lines)
    elif by_cause:
        compact.write(found.results, lines, notes=notes)
    if found.diff:
        from usher.reports import diff  # its YAML takes long to import

        for result in found.results:
            diff.write(result, lines)
    if not quiet:
        summary.write(found, lines)


def _by_file(found: findings.Report, lines: Lines, *, listed: Iterable[findings.Result], notes: bool) -> None:
    """Writes the parts that could not be read or judged, and the listed results, below the names of their files."""
    told: mended.Told | None = {} if notes else None
    for source, entries in groupby(_entries(found, listed, notes=notes), key=lambda entry: entry.source):
        lines.write(Text(wording.printable(source), style="bold"))
        for entry in entries:
            if isinstance(entry, findings.Problem):
                _problem(entry, lines)
            elif isinstance(entry, findings.Failure):
                _failure(entry, lines)
            else:
                _result(entry, lines, told)
        lines.write()


_Entry = findings.Result | findings.Failure | findings.Problem


def _entries(found: findings.Report, results: Iterable[findings.Result], *, notes: bool) -> Iterator[_Entry]:
    """Problems, failures, and the results with a message, by source in the order of reading."""
    shown = (result for result in results if _has_entry(result, notes=notes))
    entries: list[_Entry] = [*found.problems, *found.failures, *shown]
    order = {source: number for number, source in enumerate(dict.fromkeys(entry.source for entry in entries))}
    yield from sorted(entries, key=lambda entry: order[entry.source])


def _has_entry(result: findings.Result, *, notes: bool) -> bool:
    unread = any(not entry.unknown.check for entry in result.not_judged)
    return bool(result.findings) or unread or (notes and mended.has_lines(result))


def _problem(problem: findings.Problem, lines: Lines) -> None:
    start = Text.assemble("  ", f"{problem.line}:{problem.column}  " if problem.line else "", ("error  ", "bold red"))
    lines.wrapped(problem.reason, first=start, rest=" " * cell_len(start.plain))


def _failure(failure: findings.Failure, lines: Lines) -> None:
    place = f"{failure.line}:1  " if failure.line else ""
    start = Text.assemble("  ", place, ("failed  ", "bold red"))
    lines.wrapped(f"{failure.identity}: not judged", first=start, rest=" " * cell_len(start.plain))
    lines.wrapped(failure.reason, first=Text("        = ", style="dim"), rest="          ")


def _result(result: findings.Result, lines: Lines, told: mended.Told | None) -> None:
    for _, group in groupby(result.findings, key=_heading_key):
        _findings(result, list(group), lines)
    unread = [entry for entry in result.not_judged if not entry.unknown.check]
    for _, same in groupby(unread, key=lambda entry: entry.unknown.reason):
        _not_judged(result, list(same), lines)
    if told is not None:
        mended.write(result, lines, told)


def _heading_key(finding: findings.Finding) -> tuple[str, ...]:
    judgement = finding.judgement
    pod_set = finding.pod_set.name if finding.pod_set is not None else ""
    return judgement.outcome, judgement.code, pod_set, judgement.finding.remedy, judgement.because


def _findings(result: findings.Result, group: _Group, lines: Lines) -> None:
    judgement = group[0].judgement
    place = group[0].place
    where = f"{place.line}:{place.column}" if place is not None else ""
    heading = Text.assemble(
        f"  {where:<7}" if where else "  ",
        (f"{wording.WORDS[judgement.outcome]:<5}", wording.STYLES[judgement.outcome]),
        "  ",
        (judgement.code, "bold"),
        " ",
        wording.printable(judgement.name),
    )
    about = wording.printable(wording.about(result, group[0].pod_set))
    if cell_len(heading.plain) + 2 + cell_len(about) <= lines.width:
        lines.write(Text.assemble(heading, "  ", (about, "dim")))
    else:
        lines.write(heading)
        lines.wrapped(about, first=Text("         "), rest="         ", style="dim")
    gutter = max(len(str(each.place.line)) if each.place is not None else 0 for each in group)
    gutter = max(gutter, 5)
    for place, same in groupby(group, key=lambda each: each.place):
        _excerpt(place, list(same), lines, gutter=gutter)
    margin = " " * (gutter + 3)
    added = wording.ADDED if any(each.added for each in group) else ""
    for text in (added, judgement.finding.remedy, wording.milder(judgement)):
        if text:
            lines.wrapped(text, first=Text(f"{margin}= ", style="dim"), rest=f"{margin}  ")


def _excerpt(place: findings.Place | None, group: _Group, lines: Lines, *, gutter: int) -> None:
    """Writes the source line with the place underlined, and the messages beside it, or below if there is no room."""
    margin = " " * (gutter + 3)
    bar = Text(f"{margin}| ", style="dim")
    style = wording.STYLES[group[0].judgement.outcome]
    if place is None:
        for each in group:
            field = paths.readable(each.judgement.finding.path)
            lines.wrapped(f"{field}: {each.judgement.finding.message}", first=bar, rest=bar.plain)
        return
    before, marked, after = fitted(place.excerpt, width=lines.width - len(bar.plain))
    number = Text(f"  {place.line:>{gutter}} | ", style="dim")
    lines.write(Text.assemble(number, before, (marked, style), after))
    underline = Text.assemble(bar, " " * cell_len(before), ("^" * max(cell_len(marked), 1), style))
    messages = [each.judgement.finding.message for each in group]
    if cell_len(underline.plain) + 1 + cell_len(wording.printable(messages[0])) <= lines.width:
        lines.write(Text.assemble(underline, " ", (wording.printable(messages.pop(0)), style)))
    else:
        lines.write(underline)
    for message in messages:
        lines.wrapped(message, first=bar, rest=bar.plain, style=style)


def _not_judged(result: findings.Result, entries: Sequence[findings.NotJudged], lines: Lines) -> None:
    """Writes the parts of an object that could not be read, all for the same reason."""
    place = entries[0].place
    where = f"{place.line}:{place.column}" if place is not None else ""
    start = Text.assemble(f"  {where:<7}" if where else "  ", ("unknown", "magenta"), "  ")
    lines.wrapped(str(result.identity), first=start, rest=" " * cell_len(start.plain))
    lines.wrapped(entries[0].unknown.reason, first=Text("        = ", style="dim"), rest="          ")
    fields = [paths.readable(entry.unknown.path) for entry in entries]
    more = f" and {len(fields) - _SHOWN_FIELDS} more" if len(fields) > _SHOWN_FIELDS else ""
    lines.wrapped(f"at {', '.join(fields[:_SHOWN_FIELDS])}{more}", first=Text("          "), rest="          ")
