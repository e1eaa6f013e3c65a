"""`usher audit`: reports on the workloads of a cluster or a directory, in GPUs."""

from datetime import UTC, datetime
from pathlib import Path

import click

from usher import errors
from usher.cli import audit_inputs, audit_sections, audit_shards, inputs, path_completion, progress, reporting
from usher.cli.exit_codes import FailOn


@click.command(
    epilog="""\b
Examples:
  usher audit                              audit the cluster of the current context
  usher audit --context prod --namespace ml-research
  usher audit --format json --output audit.json
  usher audit dump/                        audit manifests, or a dump of a cluster, instead

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
@reporting.options(fail_on=FailOn.NEVER, audits=True)
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
    engine: str,
    opa_url: str | None,
    sharding: audit_shards.Sharding | None,
    reporting: reporting.Reporting,
) -> None:
    """Report on the GPUs and workloads of a live cluster, or of manifests if a PATH is given.

    usher lists every kind that it knows and the API server serves, and judges each object as the webhook would on
    creation. Objects that belong to a listed workload, for example its pods, count as part of it. Facts about queues,
    quotas and nodes come from the same cluster, or from --facts. A PATH may hold what `kubectl get -A -o yaml` prints.
    """
    from usher.audit import assembly
    from usher.audit.building.builder import EstateBuilder
    from usher.scan import findings, runner

    if paths and (kubeconfig or context_name):
        raise click.UsageError("with a PATH, usher reads no cluster; leave out --kubeconfig and --context")
    part = None
    if sharding is not None:
        if namespace:
            raise click.UsageError("--output-dir is for parts of whole clusters; leave out --namespace")
        kubeconfig, context_name = sharding.connection(kubeconfig, context_name)
        part = sharding.begin(paths, kubeconfig, context_name, name=cluster_name or "")
        cluster_name = part.key.cluster
    file, now = inputs.find_config(config), datetime.now(UTC)
    wanted = audit_sections.wanted()
    if paths:
        source = audit_inputs.files(paths, read_facts=not facts)
    else:
        source = audit_inputs.live(
            kubeconfig,
            context_name,
            namespace=namespace or "",
            wanted=wanted,
            read_facts=not facts,
            **({} if part is None else {"seen": part.seen}),
        )
    settings = runner.Settings(
        command=findings.Command.AUDIT,
        configuration=str(file) if file else "",
        origin=source.origin,
        only_namespace=namespace or "",
    )
    with (
        inputs.evaluator(
            file, engine=engine, opa_url=opa_url, facts=facts, known=source.facts, quiet=reporting.quiet
        ) as evaluator,
        progress.shown(quiet=reporting.quiet) as watch,
    ):
        if namespace and not paths:
            audit_inputs.require_namespace(namespace, evaluator.facts)
        builder = EstateBuilder(
            evaluator.knowledge, wanted=wanted, namespace="default" if paths else "", only=namespace or ""
        )
        found = runner.run(source.fed(builder), evaluator=evaluator, settings=settings, watch=watch)
        estate = builder.built(results=found.results)
        sections = audit_sections.analysed(estate, evaluator.knowledge, found, server=source.server, now=now)
    if paths:
        inputs.require_objects(found, paths)
        if namespace and not found.results and not found.failed:
            raise errors.InputError(f"{', '.join(paths)}: no workload is in namespace {namespace}")
    document = assembly.document(
        report=found,
        estate=estate,
        config=evaluator.config,
        cluster=cluster_name or source.name,
        server=source.server,
        sections=sections,
        now=now,
    )
    if part is not None:
        part.write(document)
        reporting = audit_shards.without_text(reporting)
    context.exit(reporting.finish(found, audit=document))
