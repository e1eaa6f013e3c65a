"""The report for people: the findings by file and line or by cause, and the opening of an audit."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Final, TextIO

from rich.cells import cell_len
from rich.text import Text

from usher import model, paths
from usher.check import devices as scan_devices
from usher.check import findings
from usher.check.formats import mended, summary, wording
from usher.check.formats.lines import Lines, fitted

SHOWN_WORKLOADS: Final = 10
"""The most workloads of one message, and messages of one check. The JSON report has all."""

_ALL: Final = "--format json lists all"


def write_grouped(results: Iterable[findings.Result], lines: Lines) -> None:
    """Writes one paragraph per check, worst outcome first, then the parts that could not be read."""
    results = list(results)
    for check in summary.findings_by_check(results):
        _write_grouped_check(check, lines)
    write_unread(results, lines)


def _write_grouped_check(check: summary.Check, lines: Lines) -> None:
    style = wording.STYLES[check.outcome]
    lines.write(
        Text.assemble(
            (f"{wording.WORDS[check.outcome]:<5}", style),
            "  ",
            (wording.printable(check.code), "bold"),
            f" {wording.printable(check.name)}  ",
            (summary.affected(hit.result for hit in check.hits), "dim"),
        )
    )
    for cause in check.causes[:SHOWN_WORKLOADS]:
        lines.wrapped(cause.message, first=Text("  "), rest="  ", style=style)
        for text in (cause.remedy, cause.milder):
            if text:
                lines.wrapped(text, first=Text("  = ", style="dim"), rest="    ")
        for hit in cause.hits[:SHOWN_WORKLOADS]:
            where = hit.where
            whose = f"{_devices_of_result(hit.result):>12}  {hit.result.identity}{where and f', {where}'}"
            lines.wrapped(whose.lstrip(), first=Text(" " * (len(whose) - len(whose.lstrip()))), rest=" " * 14)
        _write_more(len(cause.hits) - SHOWN_WORKLOADS, "workload", lines, margin=14)
    _write_more(len(check.causes) - SHOWN_WORKLOADS, "message", lines, margin=2)
    lines.write()


def write_unread(results: Iterable[findings.Result], lines: Lines) -> None:
    """Writes the parts that could not be judged, by reason."""
    by_reason: dict[str, list[findings.Result]] = defaultdict(list)
    for result in results:
        for reason in dict.fromkeys(entry.unknown.reason for entry in result.not_judged if not entry.unknown.check):
            by_reason[reason].append(result)
    for reason, found in by_reason.items():
        lines.wrapped(reason, first=Text("unknown  ", style="magenta"), rest=" " * 9)
        for result in found[:SHOWN_WORKLOADS]:
            where = f", {result.source}:{result.line}" if result.line else ""
            # Never wraps: people cannot click or copy a path that is broken over lines.
            lines.write(Text(f"{' ' * 14}{wording.printable(f'{result.identity}{where}')}"))
        _write_more(len(found) - SHOWN_WORKLOADS, "workload", lines, margin=14)
        lines.write()


def _write_more(number: int, thing: str, lines: Lines, *, margin: int) -> None:
    if number > 0:
        lines.write(Text(f"{' ' * margin}and {wording.count(number, f'more {thing}')}; {_ALL}", style="dim"))


def _devices_of_result(result: findings.Result) -> str:
    return wording.devices(result.accelerators) if result.makes_pods else ""


MOST_BY_FILE: Final = 50
"""The most findings and notes that a report lists by file, each with its line. A longer report is by cause."""

_CAUSES: Final = 20
"""The most messages of one check."""
_FILES: Final = 20
"""The most files of one message."""
_PLACES: Final = 10
"""The most places in one file."""


def is_long(found: findings.Report, *, notes: bool) -> bool:
    """Whether a list by file would be too long to read."""
    totals = found.totals
    entries = totals.errors + totals.warnings + totals.notes + sum(bool(result.unread) for result in found.results)
    return entries + (mended.count_changed(found.results) if notes else 0) > MOST_BY_FILE


def write_compact(results: Sequence[findings.Result], lines: Lines, *, notes: bool) -> None:
    """Writes a paragraph for each check, then parts that could not be judged, then the changes of the
    mutating webhook.
    """
    for check in summary.findings_by_check(results):
        _write_compact_check(check, lines)
    write_unread(results, lines)
    if notes:
        mended.write_together(results, lines)


def _write_compact_check(check: summary.Check, lines: Lines) -> None:
    style = wording.STYLES[check.outcome]
    title = Text.assemble(
        (f"{wording.WORDS[check.outcome]:<5}", style),
        "  ",
        (wording.printable(check.code), "bold"),
        f" {wording.printable(check.name)}  ",
        (summary.affected(hit.result for hit in check.hits), "dim"),
    )
    lines.write(title)
    _first_excerpt(check.causes[0].hits[0].finding.place, lines, style=style)
    by_remedy: dict[tuple[str, str], list[summary.Cause]] = {}
    for cause in check.causes[:_CAUSES]:
        by_remedy.setdefault((cause.remedy, cause.milder), []).append(cause)
    for remedies, same in by_remedy.items():
        for cause in same:
            lines.wrapped(cause.message, first=Text("  "), rest="  ", style=style)
            _places(cause.hits, lines)
        added = wording.ADDED if any(cause.added for cause in same) else ""
        for text in filter(None, (added, *remedies)):
            lines.wrapped(text, first=Text("  = ", style="dim"), rest="    ")
    _write_more(len(check.causes) - _CAUSES, "message", lines, margin=2)
    lines.write()


def _first_excerpt(place: findings.Place | None, lines: Lines, *, style: str) -> None:
    """The line of the first place, underlined."""
    if place is None:
        return
    margin = f"  {place.line:>5} | "
    before, marked, after = fitted(place.excerpt, width=lines.width - len(margin))
    lines.write(Text.assemble((margin, "dim"), before, (marked, style), after))
    underline = "^" * max(cell_len(marked), 1)
    lines.write(Text.assemble((f"{' ' * (len(margin) - 2)}| ", "dim"), " " * cell_len(before), (underline, style)))


def _places(hits: Iterable[summary.Hit], lines: Lines) -> None:
    by_file: dict[str, list[summary.Hit]] = {}
    for hit in hits:
        by_file.setdefault(hit.result.source, []).append(hit)
    for found in list(by_file.values())[:_FILES]:
        # Never wraps: people cannot click or copy a path that is broken over lines.
        lines.write(Text("      " + wording.printable(", ".join(_places_in_file(found)))))
    rest = list(by_file.values())[_FILES:]
    if rest:
        number = wording.count(sum(map(len, rest)), "more place")
        lines.write(Text(f"      and {number} in {wording.count(len(rest), 'more file')}; {_ALL}", style="dim"))


def _places_in_file(hits: Sequence[summary.Hit]) -> Iterator[str]:
    """`jobs/a.yaml:16:38  Job ml/train`, or with several places `jobs/a.yaml:16:38, 33:38 and 7 more`."""
    if len(hits) == 1:
        yield f"{hits[0].where}  {hits[0].result.identity}"
        return
    yield hits[0].where
    more = len(hits) - _PLACES
    for number, hit in enumerate(hits[1:_PLACES], 2):
        place = hit.finding.place
        where = f"{place.line}:{place.column}" if place is not None else hit.where
        yield f"{where} and {more} more" if number == _PLACES and more > 0 else where


_Row = tuple[str, ...]

SHOWN_NAMESPACES: Final = 20
"""The most namespaces in the table."""

_NUMBERS: Final = ("workloads", "errors", "warnings")


def write_overview(found: findings.Report, lines: Lines) -> None:
    totals = found.totals
    if found.origin:
        lines.write(Text(wording.printable(found.origin), style="bold"))
    workloads = wording.count(totals.workloads, "workload")
    ask = "asks" if totals.workloads == 1 else "ask"
    pods = "pod" if totals.pods == scan_devices.Amount(number=1) else "pods"
    lines.wrapped(
        f"{workloads} with {wording.amount(totals.pods)} {pods} {ask} for {wording.devices(totals.accelerators)}.",
        first=Text(""),
        rest="",
    )
    denied = [result for result in found.results if result.worst is model.Outcome.DENY]
    if denied:
        have = "has errors; it asks" if len(denied) == 1 else "have errors; they ask"
        asked = wording.devices(totals.accelerators_with_errors)
        lines.wrapped(
            f"{wording.count(len(denied), 'workload')} {have} for {asked}.",
            first=Text(""),
            rest="",
            style="bold red",
        )
    lines.write()
    if found.results:
        rows = _by_namespace(found.results)
        lines.table(("namespace", *_NUMBERS, "accelerators"), rows[:SHOWN_NAMESPACES], right=_NUMBERS, indent=2)
        if len(rows) > SHOWN_NAMESPACES:
            more = wording.count(len(rows) - SHOWN_NAMESPACES, "more namespace")
            lines.write(Text(f"  and {more}; --format json lists all", style="dim"))
        lines.write()
    rows = _by_check(found.results)
    if rows:
        headers = ("check", "name", "outcome", "workloads", "accelerators")
        lines.table(headers, rows, right=_NUMBERS, indent=2)
        lines.write()


def _by_namespace(results: Iterable[findings.Result]) -> list[_Row]:
    by_namespace: dict[str, list[findings.Result]] = defaultdict(list)
    for result in results:
        by_namespace[result.identity.namespace].append(result)
    ordered = sorted(by_namespace.items(), key=lambda entry: (*_rank(entry[1]), entry[0]))
    return [
        (
            namespace or "(none)",
            f"{len(members):,}",
            f"{_finding_number(members, model.Outcome.DENY):,}",
            f"{_finding_number(members, model.Outcome.WARN):,}",
            _devices_together(members),
        )
        for namespace, members in ordered
    ]


def _rank(results: list[findings.Result]) -> tuple[int | Decimal, int, int | Decimal]:
    """A sort key: denied GPUs, then denied workloads, then all GPUs; the largest number comes first."""
    denied = [result for result in results if result.worst is model.Outcome.DENY]
    return -_gpus(denied), -len(denied), -_gpus(results)


def _gpus(results: Iterable[findings.Result]) -> int | Decimal:
    return scan_devices.total(scan_devices.gpus(result.accelerators) for result in results).number


def _by_check(results: Iterable[findings.Result]) -> list[_Row]:
    order = list(model.Outcome)
    by_check: dict[tuple[int, int, str, str], list[findings.Result]] = defaultdict(list)
    for result in results:
        for key in {
            (order.index(each.judgement.outcome), *wording.by_code(each.judgement)) for each in result.findings
        }:
            by_check[key].append(result)
    return [
        (code, name, wording.WORDS[order[outcome]], f"{len(members):,}", _devices_together(members))
        for (outcome, _, code, name), members in sorted(by_check.items())
    ]


def _finding_number(results: Iterable[findings.Result], outcome: model.Outcome) -> int:
    return sum(each.judgement.outcome is outcome for result in results for each in result.findings)


def _devices_together(results: Iterable[findings.Result]) -> str:
    return wording.devices(scan_devices.added(result.accelerators for result in results))


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
    by_cause = not audit and is_long(found, notes=notes)
    if audit and not quiet:
        write_overview(found, lines)
    _by_file(found, lines, listed=() if audit or by_cause else found.results, notes=notes)
    if audit:
        write_grouped(found.results, lines)
    elif by_cause:
        write_compact(found.results, lines, notes=notes)
    if found.diff:
        for result in found.results:
            mended.write_diff(result, lines)
    if not quiet:
        summary.write(found, lines)


def _by_file(found: findings.Report, lines: Lines, *, listed: Iterable[findings.Result], notes: bool) -> None:
    """Writes the parts that could not be read or judged, and the listed results, below the names of their files."""
    shown: mended.ShownChanges | None = {} if notes else None
    for source, entries in groupby(_entries(found, listed, notes=notes), key=lambda entry: entry.source):
        lines.write(Text(wording.printable(source), style="bold"))
        for entry in entries:
            if isinstance(entry, findings.Problem):
                _problem(entry, lines)
            elif isinstance(entry, findings.Failure):
                _failure(entry, lines)
            else:
                _result(entry, lines, shown)
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


def _result(result: findings.Result, lines: Lines, shown: mended.ShownChanges | None) -> None:
    for _, group in groupby(result.findings, key=_heading_key):
        _findings(result, list(group), lines)
    unread = [entry for entry in result.not_judged if not entry.unknown.check]
    for _, same in groupby(unread, key=lambda entry: entry.unknown.reason):
        _not_judged(result, list(same), lines)
    if shown is not None:
        mended.write_note(result, lines, shown)


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
    for text in (added, judgement.finding.remedy, lines.once(wording.milder(judgement))):
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
