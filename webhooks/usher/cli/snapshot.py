"""`usher snapshot`: what decisions read of a cluster, in a file."""

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  usher snapshot -o cluster.json.gz            the cluster of the current context
  usher check jobs/ --facts cluster.json.gz    judge manifests for it, without access to it

\b
Exit codes:
  0  the snapshot holds all that decisions read
  2  something could not be read; the file is written only with --partial"""
)
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="To write."
)
@click.option("--kubeconfig", type=click.Path(path_type=Path), metavar="FILE", help="Default: as kubectl finds it.")
@click.option("--context", "context_name", metavar="NAME", help="Context of the kubeconfig. Default: the current one.")
@click.option("--partial", is_flag=True, help="Write it also where some kinds cannot be read: they are not known then.")
@click.pass_context
def snapshot(
    context: click.Context, *, output: Path, kubeconfig: Path | None, context_name: str | None, partial: bool
) -> None:
    """Write down what is in a cluster, as far as decisions read it: queues, quotas, nodes, classes, runtimes.

    No Secrets, no values of environment variables but of a few known families, no contents of ConfigMaps but of Kueue's
    own, no annotations. Equal clusters give equal files.
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
        click.echo(f"usher: {output} is not written; --partial writes what could be read (exit code 2)", err=True)
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
