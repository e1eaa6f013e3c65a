"""`usher snapshot`: saves the facts of a cluster in a file."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher.cli import exit_codes, inputs, snapshot_objects, unread_kinds
from usher.cli.snapshot_workloads import Workloads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from usher.cluster.connection import Api
    from usher.cluster.facts.snapshot import Recorded


_Taker = Workloads | snapshot_objects.Objects


@click.command(
    epilog="""\b
Examples:
  usher snapshot -o cluster.json.gz            save the cluster of the current context
  usher check jobs/ --facts cluster.json.gz    judge manifests for it, without access to it
  usher snapshot -o cluster.json.gz --workloads workloads.jsonl    for usher replay
  usher snapshot -o cluster.json.gz --objects objects/             for usher audit objects/ --facts cluster.json.gz

\b
Exit codes:
  0  the snapshot is complete
  2  some kinds could not be read; the file is written only with --partial"""
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to write.",
)
@click.option(
    "--workloads",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the workloads, for `usher replay` without access to the cluster, without values of variables.",
)
@click.option(
    "--objects",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Also write the objects that an audit reads into a new folder, for `usher audit FOLDER` without access to the "
    "cluster, without values of variables.",
)
@inputs.cluster_options
@click.option(
    "--partial",
    is_flag=True,
    help="Write the file even if some kinds cannot be read.",
)
@click.pass_context
def snapshot(
    context: click.Context,
    *,
    output: Path,
    workloads: Path | None,
    objects: Path | None,
    kubeconfig: Path | None,
    context_name: str | None,
    partial: bool,
) -> None:
    """Save the facts of a cluster that decisions rest on: queues, quotas, nodes, classes, runtimes.

    The file holds no Secrets and no annotations. Of environment variables it keeps the values of a few known families,
    like NCCL_*; of ConfigMaps only the one that configures Kueue. Equal clusters give equal files.

    Workloads go to a file of their own, because they say more about the users of a cluster (docs/replay.md). So do the
    objects for audits (docs/audit.md).
    """
    from usher.check.formats import wording
    from usher.cli import output as outputs
    from usher.cluster import connection, recording
    from usher.cluster.facts import snapshot as snapshots

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    recorded = list(recording.read_facts(api))
    unread = unread_kinds.named(recorded)
    if unread and not partial:
        context.exit(_not_written(output))
    takers = _takers(workloads, objects)
    for taker in takers:
        context.call_on_close(taker.close)
    _list(api, takers)
    unfinished = [taker.path for taker in takers if taker.problems]
    if unfinished and not partial:
        context.exit(_not_written(unfinished[0]))
    data = snapshots.dumps(recorded)
    outputs.replace_bytes(output, data, what="snapshot")
    _count(recorded)
    click.echo(f"{output}: {len(data):,} bytes, from {wording.harmless(wording.printable(api.name))}")
    for taker in takers:
        click.echo(taker.write())
    context.exit(exit_codes.FAILED if unread or unfinished else 0)


def _count(recorded: "Iterable[Recorded]") -> None:
    """Writes how many objects of each kind there are."""
    from usher.cluster.facts.snapshot import State

    for each in recorded:
        if each.state is State.KNOWN:
            click.echo(f"{len(each.values):>8,}  {each.kind.resource}")
        elif each.state is State.MISSING:
            click.echo(f"{'none':>8}  {each.kind.resource}: not in this cluster")


def _not_written(path: Path) -> int:
    click.echo(f"usher: {path} is not written (exit code 2); --partial writes what could be read", err=True)
    return exit_codes.FAILED


def _takers(workloads: Path | None, objects: Path | None) -> "Sequence[_Taker]":
    """The writers that take the objects of a cluster.

    Raises:
        InputError: the folder of objects is not empty, or cannot be made.
    """
    takers: list[_Taker] = []
    if workloads is not None:
        takers.append(Workloads(workloads))
    if objects is not None:
        takers.append(snapshot_objects.Objects(objects))
    return takers


def _list(api: "Api", takers: "Sequence[_Taker]") -> None:
    """Lists the objects of a cluster once for all takers. Writes kinds that cannot be read to standard error.

    Raises:
        ClusterError: usher may list no kind of workload.
        InputError: the objects cannot be written.
    """
    from usher.check import cluster_objects
    from usher.check.formats import wording

    if not takers:
        return
    listed = ((batch, takers) for batch in cluster_objects.read(api))
    more = ((batch, [taker]) for taker in takers for batch in taker.more(api))
    unread: list[tuple[str, str]] = []
    for batch, interested in itertools.chain(listed, more):
        unread += ((note.source, note.reason) for note in batch.notes)
        for problem in batch.problems:
            click.echo(f"usher: {wording.harmless(wording.printable(wording.located(problem)))}", err=True)
        for taker in interested:
            taker.add(batch)
    for sources, reason in wording.by_reason(unread):
        click.echo(f"usher: {wording.harmless(wording.printable(f'{sources}: {reason}'))}", err=True)
