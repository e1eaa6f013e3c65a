"""Reports the changes of `usher fix` with their reasons, by file and line, and the changes that it could not make."""

import difflib
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple, TextIO

from rich.cells import cell_len
from rich.text import Text

from usher import model, paths
from usher.check import batches
from usher.check.fix import remedies, rounds, text_edits
from usher.check.formats import mended, wording
from usher.check.formats.lines import Lines

_CONTEXT: Final = 3


class _Row(NamedTuple):
    identity: str
    line: int
    mark: str
    """`+` for a written change, `!` for one that was not written."""
    text: str


def write(
    fixed: rounds.Fixed, stream: TextIO, *, dry_run: bool, failed: Mapping[str, str], color: bool = False
) -> None:
    """Writes the result of a run; `failed` are the files that could not be written, with the reasons."""
    lines = Lines(stream, color=color)
    for file in fixed.files:
        if file.source not in failed:
            _file(file, lines)
    before = fixed.before
    for text in (
        *map(wording.located, before.problems),
        *(f"{failure.source}: {failure.identity}: {failure.reason}" for failure in before.failures),
        *(f"{note.source}: {note.reason}" for note in before.notes),
        *failed.values(),
    ):
        lines.write(wording.printable(text))
    _summary(fixed, lines, dry_run=dry_run, failed=failed)


def write_diff(file: rounds.File, stream: TextIO) -> None:
    """Writes a unified diff of a file that `patch` applies; control characters other than tabs are escaped."""
    name = wording.printable(file.source)
    stream.write(f"--- {name}\n+++ {name}\n")
    old, new = (content.decode().split("\n") for content in (file.original, file.content))
    stream.writelines(_hunks(old, new))


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    ends = old.pop(), new.pop()
    marked = [f"{each}\n" for each in old] + ([ends[0]] if ends[0] else [])
    changed = [f"{each}\n" for each in new] + ([ends[1]] if ends[1] else [])
    for line in list(difflib.unified_diff(marked, changed, n=_CONTEXT))[2:]:
        text = _escaped(line.removesuffix("\n"))
        yield f"{text}\n" if line.endswith("\n") else f"{text}\n\\ No newline at end of file\n"


def _escaped(line: str) -> str:
    ended = line.removesuffix("\r")
    shown = wording.harmless("\t".join(map(wording.printable, ended.split("\t"))))
    return shown + line[len(ended) :]


def _file(file: rounds.File, lines: Lines) -> None:
    by_object: dict[str, list[_Row]] = {}
    for row in sorted([*_rows_of_changes(file), *_rows_of_failed_changes(file)], key=lambda row: row.line):
        by_object.setdefault(row.identity, []).append(row)
    if not by_object and not file.problem:
        return
    lines.write(Text(wording.printable(file.source), style="bold"))
    for identity, rows in by_object.items():
        lines.wrapped(identity, first=Text("  "), rest="    ")
        for row in rows:
            _row(row, lines)
    if file.problem:
        lines.wrapped(file.problem, first=Text("  !  ", style="yellow"), rest="     ")
    lines.write()


def _row(row: _Row, lines: Lines) -> None:
    start = Text.assemble(f"  {row.line or '':>5} ", (row.mark, "green" if row.mark == "+" else "yellow"), " ")
    lines.wrapped(row.text, first=start, rest=" " * cell_len(start.plain))


def _rows_of_changes(file: rounds.File) -> Iterator[_Row]:
    """One row for all values that one mutation sets in one place for one reason."""
    groups: dict[tuple[str, str, str, str], tuple[int, dict[str, None]]] = {}
    # In the order of the documents, because only the places of the last document are kept.
    for done in sorted(file.done, key=lambda each: each.item):
        # The place of the value in the new content, or of the nearest value above if it was removed.
        place = batches.Pointer(file.batch.items[done.item]).place(done.pointers[0] if done.pointers else paths.ROOT)
        line = place.line if place is not None else 0
        about, value, reason = _describe_wish(done.wish)
        _, values = groups.setdefault((str(done.identity), _name(done.wish), about, reason), (line, {}))
        values[value] = None
    for (identity, name, about, reason), (line, values) in groups.items():
        yield _Row(identity, line, "+", f"{name}: {about}: {', '.join(values)} ({reason})")


def _rows_of_failed_changes(file: rounds.File) -> Iterator[_Row]:
    for left in file.left:
        about, value, _ = _describe_wish(left.wish)
        yield _Row(str(left.identity), left.line, "!", f"{_name(left.wish)}: {about}: {value}: {left.reason}")


def _name(wish: remedies.Wish) -> str:
    if wish.judgement is not None:
        return f"{wish.judgement.code} {wish.judgement.name}"
    return wish.change.names[wish.key] if wish.change is not None else wish.key


def _describe_wish(wish: remedies.Wish) -> tuple[str, str, str]:
    """The place of a change, its value, and its reason."""
    if wish.intent is not None and wish.change is not None:
        return mended.intent_and_place(wish.intent, wish.change), mended.intent_value(wish.intent), wish.intent.reason
    reason = wish.judgement.finding.message if wish.judgement is not None else ""
    first = paths.readable(wish.steps[0].pointer.rpartition("/")[0])
    return first, ", ".join(filter(None, map(_step, wish.steps))), reason


def _step(step: remedies.Step) -> str:
    """`nvidia.com/gpu: 4`, `without env[2]`."""
    keys = paths.split(step.pointer)
    name = paths.readable(paths.join(paths.ROOT, *keys[-2:])) if keys[-1].isdecimal() else keys[-1]
    if step.action in {remedies.Action.REMOVE, remedies.Action.PRUNE}:
        return f"without {name}"
    return name if isinstance(step.value, dict | list) else f"{name}: {text_edits.render_scalar(step.value)}"


def _summary(fixed: rounds.Fixed, lines: Lines, *, dry_run: bool, failed: Collection[str]) -> None:
    changed = [file for file in fixed.files if file.changed and file.source not in failed]
    objects = len({(file.source, done.item) for file in changed for done in file.done})
    left = sum(len(file.left) + bool(file.problem) for file in fixed.files)
    if changed:
        verb = "would change" if dry_run else "changed"
        text = f"{verb} {wording.count(objects, 'object')} in {wording.count(len(changed), 'file')}"
    else:
        text = "nothing written" if failed else "nothing to change"
    if left:
        text += f"; {wording.count(left, 'change')} could not be made"
    remaining = fixed.after.totals.by_outcome
    counted = {model.Outcome.DENY: "error", model.Outcome.WARN: "warning"}
    rest = [wording.count(remaining[each], name) for each, name in counted.items() if remaining[each]]
    if rest:
        text += f"; {wording.sentence(rest)} {'remain' if sum(remaining.values()) > 1 else 'remains'}: usher check"
    lines.write(text)
