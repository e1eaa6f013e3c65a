"""`usher workload`: shows what usher reads from a manifest."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from usher import errors
from usher.check.batches import Batch
from usher.cli import inputs

_SHOWN_KINDS: Final = 5


@click.group()
def workload() -> None:
    """Show what usher reads from a manifest."""


@workload.command(
    epilog="""\b
Examples:
  usher workload show job.yaml
  kustomize build overlays/prod | usher workload show - --namespace ml-research
  usher workload show job.yaml --format json | jq '.workloads[].totals'

\b
Exit codes:
  0  the workloads are shown; parts of them may be unknown
  2  an input could not be read, or no object in it makes pods"""
)
@click.argument("file", shell_complete=inputs.complete_files)
@inputs.config_option
@inputs.namespace_option
@inputs.format_option
def show(*, file: str, config: Path | None, namespace: str, format_name: str) -> None:
    """Show the workloads in FILE (- for standard input) as the policies see them.

    For each: its role, its pods and why there are so many, its accelerators by every route, its scheduler, its
    containers, and the unknown parts with the reason. Objects in one file belong together: claims, runtimes and
    autoscalers in it count for the workloads that refer to them. The JSON also holds `input`: exactly what the policies
    see.
    """
    from usher.accelerators.vocabulary import Vocabulary
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


def _report_left_out(batches: Sequence[Batch], file: str, *, empty: bool) -> None:
    """Writes to standard error which documents were left out.

    Raises:
        InputError: something could not be read, or there was nothing to show.
    """
    from usher.check.formats import wording
    from usher.kinds.kubeflow_pipelines import group_version_kind

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
