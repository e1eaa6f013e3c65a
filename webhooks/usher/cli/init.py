"""`usher init`: writes a usher.yaml of what a cluster has."""

from pathlib import Path

import click

from usher import errors
from usher.cli import inputs


@click.command(
    epilog="""\b
Examples:
  usher init --facts live                  write usher.yaml for the cluster of the current context
  usher init --facts cluster.json.gz -o -  print it, from a file of `usher snapshot`
  usher init                               write a short one, with examples to uncomment

\b
Exit codes:
  0  the file is written
  2  the file exists already, or something could not be read or written"""
)
@click.option(
    "-o",
    "--output",
    default=str(inputs.DEFAULT_CONFIG),
    show_default=True,
    metavar="FILE",
    help="The file to write; - for standard output.",
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@inputs.facts_option
@inputs.cluster_options
@inputs.old_live_option
def init(
    *,
    output: str,
    force: bool,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
) -> None:
    """Write a first usher.yaml: the node pools of a cluster, with suggestions for queues, schedulers and classes.

    It only reads the cluster, and asks nothing. What usher cannot decide for you is a comment in the file. Without
    --facts, the file has the defaults and examples.
    """
    from usher.cli import output as outputs
    from usher.config import load
    from usher.install import discovered_file

    file = None if output == "-" else Path(output)
    if file is not None and not force and (file.exists() or file.is_symlink()):
        raise errors.InputError(f"{file} exists already; choose another file with -o, or replace it with --force")
    known = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name)
    text = (
        discovered_file.minimal_file()
        if known is None
        else discovered_file.file_of_cluster(known.store, source=known.source)
    )
    load.parse(text.encode(), source="the new usher.yaml")
    if file is None:
        click.echo(text, nl=False)
        return
    outputs.replace_file(file, text.encode(), what="configuration")
    after = " --facts live" if known is not None and known.live else ""
    click.echo(f"{file}: written. Read it, then try: usher config check {file}{after}")
