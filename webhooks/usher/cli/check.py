"""`usher check`: judges manifests before they are applied."""

import click

from usher.cli import baselines, check_run, given_policies, inputs, manifest_inputs, reporting
from usher.cli.exit_codes import FailOn


@click.command(
    epilog="""\b
Examples:
  usher check job.yaml
  usher check jobs/ other.yaml --config clusters/a100/usher.yaml
  usher check -k overlays/prod --namespace ml-research
  usher check --helm charts/train --values prod.yaml
  usher check . --changed-since origin/main
  usher check --diff job.yaml              show in full what the webhook would add, and why
  usher check --as-written job.yaml        judge the file alone, without what the webhook adds
  usher check jobs/ --policies checks/     judge by your own checks or policies of Gatekeeper as well
  usher check jobs/ --format json --output report.json
  usher check jobs/ --format text --format sarif=usher.sarif --format junit=usher.xml

\b
Exit codes (docs/ci.md has those of --exit-codes):
  0  nothing is denied; there may be warnings
  1  something is denied, or --fail-on names it
  2  an input could not be read, an object could not be judged, or no object was found"""
)
@manifest_inputs.options
@inputs.config_option
@inputs.facts_option
@click.option(
    "--require-facts", is_flag=True, help="End as failed (exit code 2) if a check was left out for want of facts."
)
@inputs.namespace_option
@given_policies.options
@click.option("--diff", is_flag=True, help="Show in full what the mutating webhook would change, and why.")
@click.option("--as-written", is_flag=True, help="Judge the objects without what the mutating webhook adds to them.")
@click.option("--allow-unknown", is_flag=True, help="Accept workloads that have parts which usher cannot judge.")
@click.option(
    "--allow-empty",
    is_flag=True,
    help="Accept files without any Kubernetes object, where a program names the files, as pre-commit does.",
)
@baselines.options
@reporting.options(fail_on=FailOn.DENY)
@inputs.engine_options
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="How many processes judge files. Default: one for each processor, and fewer for few files.",
)
@click.option(
    "--no-cache", is_flag=True, help="Judge every file, also those whose verdict an earlier run has remembered."
)
@check_run.accepted_as_value
@check_run.as_value
@click.pass_context
def check(
    context: click.Context,
    *,
    manifests: manifest_inputs.Manifests,
    baseline: baselines.Baselines,
    accepted: check_run.Accepted,
    run: check_run.Run,
    reporting: reporting.Reporting,
) -> None:
    """Judge manifests as the webhooks would, before they are applied.

    PATH is a file, a directory (every .yaml, .yml and .json file below it that git does not ignore), a pattern, or -
    for standard input.

    As in the cluster, the mutating webhook goes first: what it adds is a note, and the findings are about what remains
    wrong. With --as-written the findings are about the file alone.
    """
    known = baseline.read()
    found = run.found(manifests, quiet=reporting.quiet)
    accepted.check(found, manifests)
    context.exit(reporting.finish(baseline.applied(found, known), allow_unknown=accepted.allow_unknown))
