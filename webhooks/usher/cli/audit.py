"""`usher audit`: reports on the GPUs and workloads of a cluster or a directory."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from usher.cli import (
    audit_history,
    audit_options,
    audit_report_objects,
    audit_serve,
    audit_shards,
    audit_usage,
    given_policies,
    inputs,
    path_completion,
    progress,
    reporting,
)
from usher.cli.audit_run import Run, Taken
from usher.cli.exit_codes import FailOn

if TYPE_CHECKING:
    from usher.audit.document import Audit


@click.command(
    epilog="""\b
Examples:
  usher audit                              audit the cluster of the current context
  usher audit --demo --format html=demo.html    see a report without a cluster
  usher audit --prometheus http://prometheus.monitoring:9090 --history audits.db
  usher audit --context prod --namespace ml-research
  usher audit --format json --output audit.json
  usher audit --history audits.sqlite      show what changed since earlier audits too
  usher audit dump/                        audit manifests, or a dump of a cluster, instead
  usher audit --policies policies.bundle   judge by your own checks or policies of Gatekeeper as well

\b
Exit codes (docs/ci.md has those of --exit-codes):
  0  the audit is complete, whatever it found; the report names kinds that may not be listed
  1  there are findings that --fail-on names
  2  the cluster or a file could not be read, an object could not be judged, or the history or a report object could not
     be written; with --require-usage also if usage is not measured; with --fail-on also if a part of a workload cannot
     be judged, unless --allow-unknown accepts it"""
)
@click.argument("paths", nargs=-1, metavar="[PATH...]", shell_complete=path_completion.files)
@click.option("--demo", is_flag=True, help="Audit a synthetic cluster that ships with usher, with usage and prices.")
@inputs.config_option
@inputs.facts_option
@inputs.cluster_options
@click.option("-n", "--namespace", default="", help="Audit only the workloads of this namespace.")
@click.option(
    "--cluster-name",
    default="",
    metavar="NAME",
    help="The name of the cluster in reports. Default: that of its context.",
)
@given_policies.options
@audit_usage.options
@audit_history.options
@click.option(
    "--allow-unknown", is_flag=True, help="With --fail-on: accept workloads that have parts which usher cannot judge."
)
@reporting.options(fail_on=FailOn.NEVER, audits=True)
@audit_report_objects.options
@audit_serve.options
@audit_shards.options
@inputs.engine_options
@audit_options.as_value
@click.pass_context
def audit(
    context: click.Context,
    *,
    chosen: audit_options.Options,
    comparison: audit_history.Comparison,
    report_objects: str | None,
    serving: audit_serve.Serving | None,
    sharding: audit_shards.Sharding | None,
    allow_unknown: bool,
    reporting: reporting.Reporting,
) -> None:
    """Report on the GPUs and workloads of a live cluster, or of manifests if a PATH is given.

    usher lists every kind that it knows and the API server serves, and judges each object as the webhook would on
    creation. Objects that belong to a listed workload, for example its pods, count as part of it. Facts about queues,
    quotas and nodes come from the same cluster, or from --facts. With --policies, usher also lists the kinds that
    only constraints of Gatekeeper are about. A PATH may hold what `kubectl get -A -o yaml` prints.
    """
    chosen.check(report_objects=bool(report_objects), parts=sharding is not None, served=serving is not None)
    part = None
    if sharding is not None:
        comparison.check_scope(is_whole=sharding.shard.is_whole)
        chosen, part = _of_shard(chosen, sharding)
    chosen = replace(chosen, usage=replace(chosen.usage, cluster=chosen.cluster_name))
    scope = chosen.scope if part is None else part.key.shard
    # Checked first: a wrong option must not end the command after minutes of reading.
    chosen.usage.source()
    seen = None if part is None else part.seen
    run = Run(chosen=chosen, policies=chosen.policies.divided(), scope=scope, seen=seen)
    if serving is not None:
        serving.run(lambda: _applied(comparison, _unwatched(run))[0])
        return
    with progress.shown(quiet=reporting.quiet) as watch:
        taken = run.take(datetime.now(UTC), watch=watch, quiet=reporting.quiet)
    document, failure = _applied(comparison, taken)
    if part is not None:
        document = part.write(document)
        reporting = audit_shards.without_text(reporting)
    # A gate does not accept unknown parts; a report without a gate does.
    accepted = allow_unknown or reporting.policy.fail_on is FailOn.NEVER
    code = audit_history.finish(reporting.finish(taken.found, allow_unknown=accepted, audit=document), failure)
    code = chosen.usage.finish(code, document.measurement, quiet=reporting.quiet)
    if report_objects and taken.api is not None:
        only = audit_report_objects.scope(chosen.namespace, part)
        code = max(code, audit_report_objects.write(report_objects, document, taken.api, only=only))
    context.exit(code)


def _of_shard(
    chosen: audit_options.Options, sharding: audit_shards.Sharding
) -> tuple[audit_options.Options, audit_shards.Part]:
    """The options for the cluster of a shard, and the part that the shard audits."""
    kubeconfig, context_name = sharding.connection(chosen.kubeconfig, chosen.context_name)
    part = sharding.begin(chosen.paths, kubeconfig, context_name, name=chosen.cluster_name)
    return replace(
        chosen,
        kubeconfig=kubeconfig,
        context_name=context_name,
        cluster_name=part.key.cluster,
    ), part


def _applied(comparison: audit_history.Comparison, taken: Taken) -> "tuple[Audit, str]":
    return comparison.applied(taken.audit, former=taken.former_names)


def _unwatched(run: Run) -> Taken:
    from usher.check import runner

    return run.take(datetime.now(UTC), watch=runner.unwatched, quiet=True)
