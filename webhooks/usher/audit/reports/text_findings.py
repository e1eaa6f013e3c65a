"""The findings of an audit in text, grouped by cause: by check and outcome, and within it by message."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from usher import model
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.reports import words
from usher.audit.reports.numbers import TEXT
from usher.reports import wording
from usher.reports.lines import Lines

SHOWN: Final = 5
"""Objects of one message."""

_MESSAGES: Final = 5
_AT_ADMISSION: Final = {
    model.Outcome.DENY: "an error at admission",
    model.Outcome.WARN: "a warning at admission",
    model.Outcome.AUDIT: "noted at admission",
}
_NOTHING: Final = TEXT.gpus(0)
_MORE: Final = "--format json lists all"


def write(found: Sequence[FindingEntry], lines: Lines) -> None:
    """One paragraph for each check: the most severe first, then what admission denies, then the most GPUs."""
    order, severities = list(model.Outcome), list(Severity)
    groups = defaultdict[tuple[model.Outcome, str, str], list[FindingEntry]](list)
    for entry in found:
        groups[model.Outcome(entry.outcome), entry.code, entry.name].append(entry)

    def worst(group: tuple[tuple[model.Outcome, str, str], list[FindingEntry]]) -> tuple[object, ...]:
        (outcome, code, _), entries = group
        severity = min(severities.index(each.severity) for each in entries)
        return severity, order.index(outcome), -_gpus(entries), code

    for (outcome, code, name), entries in sorted(groups.items(), key=worst):
        _check(outcome, f"{code} {name}", entries, lines)


def _check(outcome: model.Outcome, title: str, entries: Sequence[FindingEntry], lines: Lines) -> None:
    style = wording.STYLES[outcome]
    objects = wording.count(len(_largest(entries)), "object")
    # Findings about the cluster concern no admission.
    admitted = "" if entries[0].category == "cluster" else _AT_ADMISSION[outcome]
    about = ", ".join(filter(None, (objects, _amount(entries), admitted)))
    heading = Text.assemble((f"{entries[0].severity.value:<8}", style), "  ", (wording.printable(title), "bold"))
    lines.write(Text.assemble(heading, "  ", (about, "dim")))
    causes = defaultdict[tuple[str, str, str], list[FindingEntry]](list)
    for entry in entries:
        causes[entry.message, entry.remedy, entry.because].append(entry)
    ordered = sorted(causes.items(), key=lambda each: (-_gpus(each[1]), each[0]))
    for (message, remedy, because), found in ordered[:_MESSAGES]:
        lines.wrapped(message, first=Text("  "), rest="  ", style=style)
        if remedy:
            lines.wrapped(remedy, first=Text("  = ", style="dim"), rest="    ")
        if because:
            lines.wrapped(words.milder(outcome, because), first=Text("  = ", style="dim"), rest="    ")
        for entry in found[:SHOWN]:
            place = f"{_amount([entry]):>12}  {_place(entry)}"
            lines.wrapped(place.lstrip(), first=Text(" " * (len(place) - len(place.lstrip()))), rest=" " * 14)
        _more(len(found) - SHOWN, "place", lines, margin=14)
    _more(len(ordered) - _MESSAGES, "message", lines, margin=2)
    lines.write()


def _place(entry: FindingEntry) -> str:
    team = words.team(entry)
    path = f", {entry.path}" if entry.path else ""
    covered = f", accepted by {entry.exception}" if entry.exception else ""
    where = f", {entry.place}" if entry.place else ""
    return f"{words.subject(entry.subject)}{team}{path}{where}{covered}"


def _gpus(entries: Iterable[FindingEntry]) -> float:
    """Those of the objects, each counted once."""
    return sum(each.known_gpus for each in _largest(entries))


def _amount(entries: Iterable[FindingEntry]) -> str:
    """The accelerators of the objects, each counted once; empty for what has no accelerators, for example a queue."""
    shown = words.together(_largest(entries))
    return "" if shown == _NOTHING else shown


def _largest(entries: Iterable[FindingEntry]) -> Sequence[FindingEntry]:
    """For each object the entry with the most GPUs."""
    found: dict[tuple[Subject, str], FindingEntry] = {}
    for entry in entries:
        # Two manifests may have one name.
        key = entry.subject, entry.place.rpartition(":")[0]
        if key not in found or entry.known_gpus > found[key].known_gpus:
            found[key] = entry
    return list(found.values())


def _more(number: int, thing: str, lines: Lines, *, margin: int) -> None:
    if number > 0:
        lines.write(Text(f"{' ' * margin}and {wording.count(number, f'more {thing}')}; {_MORE}", style="dim"))
