"""`usher queue`: shows whether a job can start, what limits it, and what would make it fit."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from usher import errors
from usher.check import findings
from usher.check.formats.queue import ShownOutlook
from usher.cli import exit_codes, inputs
from usher.policy.evaluator import Evaluator


@click.command(
    epilog="""\b
Examples:
  usher queue job.yaml --facts cluster.json.gz   use a snapshot, see `usher snapshot`
  usher queue job.yaml --facts live              use the cluster of the current context, as it is now
  usher queue job.yaml --context prod            use another cluster
  helm template chart/ | usher queue - --facts live -n ml-research

\b
Exit codes:
  0  every workload can start, now or later
  1  a workload can never start
  2  an answer is unknown (--allow-unknown accepts that), or an input could not be read"""
)
@click.argument("file", shell_complete=inputs.complete_files)
@inputs.config_option
@inputs.facts_option
@inputs.cluster_options
@inputs.old_live_option
@inputs.namespace_option
@inputs.as_written_option
@click.option("--allow-unknown", is_flag=True, help="Accept workloads whose answer is unknown.")
@inputs.format_option
@click.pass_context
def queue(
    context: click.Context,
    *,
    file: str,
    config: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str,
    as_written: bool,
    allow_unknown: bool,
    format_name: str,
) -> None:
    """Show whether the workloads in FILE (- for standard input) can start, and what limits them.

    For the queue of Kueue or Volcano, each quota, the priority and the nodes: how much the workload needs, how much
    there is at most, how much is free now, and what would make it fit. usher adds to a workload what the mutating
    webhook would add. --kubeconfig and --context imply --facts live.
    """
    from usher.authorities.verdict import Answer
    from usher.check.formats import queue as formats_queue

    given = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name)
    if given is None:
        raise errors.InputError(
            "no cluster is given: use --facts live to read one, --facts cluster.json.gz for a file of `usher "
            "snapshot`, or --facts DIRECTORY for manifests of its queues, flavors, quotas, classes and nodes"
        )
    made = inputs.evaluator(inputs.find_config(config), engine="wasm", opa_url=None, known=given.store)
    with made as evaluator:
        found = list(_outlooks(file, evaluator, namespace=namespace, as_written=as_written))
    if format_name == "json":
        formats_queue.write_json(found, sys.stdout, as_written=as_written)
    else:
        formats_queue.write_text(found, sys.stdout)
    answers = {each.outlook.answer for each in found}
    if Answer.NEVER in answers:
        context.exit(exit_codes.FINDINGS)
    if Answer.UNKNOWN in answers and not allow_unknown:
        click.echo("usher: the answer for a workload is unknown (exit code 2); --allow-unknown accepts that", err=True)
        context.exit(exit_codes.FAILED)


def _outlooks(path: str, evaluator: Evaluator, *, namespace: str, as_written: bool) -> Iterator[ShownOutlook]:
    """The outlook of every workload of a file.

    Raises:
        InputError: something cannot be read, or no object makes pods.
    """
    from usher.check import sources
    from usher.check.formats import queue as formats_queue
    from usher.check.formats import wording

    notes: list[findings.Note] = []
    nothing = True
    for batch in sources.read([path], stdin=sys.stdin.buffer):
        if batch.problems:
            raise errors.InputError("\n".join(wording.located(problem) for problem in batch.problems))
        notes += batch.notes
        for place, outlook in formats_queue.outlooks_of([batch], evaluator, namespace=namespace, as_written=as_written):
            nothing = False
            yield ShownOutlook(place, outlook)
    if nothing:
        raise (
            inputs.no_objects_error([path], notes=notes)
            if notes
            else errors.InputError(f"{path}: no object makes pods")
        )
