"""`usher queue`: where a job would go, what is free there, and what would make it fit."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher import errors
from usher.cli import inputs

if TYPE_CHECKING:
    from usher.facts.store import Store
    from usher.policy.evaluator import Evaluator
    from usher.reports.queue_text import ShownOutlook
    from usher.scan import findings


@click.command(
    epilog="""\b
Examples:
  usher queue job.yaml --facts cluster.json.gz   by a snapshot, see `usher snapshot`
  usher queue job.yaml --live                    by the cluster of the current context, as it is now
  usher queue job.yaml --context prod            by another
  helm template chart/ | usher queue - --live -n ml-research

\b
Exit codes:
  0  every workload could start some day, if not now
  1  a workload can never start
  2  not all could be told, or an input could not be read; --allow-unknown accepts the former"""
)
@click.argument("file")
@inputs.config_option
@inputs.facts_option
@click.option("--live", is_flag=True, help="What is in the cluster is read from it, now.")
@click.option(
    "--kubeconfig", type=click.Path(path_type=Path), metavar="FILE", help="As --live; default: as kubectl finds it."
)
@click.option("--context", "context_name", metavar="NAME", help="As --live; default: the current context.")
@inputs.namespace_option
@click.option("--as-written", is_flag=True, help="Take the objects as they stand, without what gpu-usher would add.")
@click.option("--allow-unknown", is_flag=True, help="Accept workloads of which not all can be told.")
@inputs.format_option
@click.pass_context
def queue(
    context: click.Context,
    *,
    file: str,
    config: Path | None,
    facts: tuple[str, ...],
    live: bool,
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str,
    as_written: bool,
    allow_unknown: bool,
    format_name: str,
) -> None:
    """Show where the workloads in FILE (- for standard input) would go, and what is free there.

    The queue of Kueue or Volcano, quotas, priority and nodes: what each counts, what it can ever give, what is left
    now, and what would make it fit. A workload is taken as the mutating webhook would leave it.
    """
    from usher.authorities.verdict import Answer
    from usher.cli import output as outputs
    from usher.reports import queue_json, queue_text

    live = live or kubeconfig is not None or context_name is not None
    if live and facts:
        raise click.UsageError("--facts is read instead of a cluster; leave out --live, --kubeconfig and --context")
    if not live and not facts:
        raise errors.InputError(
            "nothing is known of a cluster: --live reads it, --facts cluster.json.gz reads what `usher snapshot` wrote "
            "of it, and --facts DIRECTORY manifests of its queues, flavors, quotas, classes and nodes"
        )
    known = _known(kubeconfig, context_name) if live else None
    made = inputs.evaluator(inputs.find_config(config), engine="wasm", opa_url=None, facts=facts, known=known)
    with made as evaluator:
        found = list(_outlooks(file, evaluator, namespace=namespace, as_written=as_written))
    if format_name == "json":
        queue_json.write(found, sys.stdout, as_written=as_written)
    else:
        queue_text.write(found, sys.stdout)
    answers = {each.outlook.answer for each in found}
    if Answer.NEVER in answers:
        context.exit(outputs.FINDINGS)
    if Answer.UNKNOWN in answers and not allow_unknown:
        click.echo("usher: not all could be told (exit code 2); --allow-unknown accepts it", err=True)
        context.exit(outputs.FAILED)


def _known(kubeconfig: Path | None, context_name: str | None) -> "Store":
    """What a cluster has now; kinds that may not be listed are named."""
    from usher.cluster import connection, recording
    from usher.facts.snapshot import State
    from usher.reports import wording

    recorded = list(recording.read(connection.connect(kubeconfig=kubeconfig, context=context_name)))
    for each in recorded:
        if each.state is State.NOT_KNOWN:
            told = wording.harmless(wording.printable(f"{each.kind.resource}: not read: {each.reason}"))
            click.echo(f"usher: {told}", err=True)
    return recording.store(recorded)


def _outlooks(path: str, evaluator: "Evaluator", *, namespace: str, as_written: bool) -> "Iterator[ShownOutlook]":
    """The outlook of every workload of a file.

    Raises:
        InputError: something cannot be read, or no object makes pods.
    """
    from usher.policy.evaluator import Request
    from usher.policy.queue_outlook import Looker
    from usher.reading import lookup
    from usher.reports import wording
    from usher.reports.queue_text import ShownOutlook
    from usher.scan import sources

    notes: list[findings.Note] = []
    nothing = True
    for batch in sources.read([path], stdin=sys.stdin.buffer):
        if batch.problems:
            raise errors.InputError("\n".join(wording.located(problem) for problem in batch.problems))
        values = [item.value for item in batch.items]
        notes += batch.notes
        facts = evaluator.facts.with_applied(values, namespace=namespace)
        objects, looker = lookup.Objects(values, namespace=namespace), Looker(evaluator, facts)
        for item in batch.items:
            request = Request(value=item.value, namespace=namespace, objects=objects, facts=facts, place="check")
            outlook = looker.look(request, as_written=as_written)
            if outlook is not None:
                line = item.document.line if item.document is not None else 0
                nothing = False
                yield ShownOutlook(f"{batch.source}:{line}" if line else batch.source, outlook)
    if nothing:
        raise inputs.no_manifests([path], notes=notes) if notes else errors.InputError(f"{path}: no object makes pods")
