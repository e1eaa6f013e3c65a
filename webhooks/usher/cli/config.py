"""`usher config` and `usher init`: check usher.yaml, print its schema, and write a first one."""

from pathlib import Path

import click
import orjson

from usher import errors
from usher.cli import inputs, main
from usher.config.models import Config


@click.group()
def config() -> None:
    """Check usher.yaml, or print its schema."""


@config.command(
    epilog="""\b
Examples:
  usher config check usher.yaml                            whether usher can use the file
  usher config check usher.yaml --facts live               whether it still says what the cluster has
  usher config check usher.yaml --facts cluster.json.gz    the same, for a file of `usher snapshot`

\b
Exit codes:
  0  the file is good; with facts: and the cluster has what it declares
  1  the cluster differs
  2  the file is wrong, or usher does not know enough of the cluster to compare"""
)
@click.argument("file", type=click.Path(path_type=Path))
@inputs.facts_option
@inputs.cluster_options
@inputs.old_live_option
@click.pass_context
def check(
    context: click.Context,
    *,
    file: Path,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
) -> None:
    """Check a configuration file, and name each error with its line.

    With facts of a cluster, also name each pool, taint, device, board, queue and class in which the cluster differs.
    """
    from usher.check.formats import wording
    from usher.config.load import locate_problems
    from usher.install import discovery
    from usher.policy import assembly

    loaded = inputs.load_config(file)
    made = assembly.embedded(loaded, file=file)
    warnings = assembly.warnings(made, file=file)
    for warning in warnings:
        click.echo(f"usher: warning: {warning}", err=True)
    usable = "good" if not warnings else f"usable, with {wording.count(len(warnings), 'warning')}"
    given = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name)
    if given is None:
        click.echo(f"{file}: {usable}")
        return
    found = discovery.compare(loaded, given.store)
    for line, key, reason in locate_problems(file, found.differences):
        place = f"{file}:{line}" if line else f"{file}"
        click.echo(wording.harmless(wording.printable(f"{place}: {key}: {reason}")))
    for kind in found.unknown:
        click.echo(f"usher: the objects of kind {kind} are unknown, so {file} cannot be compared with them", err=True)
    if found.differences:
        context.exit(main.FINDINGS)
    if found.unknown:
        context.exit(main.FAILED)
    click.echo(f"{file}: {usable}, and the cluster has what it declares")


@config.command()
def schema() -> None:
    """Print the JSON Schema of usher.yaml, for editors."""
    value = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema(by_alias=True)}
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))


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
