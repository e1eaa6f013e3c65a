"""`usher preflight`: what a cluster needs before usher enforces anything in it."""

import contextlib
import json
from pathlib import Path

import click

from usher.cli import inputs
from usher.config import models


@click.command(
    epilog="""\b
Examples:
  usher preflight --config usher.yaml
  usher preflight --format json | jq '.denied[]'

\b
Exit codes:
  0  nothing needs attention
  1  a point needs attention
  2  something could not be found out, or the cluster could not be read"""
)
@inputs.config_option
@inputs.cluster_options
@inputs.server_namespace_options
@inputs.format_option
@click.pass_context
def preflight(
    context: click.Context,
    *,
    config: Path | None,
    kubeconfig: Path | None,
    context_name: str | None,
    server_namespace: str,
    format_name: str,
) -> None:
    """Look at a live cluster before usher enforces anything in it. It changes nothing.

    It says what the preset of usher.yaml would deny of the workloads that are there, and whose they are; with the
    preset observe, what recommended would deny. It looks at usher's server, webhooks and certificates, and at webhooks
    of others whose timeouts add up, or that fail closed on what they need to come back.
    """
    from usher.check import cluster_objects as workloads
    from usher.check import findings, judging, runner
    from usher.cluster import connection, recording
    from usher.install import preflight as install_preflight
    from usher.install import preflight_report
    from usher.install.preflight import PointState
    from usher.policy import assembly

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    looked = install_preflight.read_cluster(api, namespace=server_namespace)
    asked = connection.connect(kubeconfig=kubeconfig, context=context_name, hurried=True)
    refusal = install_preflight.why_server_refuses(asked, namespace=server_namespace)
    file = inputs.find_config(config)
    known = recording.store_of_recorded(list(recording.read_facts(api)))
    settings = judging.Settings(command=findings.Command.AUDIT, configuration=str(file or ""), origin=api.name)
    enforced = _enforced(inputs.load_config(file))
    evaluator = assembly.embedded(enforced, file=file, facts=known)
    with contextlib.closing(evaluator.engine):
        audited = runner.run(workloads.read(api), evaluator=evaluator, settings=settings)
    denied = preflight_report.denials_of(audited)
    found = [
        *install_preflight.preflight_points(
            looked, namespace=server_namespace, refusal=refusal, now=install_preflight.today()
        ),
        *preflight_report.points_of_denials(audited, denied),
    ]
    preset = enforced.enforcement.preset
    if format_name == "json":
        click.echo(json.dumps(preflight_report.document(api.name, preset, found, denied), indent=2))
    else:
        click.echo("\n".join(preflight_report.lines(api.name, preset, found, denied)))
    states = {each.state for each in found}
    context.exit(2 if PointState.NOT_KNOWN in states else 1 if PointState.ATTENTION in states else 0)


def _enforced(config: models.Config) -> models.Config:
    """The configuration with `recommended` in place of `observe`, which would deny nothing."""
    if config.enforcement.preset != "observe":
        return config
    enforcement = config.enforcement.model_copy(update={"preset": "recommended"})
    return config.model_copy(update={"enforcement": enforcement})
