"""Writes notes about the changes of the mutating webhook, with one line per mutation. `--diff` shows all details.

Objects of one kind often get the same changes. A report shows them at the first object and refers to it at the others.
"""

import difflib
import functools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rich.cells import cell_len
from rich.text import Text

from usher import model, paths
from usher.check import findings
from usher.check.fix import text_edits
from usher.check.formats import wording
from usher.check.formats.lines import Lines
from usher.policy.mutation import strategies

_PAIRS: Final = (("key", "value"), ("setting", "value"), ("name", "value"), ("name", "amount"))
"""Keys of values that people write as `name=value`."""

_PARTS: Final = {"containers": ("initContainers", "containers"), "volumes": ("volumes",)}
"""The lists of a recipe, by the usual word for their entries."""


def intent_field(intent: model.Intent) -> str:
    return strategies.STRATEGIES[intent.field].words


def intent_place(intent: model.Intent, change: findings.Change) -> str:
    """The pod set or container of an intent; empty for the object itself."""
    if strategies.STRATEGIES[intent.field].on_object is not None:
        return ""
    return change.places.get(intent.at, paths.readable(intent.at))


def intent_and_place(intent: model.Intent, change: findings.Change) -> str:
    """`toleration of Worker`."""
    named = intent_place(intent, change)
    return f"{intent_field(intent)} of {named}" if named else intent_field(intent)


def intent_value(intent: model.Intent) -> str:
    """The intended value, short."""
    wanted = intent.value
    if not isinstance(wanted, dict):
        return str(wanted)
    if intent.field == "mount":
        return _mount(wanted)
    if intent.field == "recipe":
        return _recipe(wanted)
    for name, content in _PAIRS:
        if set(wanted) == {name, content}:
            return f"{wanted[name]}={_short_text(wanted[content])}"
    if "name" in wanted:
        return str(wanted["name"])
    return " ".join(f"{key}={_short_text(wanted[key])}" for key in sorted(wanted, key=text_edits.key_rank))


def _short_text(content: paths.Json) -> str:
    if isinstance(content, list):
        return ",".join(str(each) for each in content)
    return str(content)


def _recipe(wanted: paths.Object) -> str:
    """The names of its containers and volumes."""
    found = wanted.get("recipe")
    lists = found if isinstance(found, dict) else {}
    parts = {
        noun: [str(each["name"]) for field in fields for each in _objects_of_list(lists.get(field))]
        for noun, fields in _PARTS.items()
    }
    return ", ".join(f"{noun} {' '.join(names)}" for noun, names in parts.items() if names)


def _objects_of_list(content: paths.Json) -> list[paths.Object]:
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def _mount(wanted: paths.Object) -> str:
    """The volume, its mount path and the variable with that path."""
    volume, variable = wanted.get("volume"), wanted.get("variable")
    kind = next((key for key in volume if key != "name"), "") if isinstance(volume, dict) else ""
    named = f", {variable.get('name')}={variable.get('value')}" if isinstance(variable, dict) else ""
    return f"{kind} at {wanted.get('mountPath')}{named}"


_SHOWN: Final = 3
"""The most values and places of one field of a mutation."""

_SHOWN_GROUPS: Final = 10
"""The most notes of a long report. Each is about all objects with the same changes."""

_MARGIN: Final = 9


def has_lines(result: findings.Result) -> bool:
    """Whether a report has a note about the changes of an object."""
    return result.change is not None and any(True for _ in entries_of(result.change))


ShownChanges = dict[tuple[tuple[str, str, str], ...], str]
"""The changes that a report has shown, each with the object where it did."""


def write_note(result: findings.Result, lines: Lines, shown: ShownChanges) -> None:
    """Writes the note about one object, if it has changes, and adds it to `shown`."""
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
    first_one = shown.get(entries)
    what = f"{does} this" if adds else does
    if first_one is not None:
        what = f"{does} the same as to {first_one}" if adds else f"{does} as for {first_one}"
    lines.wrapped(f"{result.identity}: the mutating webhook {what}", first=start, rest=" " * cell_len(start.plain))
    if first_one is not None:
        return
    shown[entries] = f"{result.identity} ({result.source})"
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


def count_changed(results: Iterable[findings.Result]) -> int:
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
    yield from (("+", change.names[key], _describe_added_values(found, change)) for key, found in applied.items())
    notes = [(note.mutation, note.reason) for note in merged.warnings]
    notes += [(each.intent.mutation, each.reason) for each in merged.skipped if each.warned]
    for conflict in merged.conflicts:
        names = sorted({change.names[intent.mutation] for intent in conflict})
        reason = f"{intent_and_place(conflict[0], change)}: {wording.sentence(names)} want different values"
        notes.append((conflict[0].mutation, reason))
    yield from (("!", change.names[key], reason) for key, reason in dict.fromkeys(notes))


def _describe_added_values(applied: list[model.Intent], change: findings.Change) -> str:
    """`toleration key=nvidia.com/gpu effect=NoSchedule in Worker, Master`, one for each field."""
    by_field: dict[str, list[model.Intent]] = {}
    for intent in applied:
        by_field.setdefault(intent_field(intent), []).append(intent)
    parts = []
    for field, found in by_field.items():
        places = _first_texts([named for intent in found if (named := intent_place(intent, change))])
        parts.append(f"{field} {_first_texts(map(intent_value, found))}" + (f" in {places}" if places else ""))
    return "; ".join(parts)


def _first_texts(texts: Iterable[str]) -> str:
    """The first texts, each once, and the number of others."""
    different = list(dict.fromkeys(texts))
    more = f" and {len(different) - _SHOWN} more" if len(different) > _SHOWN else ""
    return ", ".join(different[:_SHOWN]) + more


_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}
_CONTEXT: Final = 3


def write_diff(result: findings.Result, lines: Lines) -> None:
    """Writes the changed parts of one object, then each intent, whether it was applied, and why."""
    change = result.change
    if change is None:
        return
    merged = change.merged
    skipped = any(not each.off for each in merged.skipped)
    if not merged.applied and not skipped and not merged.conflicts and not merged.warnings:
        return
    name = f"{result.source}: {result.identity}"
    if merged.applied:
        for line in _unified(change.before, _ordered(merged.value, change.before), name=wording.printable(name)):
            lines.write(Text(wording.printable(line), style=_STYLES.get(line[:1], "")))
    else:
        lines.write(Text(f"{wording.printable(name)}: no changes", style="bold"))
    for label, style, text in _account(change):
        lines.wrapped(text, first=Text(f"  {label:<8}  ", style=style), rest=" " * 12)
    lines.write()


def _unified(before: paths.Object, after: paths.Json, *, name: str) -> Iterator[str]:
    yield from difflib.unified_diff(
        _yaml(before),
        _yaml(after),
        fromfile=f"{name} as written",
        tofile=f"{name} as admitted",
        n=_CONTEXT,
        lineterm="",
    )


def _ordered(after: paths.Json, before: paths.Json) -> paths.Json:
    """The value with new keys in the usual order of manifests, because engines differ in the order of keys."""
    if isinstance(after, dict):
        old = before if isinstance(before, dict) else {}
        keys = after if isinstance(before, dict) else sorted(after, key=text_edits.key_rank)
        return {key: _ordered(after[key], old.get(key)) for key in keys}
    if isinstance(after, list):
        items = before if isinstance(before, list) else []
        return [_ordered(item, items[index] if index < len(items) else None) for index, item in enumerate(after)]
    return after


@functools.cache
def _dumper() -> type[Any]:
    import yaml

    class Dumper(yaml.CSafeDumper):
        """Writes repeated values in full, as people write manifests."""

        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
            return True

    return Dumper


def _yaml(value: paths.Json) -> list[str]:
    import yaml

    text: str = yaml.dump(value, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=10_000)
    return text.split("\n")[:-1]


def _account(change: findings.Change) -> Iterator[tuple[str, str, str]]:
    merged = change.merged
    for text in _grouped(((intent, intent.reason) for intent in merged.applied), change):
        yield "applied", "green", text
    for label, style, warned in (("warning", "yellow", True), ("skipped", "dim", False)):
        skipped = ((each.intent, each.reason) for each in merged.skipped if each.warned is warned and not each.off)
        yield from ((label, style, text) for text in _grouped(skipped, change))
    for note in merged.warnings:
        yield "warning", "yellow", f"{change.names[note.mutation]}: {note.reason}"
    for conflict in merged.conflicts:
        wanted = wording.sentence(
            f"{change.names[intent.mutation]} wants {intent_value(intent)} ({intent.reason})" for intent in conflict
        )
        yield "conflict", "bold red", f"{intent_and_place(conflict[0], change)}: {wanted}; no value was set"


def _grouped(entries: Iterable[tuple[model.Intent, str]], change: findings.Change) -> Iterator[str]:
    """One line per mutation, place and reason, for any number of values."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for intent, reason in entries:
        key = (change.names[intent.mutation], intent_and_place(intent, change), reason)
        groups.setdefault(key, []).append(intent_value(intent))
    for (name, where, reason), values in groups.items():
        yield f"{name}: {where}: {', '.join(values)} ({reason})"
