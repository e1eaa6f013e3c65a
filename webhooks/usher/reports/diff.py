"""Writes the changes of the mutating webhook: a diff of the object, and a reason for every line."""

import difflib
from collections.abc import Iterable, Iterator
from typing import Final

import yaml
from rich.text import Text

from usher import model, paths
from usher.fixing import rendering
from usher.reports import intents, wording
from usher.reports.lines import Lines
from usher.scan import findings

_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}
_CONTEXT: Final = 3


class _Dumper(yaml.CSafeDumper):
    """Writes repeated values in full, as people write manifests."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def write(result: findings.Result, lines: Lines) -> None:
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
        keys = after if isinstance(before, dict) else sorted(after, key=rendering.rank)
        return {key: _ordered(after[key], old.get(key)) for key in keys}
    if isinstance(after, list):
        items = before if isinstance(before, list) else []
        return [_ordered(item, items[index] if index < len(items) else None) for index, item in enumerate(after)]
    return after


def _yaml(value: paths.Json) -> list[str]:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    return text.split("\n")[:-1]


def _account(change: findings.Change) -> Iterator[tuple[str, str, str]]:
    merged = change.merged
    for text in _grouped(((intent, intent.reason) for intent in merged.applied), change):
        yield "applied", "green", text
    for label, style, told in (("warning", "yellow", True), ("skipped", "dim", False)):
        skipped = ((each.intent, each.reason) for each in merged.skipped if each.told is told and not each.off)
        yield from ((label, style, text) for text in _grouped(skipped, change))
    for note in merged.warnings:
        yield "warning", "yellow", f"{change.names[note.mutation]}: {note.reason}"
    for conflict in merged.conflicts:
        wanted = wording.sentence(
            f"{change.names[intent.mutation]} wants {intents.value(intent)} ({intent.reason})" for intent in conflict
        )
        yield "conflict", "bold red", f"{intents.where(conflict[0], change)}: {wanted}; no value was set"


def _grouped(entries: Iterable[tuple[model.Intent, str]], change: findings.Change) -> Iterator[str]:
    """One line per mutation, place and reason, for any number of values."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for intent, reason in entries:
        key = (change.names[intent.mutation], intents.where(intent, change), reason)
        groups.setdefault(key, []).append(intents.value(intent))
    for (name, where, reason), values in groups.items():
        yield f"{name}: {where}: {', '.join(values)} ({reason})"
