"""`usher check`: judges manifests before they are applied."""

import sys
from pathlib import Path

import click

from usher.cli import gatekeeper, inputs


@click.command(
    epilog="""\b
Examples:
  usher check job.yaml
  usher check jobs/ other.yaml --config clusters/a100/usher.yaml
  kustomize build overlays/prod | usher check - --namespace ml-research
  usher check --diff job.yaml              show in full what the webhook would add, and why
  usher check --as-written job.yaml        judge the file alone, without what the webhook adds
  usher check jobs/ --policies gatekeeper/  judge all objects by these policies of Gatekeeper as well
  usher check jobs/ --format json --output report.json

\b
Exit codes:
  0  nothing is denied; there may be warnings
  1  something is denied
  2  an input could not be read, an object could not be judged, or no object was found"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@inputs.config_option
@inputs.facts_option
@inputs.namespace_option
@click.option(
    "--policies",
    "policy_paths",
    multiple=True,
    metavar="PATH",
    help="ConstraintTemplates and constraints of Gatekeeper that judge all objects as well: a file, a directory, or a "
    "bundle of `usher policies build`. Repeatable.",
)
@gatekeeper.opa_option
@click.option("--diff", is_flag=True, help="Show in full what the mutating webhook would change, and why.")
@click.option("--as-written", is_flag=True, help="Judge the objects without what the mutating webhook adds to them.")
@click.option("--allow-unknown", is_flag=True, help="Accept workloads that have parts which usher cannot judge.")
@inputs.output_options
@inputs.engine_options
@click.pass_context
def check(
    context: click.Context,
    *,
    paths: tuple[str, ...],
    config: Path | None,
    facts: tuple[str, ...],
    namespace: str,
    policy_paths: tuple[str, ...],
    opa: Path | None,
    diff: bool,
    as_written: bool,
    allow_unknown: bool,
    format_name: str,
    color: str,
    output: Path | None,
    engine: str,
    opa_url: str | None,
) -> None:
    """Judge manifests as the webhooks would, before they are applied.

    PATH is a file, a directory (every .yaml, .yml and .json file below it), or - for standard input.

    As in the cluster, the mutating webhook goes first: what it adds is a note, and the findings are about what remains
    wrong. With --as-written the findings are about the file alone.
    """
    from usher.cli import output as outputs
    from usher.scan import findings, runner, sources

    file = inputs.find_config(config)
    settings = runner.Settings(
        command=findings.Command.CHECK,
        configuration=str(file) if file else "",
        namespace=namespace,
        mutated=not as_written,
        diff=diff,
    )
    with (
        gatekeeper.policies(policy_paths, opa=opa) as policies,
        inputs.evaluator(file, engine=engine, opa_url=opa_url, facts=facts) as evaluator,
    ):
        batches = sources.read(paths, stdin=sys.stdin.buffer)
        found = runner.run(batches, evaluator=evaluator, settings=settings, policies=policies)
    inputs.require_objects(found, paths)
    outputs.write(found, format_name=format_name, color=color, output=output)
    code = outputs.exit_code(found, fail_on_deny=True, allow_unknown=allow_unknown)
    if code == outputs.FAILED and not found.failed:
        click.echo(
            "usher: some parts could not be judged, so this does not pass (exit code 2); --allow-unknown accepts them",
            err=True,
        )
    context.exit(code)
