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


@inputs.command("config check", group=config)
@click.pass_context
def check(
    context: click.Context,
    *,
    file: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
) -> None:
    from usher.check.formats import wording
    from usher.config.load import locate_problems
    from usher.install import discovery
    from usher.policy import assembly

    file = inputs.find_config(file)
    if file is None:
        raise errors.InputError("this folder has no usher.yaml: name a file, or write one with `usher init`")
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


@inputs.command("config schema", group=config)
def schema() -> None:
    value = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema(by_alias=True)}
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))


@inputs.command("init")
def init(
    *,
    output: str,
    force: bool,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
) -> None:
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
