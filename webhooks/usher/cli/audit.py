"""`usher audit`: reports on the workloads of a cluster or a directory, in GPUs."""

from datetime import UTC, datetime
from pathlib import Path

import click

from usher.cli import (
    audit_history,
    audit_report_objects,
    audit_serve,
    audit_shards,
    audit_usage,
    inputs,
    path_completion,
    reporting,
)
from usher.cli.exit_codes import FailOn


@click.command(
    epilog="""\b
Examples:
  usher audit                              audit the cluster of the current context
  usher audit --context prod --namespace ml-research
  usher audit --format json --output audit.json
  usher audit --prometheus http://prometheus.monitoring:9090 --format html=audit.html
  usher audit dump/                        audit manifests, or a dump of a cluster, instead
  usher audit --demo --format html=demo.html

\b
Exit codes (docs/ci.md has those of --exit-codes):
  0  the audit is complete, whatever it found; the report names kinds that may not be listed
  1  there are findings that --fail-on names
  2  the cluster or a file could not be read, or an object could not be judged"""
)
@click.argument("paths", nargs=-1, metavar="[PATH...]", shell_complete=path_completion.files)
@inputs.config_option
@inputs.facts_option
@inputs.cluster_options
@click.option("-n", "--namespace", help="Audit only the workloads of this namespace.")
@click.option(
    "--cluster-name", metavar="NAME", help="The name of the cluster in reports. Default: that of its context."
)
@click.option("--demo", is_flag=True, help="Audit a synthetic cluster, to see what a report looks like.")
@reporting.options(fail_on=FailOn.NEVER, audits=True)
@audit_usage.options
@audit_history.options
@audit_report_objects.options
@audit_serve.options
@audit_shards.options
@inputs.engine_options
@click.pass_context
def audit(
    context: click.Context,
    *,
    paths: tuple[str, ...],
    config: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str | None,
    cluster_name: str | None,
    demo: bool,
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
    quotas and nodes come from the same cluster, or from --facts. A PATH may hold what `kubectl get -A -o yaml` prints.
    """
    from usher.cli import audit_run

    if demo and (paths or kubeconfig or context_name or config or facts or sharding or usage.url):
        raise click.UsageError(
            "--demo audits a synthetic cluster with its own usher.yaml; leave out what names another"
        )
    if paths and (kubeconfig or context_name):
        raise click.UsageError("with a PATH, usher reads no cluster; leave out --kubeconfig and --context")
    part = None
    if sharding is not None:
        if namespace:
            raise click.UsageError("--output-dir is for parts of whole clusters; leave out --namespace")
        kubeconfig, context_name = sharding.connection(kubeconfig, context_name)
        part = sharding.begin(paths, kubeconfig, context_name, name=cluster_name or "")
        cluster_name = part.key.cluster
    if report_objects and (demo or paths):
        raise click.UsageError("--report-objects writes into a cluster; leave out --demo and PATH")
    if serving is not None and sharding is not None:
        raise click.UsageError("--serve shows one report; leave out --output-dir")
    choices = audit_run.Choices(
        paths=paths,
        demo=demo,
        config=config,
        facts=facts,
        kubeconfig=kubeconfig,
        context_name=context_name,
        namespace=namespace or "",
        cluster_name=cluster_name or "",
        engine=engine,
        opa_url=opa_url,
        usage=usage,
        part=part,
        quiet=reporting.quiet or serving is not None,
    )
    if serving is not None:
        serving.run(lambda: comparison.applied(audit_run.run(choices, now=datetime.now(UTC)).document)[0])
        return
    found = audit_run.run(choices, now=datetime.now(UTC))
    document, failure = comparison.applied(found.document)
    if part is not None:
        part.write(document)
        reporting = audit_shards.without_text(reporting)
    code = reporting.finish(found.report, audit=document)
    if report_objects and found.api is not None:
        code = max(code, audit_report_objects.write(report_objects, document, found.api, namespace=namespace or ""))
    context.exit(audit_history.finish(code, failure))
