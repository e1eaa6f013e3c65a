"""`usher fix`: writes what admission would change, and safe remedies of findings, into manifests."""

import io
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from usher import errors
from usher.check.batches import Batch
from usher.check.fix import remedies, rounds
from usher.cli import exit_codes, inputs, output
from usher.policy.evaluator import Evaluator

_STDIN: Final = "<stdin>"
_WOULD_CHANGE: Final = 1


@click.command(
    epilog="""\b
Examples:
  usher fix job.yaml                       write the mutations and the safe remedies into the file
  usher fix --dry-run jobs/                show a diff and write nothing
  usher fix --only remedies jobs/          leave the mutations to the webhook
  usher fix --select USH103 jobs/          only the remedy of one check
  kustomize build overlays/prod | usher fix - > fixed.yaml

\b
Exit codes:
  0  there was nothing to change, or all changes are written
  1  with --dry-run: there is something to change
  2  an input could not be read or judged, or a change could not be written"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@inputs.config_option
@inputs.facts_option
@inputs.cluster_options
@inputs.namespace_option
@click.option("--dry-run", is_flag=True, help="Print a unified diff and write nothing.")
@click.option(
    "--only",
    type=click.Choice(["mutations", "remedies"]),
    help="Write only what the mutating webhook would add, or only the remedies of findings.",
)
@inputs.select_option
@inputs.old_spelling("--check", parameter="selected", instead="--select", multiple=True)
@inputs.engine_options
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
    """Write into manifests what admission would change, and the remedies of findings that leave no choice.

    PATH is a file, a directory (every .yaml, .yml and .json file below it), or - for standard input, which is written
    to standard output. Only the lines that need it change: comments, styles and the order of keys stay. usher parses
    and judges the result before it writes.
    """
    from usher.check import findings, judging, runner, sources
    from usher.check.formats import fixes

    settings = judging.Settings(command=findings.Command.CHECK, namespace=namespace, mutated=True, diff=True)
    given = sys.stdin.buffer.read() if sources.STDIN in paths else b""
    known = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name)
    with inputs.evaluator(
        inputs.find_config(config), engine=engine, opa_url=opa_url, known=known.store if known else None
    ) as evaluator:
        fixed = rounds.fix(
            list(sources.read(paths, stdin=io.BytesIO(given))),
            judge=lambda batches: runner.run(batches, evaluator=evaluator, settings=settings),
            read=lambda batch: given if batch.source == _STDIN else _content(batch),
            choice=_choice(evaluator, only=only, chosen=selected),
        )
    inputs.require_objects(fixed.before, paths)
    changed = [file for file in fixed.files if file.changed]
    failed: dict[str, str] = {}
    if dry_run:
        for file in changed:
            fixes.write_diff(file, sys.stdout)
    else:
        failed = _write(changed)
        if sources.STDIN in paths and not any(each.source == _STDIN for each in fixed.before.problems):
            content = next((file.content for file in changed if file.source == _STDIN), given)
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
    stream = sys.stderr if dry_run or sources.STDIN in paths else sys.stdout
    fixes.write(fixed, stream, dry_run=dry_run, failed=failed)
    if failed or fixed.incomplete:
        context.exit(exit_codes.FAILED)
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
            output.replace_bytes(Path(file.source), file.content, what="file")
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
