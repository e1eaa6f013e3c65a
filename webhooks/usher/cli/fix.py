"""`usher fix`: writes what admission would change, and safe remedies of findings, into manifests."""

import difflib
import io
import os
import stat
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TextIO

import click
from rich.cells import cell_len
from rich.text import Text

from usher import errors, model, paths
from usher.check import batches
from usher.check.batches import Batch
from usher.check.fix import remedies, rounds, text_edits
from usher.check.formats import mended, wording
from usher.check.formats.lines import Lines
from usher.cli import inputs, main, output
from usher.policy.evaluator import Evaluator

_CONTEXT: Final = 3


class _Row(NamedTuple):
    identity: str
    line: int
    mark: str
    """`+` for a written change, `!` for one that was not written."""
    text: str


def write_changes(
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


_STDIN: Final = "<stdin>"
_WOULD_CHANGE: Final = 1


@inputs.command("fix")
@click.pass_context
def fix(
    context: click.Context,
    *,
    paths: tuple[str, ...],
    config: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str,
    dry_run: bool,
    only: str | None,
    selected: tuple[str, ...],
    engine: str,
    opa_url: str | None,
) -> None:
    from usher.check import findings, judging, runner, sources

    settings = judging.Settings(command=findings.Command.CHECK, namespace=namespace, mutated=True, diff=True)
    given = sys.stdin.buffer.read() if sources.STDIN in paths else b""
    read = list(sources.read(paths, stdin=io.BytesIO(given)))
    kinds = partial(sources.named_kinds, read)
    known = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name, kinds=kinds)
    with inputs.evaluator(
        inputs.find_config(config), engine=engine, opa_url=opa_url, known=known.store if known else None
    ) as evaluator:
        fixed = rounds.fix(
            read,
            judge=lambda batches: runner.run(batches, evaluator=evaluator, settings=settings),
            read=lambda batch: given if batch.source == _STDIN else _content(batch),
            choice=_choice(evaluator, only=only, chosen=selected),
        )
    inputs.require_objects(fixed.before, paths)
    changed = [file for file in fixed.files if file.changed]
    failed: dict[str, str] = {}
    if dry_run:
        for file in changed:
            write_diff(file, sys.stdout)
    else:
        failed = _write(changed)
        if sources.STDIN in paths and not any(each.source == _STDIN for each in fixed.before.problems):
            content = next((file.content for file in changed if file.source == _STDIN), given)
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
    stream = sys.stderr if dry_run or sources.STDIN in paths else sys.stdout
    write_changes(fixed, stream, dry_run=dry_run, failed=failed)
    if failed or fixed.incomplete:
        context.exit(main.FAILED)
    context.exit(_WOULD_CHANGE if dry_run and changed else 0)


def _choice(evaluator: Evaluator, *, only: str | None, chosen: Sequence[str]) -> remedies.Choice:
    return remedies.Choice(
        sources=tuple(remedies.WishSource) if only is None else (remedies.WishSource(only),),
        keys=inputs.named_rules(chosen, evaluator.catalogue, option="--select"),
        names=remedies.names_of_devices() | set(evaluator.config.accelerators.resources),
    )


def _content(batch: Batch) -> bytes:
    """The content of a file that may be written.

    Raises:
        InputError: it cannot be read, or usher does not write files like it; the message says why.
    """
    path = Path(batch.source)
    if _is_of_chart(path):
        raise errors.InputError(f"{path}: a template of a Helm chart, which usher does not edit; change it by hand")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise errors.InputError(f"{path}: not a regular file, so usher cannot replace it; use - and > FILE")
        return path.read_bytes()
    except OSError as error:
        raise errors.InputError(f"{path}: cannot be read once more: {error.strerror}") from None


def _is_of_chart(path: Path) -> bool:
    return any(
        parent.name == "templates" and (parent.parent / "Chart.yaml").exists() for parent in path.absolute().parents
    )


def _write(files: Sequence[rounds.File]) -> dict[str, str]:
    """Writes the new contents.

    Returns why files could not be written, by name; these still have all of their old content.
    """
    failed = {}
    for file in files:
        if file.source == _STDIN:
            continue
        try:
            _check_writable(Path(file.source), file.original)
            output.replace_file(Path(file.source), file.content, what="file")
        except errors.InputError as error:
            failed[file.source] = str(error)
    return failed


def _check_writable(path: Path, original: bytes) -> None:
    """Raises InputError for a file that its owner protects, or that has changed since usher judged it."""
    try:
        # A rename would replace even a file without write permission.
        if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
            raise errors.InputError(f"{path}: the file is read-only; usher changed nothing in it. Run chmod u+w first")
        if path.read_bytes() != original:
            raise errors.InputError(f"{path}: the file changed while usher judged it; run usher fix again")
    except OSError as error:
        raise errors.InputError(f"{path}: the file cannot be written: {error.strerror}") from None
