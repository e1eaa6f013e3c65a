"""Writes the findings in many files by cause: each message once, with one line of places for each file."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from usher.reports import causes, grouped, mended, wording
from usher.reports.lines import Lines, fitted
from usher.scan import findings

MOST: Final = 50
"""The most findings and notes that a report lists by file, each with its line. A longer report is by cause."""

_CAUSES: Final = 20
"""The most messages of one check."""
_FILES: Final = 20
"""The most files of one message."""
_PLACES: Final = 10
"""The most places in one file."""
_ALL: Final = "--format json lists all"


def is_long(found: findings.Report, *, notes: bool) -> bool:
    """Whether a list by file would be too long to read."""
    totals = found.totals
    entries = totals.errors + totals.warnings + totals.notes + sum(bool(result.unread) for result in found.results)
    return entries + (mended.changed(found.results) if notes else 0) > MOST


def write(results: Sequence[findings.Result], lines: Lines, *, notes: bool) -> None:
    """Writes a paragraph for each check, then parts that could not be judged, then the changes of the
    mutating webhook.
    """
    for check in causes.of(results):
        _check(check, lines)
    grouped.unread(results, lines)
    if notes:
        mended.write_together(results, lines)


def _check(check: causes.Check, lines: Lines) -> None:
    style = wording.STYLES[check.outcome]
    title = Text.assemble(
        (f"{wording.WORDS[check.outcome]:<5}", style),
        "  ",
        (wording.printable(check.code), "bold"),
        f" {wording.printable(check.name)}  ",
        (causes.affected(hit.result for hit in check.hits), "dim"),
    )
    lines.write(title)
    _excerpt(check.causes[0].hits[0].finding.place, lines, style=style)
    by_remedy: dict[tuple[str, str], list[causes.Cause]] = {}
    for cause in check.causes[:_CAUSES]:
        by_remedy.setdefault((cause.remedy, cause.milder), []).append(cause)
    for remedies, same in by_remedy.items():
        for cause in same:
            lines.wrapped(cause.message, first=Text("  "), rest="  ", style=style)
            _places(cause.hits, lines)
        added = wording.ADDED if any(cause.added for cause in same) else ""
        for text in filter(None, (added, *remedies)):
            lines.wrapped(text, first=Text("  = ", style="dim"), rest="    ")
    _more(len(check.causes) - _CAUSES, "message", lines, margin=2)
    lines.write()


def _excerpt(place: findings.Place | None, lines: Lines, *, style: str) -> None:
    """The line of the first place, underlined."""
    if place is None:
        return
    margin = f"  {place.line:>5} | "
    before, marked, after = fitted(place.excerpt, width=lines.width - len(margin))
    lines.write(Text.assemble((margin, "dim"), before, (marked, style), after))
    underline = "^" * max(cell_len(marked), 1)
    lines.write(Text.assemble((f"{' ' * (len(margin) - 2)}| ", "dim"), " " * cell_len(before), (underline, style)))


def _places(hits: Iterable[causes.Hit], lines: Lines) -> None:
    by_file: dict[str, list[causes.Hit]] = {}
    for hit in hits:
        by_file.setdefault(hit.result.source, []).append(hit)
    for found in list(by_file.values())[:_FILES]:
        # Never wraps: people cannot click or copy a path that is broken over lines.
        lines.write(Text("      " + wording.printable(", ".join(_in_file(found)))))
    rest = list(by_file.values())[_FILES:]
    if rest:
        number = wording.count(sum(map(len, rest)), "more place")
        lines.write(Text(f"      and {number} in {wording.count(len(rest), 'more file')}; {_ALL}", style="dim"))


def _in_file(hits: Sequence[causes.Hit]) -> Iterator[str]:
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


def _more(number: int, thing: str, lines: Lines, *, margin: int) -> None:
    if number > 0:
        lines.write(Text(f"{' ' * margin}and {wording.count(number, f'more {thing}')}; {_ALL}", style="dim"))
