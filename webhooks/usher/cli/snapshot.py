"""`usher snapshot`: saves the facts of a cluster in a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher.cli import inputs, snapshot_objects
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.cluster.connection import Api


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
    from usher.cli import output as outputs
    from usher.cluster import connection, recording
    from usher.facts import snapshot as snapshots
    from usher.reports import wording

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    recorded = list(recording.read(api))
    unread = [each for each in recorded if each.state is snapshots.State.NOT_KNOWN]
    for each in unread:
        reason = wording.harmless(wording.printable(f"{each.kind.resource}: not read: {each.reason}"))
        click.echo(f"usher: {reason}", err=True)
    if unread and not partial:
        click.echo(f"usher: {output} is not written (exit code 2); --partial writes what could be read", err=True)
        context.exit(outputs.FAILED)
    record = None if workloads is None else _workloads(api)
    if record is not None and record.problems and not partial:
        click.echo(f"usher: {workloads} is not written (exit code 2); --partial writes what could be read", err=True)
        context.exit(outputs.FAILED)
    held = None if objects is None else _objects(api, objects)
    if held is not None and held.problems and not partial:
        click.echo(f"usher: {objects} is not written (exit code 2); --partial writes what could be read", err=True)
        context.exit(outputs.FAILED)
    data = snapshots.dumps(recorded)
    outputs.replace_bytes(output, data, what="snapshot")
    for each in recorded:
        if each.state is snapshots.State.KNOWN:
            click.echo(f"{len(each.values):>8,}  {each.kind.resource}")
        elif each.state is snapshots.State.MISSING:
            click.echo(f"{'none':>8}  {each.kind.resource}: not in this cluster")
    click.echo(f"{output}: {len(data):,} bytes, from {wording.harmless(wording.printable(api.name))}")
    if workloads is not None and record is not None:
        outputs.replace_bytes(workloads, record.data, what="record of workloads")
        click.echo(f"{workloads}: {record.objects:,} workloads, {len(record.data):,} bytes")
    if objects is not None and held is not None:
        snapshot_objects.write(held, objects)
        click.echo(f"{objects}: {held.number:,} objects in {len(held.files)} files")
    problems = (record is not None and record.problems) or (held is not None and held.problems)
    context.exit(outputs.FAILED if unread or problems else 0)


def _objects(api: "Api", folder: Path) -> snapshot_objects.Objects:
    """The objects of a cluster; what cannot be read is named on standard error.

    Raises:
        InputError: the folder is not empty.
        ClusterError: usher may list no kind of workload.
    """
    from usher.reports import wording

    found = snapshot_objects.read(api, folder)
    for reason in found.problems:
        click.echo(f"usher: {wording.harmless(wording.printable(reason))}", err=True)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workloads:
    data: bytes
    objects: int
    problems: int
    """Kinds whose list ended early."""


def _workloads(api: "Api") -> _Workloads:
    """The workloads of a cluster as a record of reviews; kinds that cannot be read are named on standard error.

    Raises:
        ClusterError: usher may list no kind of workload.
    """
    from usher import __version__
    from usher.reports import wording
    from usher.review import record_lines
    from usher.scan import cluster

    written, number, problems = [record_lines.head(version=__version__, anonymised=False)], 0, 0
    for batch in cluster.read(api):
        problems += len(batch.problems)
        unread = [f"{note.source}: {note.reason}" for note in batch.notes]
        for reason in (*unread, *map(wording.located, batch.problems)):
            click.echo(f"usher: {wording.harmless(wording.printable(reason))}", err=True)
        for number, item in enumerate(batch.items, number + 1):  # noqa: B020 - it goes on from batch to batch
            written.append(record_lines.of_object(item.value, number=number, version=__version__))
    return _Workloads(data=b"".join(written), objects=number, problems=problems)
