"""`usher audit`: reports on the GPUs and workloads of a cluster or a directory."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from usher.cli import (
    audit_history,
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
     be written"""
)
@click.argument("paths", nargs=-1, metavar="[PATH...]", shell_complete=path_completion.files)
@click.option("--demo", is_flag=True, help="Audit a synthetic cluster that ships with usher, with usage and prices.")
@inputs.config_option
@inputs.facts_option
@inputs.cluster_options
@click.option("-n", "--namespace", help="Audit only the workloads of this namespace.")
@click.option(
    "--cluster-name", metavar="NAME", help="The name of the cluster in reports. Default: that of its context."
)
@given_policies.options
@audit_usage.options
@audit_history.options
@reporting.options(fail_on=FailOn.NEVER, audits=True)
@audit_report_objects.options
@audit_serve.options
@audit_shards.options
@inputs.engine_options
@click.pass_context
def audit(
    context: click.Context,
    *,
    paths: tuple[str, ...],
    demo: bool,
    config: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str | None,
    cluster_name: str | None,
    policies: tuple[str, ...],
    opa: Path | None,
    verify_key: Path | None,
    engine: str,
    opa_url: str | None,
    usage: audit_usage.Options,
    comparison: audit_history.Comparison,
    report_objects: str | None,
    serving: audit_serve.Serving | None,
    sharding: audit_shards.Sharding | None,
    reporting: reporting.Reporting,
) -> None:
    """Report on the GPUs and workloads of a live cluster, or of manifests if a PATH is given.

    usher lists every kind that it knows and the API server serves, and judges each object as the webhook would on
    creation. Objects that belong to a listed workload, for example its pods, count as part of it. Facts about queues,
    quotas and nodes come from the same cluster, or from --facts. With --policies, usher also lists the kinds that
    only constraints of Gatekeeper are about. A PATH may hold what `kubectl get -A -o yaml` prints.
    """
    _check_options(
        paths=paths,
        demo=demo,
        of_cluster=bool(kubeconfig or context_name),
        of_facts=bool(facts),
        report_objects=bool(report_objects),
        parts=sharding is not None,
        one_namespace=bool(namespace),
        served=serving is not None,
    )
    part = None
    if sharding is not None:
        comparison.check_scope(is_whole=sharding.shard.is_whole)
        kubeconfig, context_name = sharding.connection(kubeconfig, context_name)
        part = sharding.begin(paths, kubeconfig, context_name, name=cluster_name or "")
        cluster_name = part.key.cluster
    run = Run(
        paths=paths,
        demo=demo,
        config=config,
        facts=facts,
        kubeconfig=kubeconfig,
        context=context_name,
        namespace=namespace or "",
        cluster_name=cluster_name or "",
        engine=engine,
        opa_url=opa_url,
        policies=given_policies.divided(policies, verify_key=verify_key),
        opa=opa,
        usage=usage if part is None else replace(usage, part=part.measured),
        seen=None if part is None else part.seen,
    )
    if serving is not None:
        serving.run(lambda: comparison.applied(_unwatched(run).audit)[0])
        return
    with progress.shown(quiet=reporting.quiet) as watch:
        taken = run.taken(datetime.now(UTC), watch=watch, quiet=reporting.quiet)
    document, failure = comparison.applied(taken.audit)
    if part is not None:
        document = part.write(document)
        reporting = audit_shards.without_text(reporting)
    code = audit_history.finish(reporting.finish(taken.found, audit=document), failure)
    if report_objects and taken.api is not None:
        only = audit_report_objects.scope(namespace, part)
        code = max(code, audit_report_objects.write(report_objects, document, taken.api, only=only))
    context.exit(code)


def _unwatched(run: Run) -> Taken:
    return run.taken(datetime.now(UTC), watch=lambda _things, _done, _total: None, quiet=True)


def _check_options(
    *,
    paths: tuple[str, ...],
    demo: bool,
    of_cluster: bool,
    of_facts: bool,
    report_objects: bool,
    parts: bool,
    one_namespace: bool,
    served: bool,
) -> None:
    """Raises UsageError for options that exclude each other."""
    if paths and of_cluster:
        raise click.UsageError("with a PATH, usher reads no cluster; leave out --kubeconfig and --context")
    if demo and (paths or of_cluster or of_facts or parts):
        raise click.UsageError("--demo brings its own cluster; leave out PATH, --facts and the options of clusters")
    if parts and one_namespace:
        raise click.UsageError("--output-dir is for parts of whole clusters; leave out --namespace")
    if parts and served:
        raise click.UsageError("--serve shows one report; leave out --output-dir")
    if report_objects and (demo or paths):
        raise click.UsageError("--report-objects writes into a cluster; leave out --demo and PATH")
