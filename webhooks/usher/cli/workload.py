"""`usher workload`: shows what usher reads from a manifest."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from usher import errors, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.check.batches import Batch
from usher.cli import inputs
from usher.config import described_kinds
from usher.config.described_kinds import DescribedKind
from usher.documents import reader
from usher.documents.reader import Document
from usher.kinds.kubeflow_pipelines import group_version_kind
from usher.workloads import unrecognised

_SHOWN_KINDS: Final = 5


@click.group()
def workload() -> None:
    """Show what usher reads from a manifest."""


@inputs.command("workload show", group=workload)
def show(*, file: str, config: Path | None, namespace: str, format_name: str) -> None:
    from usher.check import sources
    from usher.check.formats import workload_reading

    loaded = inputs.load_config(inputs.find_config(config))
    vocabulary = Vocabulary(loaded.accelerators)
    batches = list(sources.read([file], stdin=sys.stdin.buffer))
    found = list(workload_reading.shown_workloads(batches, config=loaded, vocabulary=vocabulary, namespace=namespace))
    if found and format_name == "json":
        workload_reading.write_json(found, sys.stdout, vocabulary=vocabulary)
    elif found:
        workload_reading.write_text(found, sys.stdout, vocabulary=vocabulary)
    _report_left_out(batches, file, empty=not found)


@inputs.command("workload test", group=workload)
def compare(*, files: tuple[str, ...], config: Path | None) -> None:
    from usher.check.formats import workload_reading

    vocabulary = Vocabulary(inputs.load_config(inputs.find_config(config)).accelerators)
    wrong = number = 0
    for file in files:
        for line, expected in _expectations(Path(file)):
            number += 1
            found = list(workload_reading.differences(expected, vocabulary=vocabulary))
            wrong += bool(found)
            click.echo("".join(f"{file}:{line}: {each}\n" for each in found), nl=False)
    click.echo(f"{number} {'object' if number == 1 else 'objects'}, {wrong} read differently")
    sys.exit(1 if wrong else 0)


@inputs.command("workload describe", group=workload)
def describe(*, file: str) -> None:
    import yaml

    from usher.kinds.registry import problems

    found, notes = list[DescribedKind](), list[str]()
    for document in _documents(Path(file)):
        begun, left_out = _begun(paths.mapping(document.value), f"{file}:{document.line}")
        found.append(begun)
        notes += left_out
    for place, reason in problems(found):
        raise errors.InputError(f"{file}: {paths.readable(place)}: {reason}")
    for note in notes:
        click.echo(f"usher: {note}", err=True)
    described = [each.model_dump(mode="json", by_alias=True, exclude_unset=True) for each in found]
    head = {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config"}
    click.echo(yaml.safe_dump({**head, "workloads": described}, sort_keys=False, width=120), nl=False)


def _begun(value: paths.Object, place: str) -> tuple[DescribedKind, list[str]]:
    """The description of one kind, and notes about what it lacks.

    Raises:
        InputError: no description follows from the object.
    """
    group = paths.text(value.get("apiVersion")).rpartition("/")[0]
    try:
        if (group, value.get("kind")) in described_kinds.MAP_KINDS:
            made, left_out = described_kinds.of_workload_map(value)
        else:
            made, left_out = unrecognised.description(value), []
        return DescribedKind.model_validate(made), [f"{place}: {each}" for each in left_out]
    except ValueError as error:  # pydantic's errors are among them
        raise errors.InputError(f"{place}: {error!s:.300}") from None


def _expectations(file: Path) -> Iterator[tuple[int, paths.Object]]:
    """The documents of a file of expectations, each with its line and its object.

    Raises:
        InputError: a file cannot be read, or a document has no object.
    """
    for document in _documents(file):
        value = paths.mapping(document.value)
        named = value.get("file")
        if isinstance(named, str):
            value = {**value, "object": _documents(file.parent / named)[0].value}
        if not isinstance(value.get("object"), dict):
            raise errors.InputError(f"{file}:{document.line}: expected object: with a manifest, or file: with its path")
        yield document.line, value


def _documents(file: Path) -> Sequence[Document]:
    try:
        found = reader.parse(file.read_bytes(), source=str(file))
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None
    if not found:
        raise errors.InputError(f"{file}: is empty")
    return found


def _report_left_out(batches: Sequence[Batch], file: str, *, empty: bool) -> None:
    """Writes to standard error which documents were left out.

    Raises:
        InputError: something could not be read, or there was nothing to show.
    """
    from usher.check.formats import wording

    notes = [note for batch in batches for note in batch.notes]
    problems = [problem for batch in batches for problem in batch.problems]
    if problems:
        raise errors.InputError("\n".join(wording.located(problem) for problem in problems))
    kinds = list(dict.fromkeys(group_version_kind(item.value)[2] for batch in batches for item in batch.items))
    if not kinds:
        raise inputs.no_objects_error([file], notes=notes)
    if empty:
        more = f" and {len(kinds) - _SHOWN_KINDS:,} more" if len(kinds) > _SHOWN_KINDS else ""
        raise errors.InputError(f"{file}: no object in it makes pods ({', '.join(kinds[:_SHOWN_KINDS])}{more})")
    for note in notes:
        click.echo(f"usher: left out: {wording.harmless(wording.printable(f'{note.source}: {note.reason}'))}", err=True)
