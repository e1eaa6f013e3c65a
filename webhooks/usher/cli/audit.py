"""`usher audit`: reports on the workloads of a cluster or a directory, in GPUs."""

import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher import errors
from usher.cli import gatekeeper, given_policies, inputs, path_completion, progress, reporting
from usher.cli.exit_codes import FailOn
from usher.config import words

if TYPE_CHECKING:
    from usher.facts.snapshot import Recorded
    from usher.facts.store import Store
    from usher.scan.batches import Batch


@click.command(
    epilog="""\b
Examples:
  usher audit                              audit the cluster of the current context
  usher audit --context prod --namespace ml-research
  usher audit --format json --output audit.json
  usher audit dump/                        audit manifests instead of a cluster
  usher audit --policies policies.bundle   judge by your own checks or policies of Gatekeeper as well

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
@given_policies.options
@reporting.options(fail_on=FailOn.NEVER)
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
    policies: tuple[str, ...],
    opa: Path | None,
    verify_key: Path | None,
    engine: str,
    opa_url: str | None,
    reporting: reporting.Reporting,
) -> None:
    """Report on all workloads of a live cluster, or on manifests if a PATH is given.

    usher lists every kind that it knows and the API server serves, and judges each object as the webhook would on
    creation. Objects that belong to a listed workload, for example its pods, count as part of it. Facts about queues,
    quotas and nodes come from the same cluster, or from --facts. With --policies, usher also lists the kinds that
    only constraints of Gatekeeper are about.
    """
    from usher.scan import findings, runner, sources

    if paths and (kubeconfig or context_name):
        raise click.UsageError("with a PATH, usher reads no cluster; leave out --kubeconfig and --context")
    file = inputs.find_config(config)
    chosen = given_policies.divided(policies, verify_key=verify_key)
    own = given_policies.own(chosen, opa=opa)
    known: Store | None = None
    if paths:
        origin, batches = "", sources.read(paths, stdin=sys.stdin.buffer)
    else:
        from usher.cluster import connection, recording
        from usher.scan import cluster

        api = connection.connect(kubeconfig=kubeconfig, context=context_name)
        origin, batches = api.name, cluster.read(api, namespace=namespace or "")
        if not facts:
            recorded = list(recording.read(api))
            known = recording.store(recorded)
            batches = itertools.chain(_unlisted(recorded), batches)
    settings = runner.Settings(
        command=findings.Command.AUDIT,
        configuration=str(file) if file else "",
        origin=origin,
        only_namespace=namespace or "",
    )
    with (
        gatekeeper.started(chosen, opa=opa) as site,
        inputs.evaluator(
            file, engine=engine, opa_url=opa_url, facts=facts, known=known, quiet=reporting.quiet, own=own
        ) as evaluator,
        progress.shown(quiet=reporting.quiet) as watch,
    ):
        if namespace and not paths:
            _require_namespace(namespace, evaluator.facts)
        if site is not None and not paths:
            batches = itertools.chain(batches, gatekeeper.matched_objects(api, site, namespace=namespace or ""))
        found = runner.run(batches, evaluator=evaluator, settings=settings, watch=watch, policies=site)
    if paths:
        inputs.require_objects(found, paths)
        if namespace and not found.results and not found.failed:
            raise errors.InputError(f"{', '.join(paths)}: no workload is in namespace {namespace}")
    context.exit(reporting.finish(found))


def _require_namespace(name: str, facts: "Store") -> None:
    """Raises InputError for a namespace that the cluster lacks: a typing error must not look like a clean audit."""
    there = facts.names("", "Namespace")
    if there and name not in there:
        raise errors.InputError(f"the cluster has no namespace {name}{words.nearest(name, there)}")


def _unlisted(recorded: "Iterable[Recorded]") -> "Iterator[Batch]":
    """Notes on the kinds of facts that decisions had to do without."""
    from usher.facts.snapshot import State
    from usher.scan import findings
    from usher.scan.batches import Batch

    for each in recorded:
        if each.state is State.NOT_KNOWN:
            reason = f"unknown to the checks, because usher may not list them: {each.reason}"
            note = findings.Note(source=each.kind.resource, reason=reason)
            yield Batch(source=each.kind.resource, notes=(note,), is_file=False)
