"""Writes notes about the changes of the mutating webhook, with one line per mutation. `--diff` shows all details.

Objects of one kind often get the same changes. A report shows them at the first object and refers to it at the others.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from usher import model
from usher.reports import intents, wording
from usher.reports.lines import Lines
from usher.scan import findings

_SHOWN: Final = 3
"""The most values and places of one field of a mutation."""

_SHOWN_GROUPS: Final = 10
"""The most notes of a long report. Each is about all objects with the same changes."""

_MARGIN: Final = 9


def has_lines(result: findings.Result) -> bool:
    """Whether a report has a note about the changes of an object."""
    return result.change is not None and any(True for _ in entries_of(result.change))


Told = dict[tuple[tuple[str, str, str], ...], str]
"""The changes that a report has shown, each with the object where it did."""


def write(result: findings.Result, lines: Lines, told: Told) -> None:
    """Writes the note about one object, if it has changes, and adds it to `told`."""
    entries = tuple(entries_of(result.change)) if result.change is not None else ()
    if not entries:
        return
    outcome = model.Outcome.AUDIT
    where = f"{result.line}:1" if result.line else ""
    start = Text.assemble(
        f"  {where:<7}" if where else "  ", (f"{wording.WORDS[outcome]:<5}", wording.STYLES[outcome]), "  "
    )
    adds = any(mark == "+" for mark, _, _ in entries)
    does = "adds" if adds else "warns"
    first_one = told.get(entries)
    what = f"{does} this" if adds else does
    if first_one is not None:
        what = f"{does} the same as to {first_one}" if adds else f"{does} as for {first_one}"
    lines.wrapped(f"{result.identity}: the mutating webhook {what}", first=start, rest=" " * cell_len(start.plain))
    if first_one is not None:
        return
    told[entries] = f"{result.identity} ({result.source})"
    _write_entries(entries, lines)


def write_together(results: Iterable[findings.Result], lines: Lines) -> None:
    """Writes one note for all objects with the same changes, those with the most objects first."""
    alike: dict[tuple[tuple[str, str, str], ...], list[findings.Result]] = {}
    for result in results:
        entries = tuple(entries_of(result.change)) if result.change is not None else ()
        if entries:
            alike.setdefault(entries, []).append(result)
    style = wording.STYLES[model.Outcome.AUDIT]
    groups = sorted(alike.items(), key=lambda entry: -len(entry[1]))
    for entries, found in groups[:_SHOWN_GROUPS]:
        adds = any(mark == "+" for mark, _, _ in entries)
        objects = wording.count(len(found), "object")
        what = f"adds this to {objects}" if adds else f"warns of {objects}"
        first = Text.assemble((f"{wording.WORDS[model.Outcome.AUDIT]:<5}", style), "  ")
        lines.write(Text.assemble(first, f"the mutating webhook {what}"))
        _write_entries(entries, lines)
        for each in found[:_SHOWN]:
            where = f"{each.source}:{each.line}" if each.line else each.source
            lines.write(Text(f"{' ' * _MARGIN}{wording.printable(where)}", style="dim"))
        if len(found) > _SHOWN:
            lines.write(Text(f"{' ' * _MARGIN}and {len(found) - _SHOWN:,} more", style="dim"))
        lines.write()
    rest = sum(len(found) for _, found in groups[_SHOWN_GROUPS:])
    if rest:
        lines.write(Text(f"and other changes of {wording.count(rest, 'more object')}; --diff shows all", style="dim"))
        lines.write()


def _write_entries(entries: Iterable[tuple[str, str, str]], lines: Lines) -> None:
    listed = list(entries)
    width = max(cell_len(wording.printable(name)) for _, name, _ in listed)
    for mark, name, text in listed:
        shown = wording.printable(name)
        first = Text.assemble(" " * _MARGIN, (mark, "green" if mark == "+" else "yellow"), f" {shown:<{width}}  ")
        lines.wrapped(text, first=first, rest=" " * cell_len(first.plain))


def changed(results: Iterable[findings.Result]) -> int:
    """The number of objects with a note that the webhook adds something."""
    return sum(
        any(mark == "+" for mark, _, _ in entries_of(result.change)) for result in results if result.change is not None
    )


def entries_of(change: findings.Change) -> Iterator[tuple[str, str, str]]:
    """Mark, mutation and text: `+` for added values, `!` for warnings of the webhook."""
    merged = change.merged
    applied: dict[str, list[model.Intent]] = {}
    for intent in merged.applied:
        if intent.mutation not in change.silent:
            applied.setdefault(intent.mutation, []).append(intent)
    yield from (("+", change.names[key], _added(found, change)) for key, found in applied.items())
    notes = [(note.mutation, note.reason) for note in merged.warnings]
    notes += [(each.intent.mutation, each.reason) for each in merged.skipped if each.told]
    for conflict in merged.conflicts:
        names = sorted({change.names[intent.mutation] for intent in conflict})
        reason = f"{intents.where(conflict[0], change)}: {wording.sentence(names)} want different values"
        notes.append((conflict[0].mutation, reason))
    yield from (("!", change.names[key], reason) for key, reason in dict.fromkeys(notes))


def _added(applied: list[model.Intent], change: findings.Change) -> str:
    """`toleration key=nvidia.com/gpu effect=NoSchedule in Worker, Master`, one for each field."""
    by_field: dict[str, list[model.Intent]] = {}
    for intent in applied:
        by_field.setdefault(intents.field(intent), []).append(intent)
    parts = []
    for field, found in by_field.items():
        places = _some([named for intent in found if (named := intents.place(intent, change))])
        parts.append(f"{field} {_some(map(intents.value, found))}" + (f" in {places}" if places else ""))
    return "; ".join(parts)


def _some(texts: Iterable[str]) -> str:
    """The first texts, each once, and the number of others."""
    different = list(dict.fromkeys(texts))
    more = f" and {len(different) - _SHOWN} more" if len(different) > _SHOWN else ""
    return ", ".join(different[:_SHOWN]) + more
