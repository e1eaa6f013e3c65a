"""`usher snapshot`: saves the facts of a cluster in a file."""

from pathlib import Path

import click

from usher.cli import inputs


@click.command(
    epilog="""\b
Examples:
  usher snapshot -o cluster.json.gz            save the cluster of the current context
  usher check jobs/ --facts cluster.json.gz    judge manifests for it, without access to it

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
@inputs.cluster_options
@click.option(
    "--partial",
    is_flag=True,
    help="Write the file even if some kinds cannot be read.",
)
@click.pass_context
def snapshot(
    context: click.Context, *, output: Path, kubeconfig: Path | None, context_name: str | None, partial: bool
) -> None:
    """Save the facts of a cluster that decisions rest on: queues, quotas, nodes, classes, runtimes.

    The file holds no Secrets and no annotations. Of environment variables it keeps the values of a few known families,
    such as NCCL_*; of ConfigMaps only the one that configures Kueue. Equal clusters give equal files.
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
    data = snapshots.dumps(recorded)
    outputs.replace_bytes(output, data, what="snapshot")
    for each in recorded:
        if each.state is snapshots.State.KNOWN:
            click.echo(f"{len(each.values):>8,}  {each.kind.resource}")
        elif each.state is snapshots.State.MISSING:
            click.echo(f"{'none':>8}  {each.kind.resource}: not in this cluster")
    click.echo(f"{output}: {len(data):,} bytes, from {wording.harmless(wording.printable(api.name))}")
    context.exit(outputs.FAILED if unread else 0)
