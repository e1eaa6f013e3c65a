"""`usher queue`: shows whether a job can start, what limits it, and what would make it fit."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from usher import errors, paths
from usher.authorities.kueue.judge import QUEUE_LABEL
from usher.authorities.kueue.queues import GROUP
from usher.authorities.verdict import Answer
from usher.check import findings, surroundings
from usher.check.batches import Batch
from usher.check.formats import queue as formats_queue
from usher.check.formats import wording
from usher.check.formats.queue import OtherCluster, ShownOutlook, is_sent
from usher.check.surroundings import Surroundings
from usher.cli import inputs, main
from usher.cluster.facts.store import Store
from usher.policy.evaluator import Evaluator
from usher.policy.explaining import REPORTED


@inputs.command("queue")
@click.pass_context
def queue(
    context: click.Context,
    *,
    file: str,
    config: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    also: tuple[str, ...],
    namespace: str,
    as_written: bool,
    allow_unknown: bool,
    format_name: str,
) -> None:
    given = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name, also=REPORTED)
    around = None if given is not None or inputs.NONE in facts else _around(file, namespace=namespace)
    if given is None and around is None:
        raise errors.InputError(
            "no cluster is given: use --facts live to read one, --facts cluster.json.gz for a file of `usher "
            "snapshot`, or --facts DIRECTORY for manifests of its queues, flavors, quotas, classes and nodes; without "
            "--facts, queues and quotas in the folder of the file count, but it lacks them"
        )
    known = given.store if given is not None else None
    made = inputs.evaluator(inputs.find_config(config), engine="wasm", opa_url=None, known=known)
    with made as evaluator:
        found = list(_outlooks(file, evaluator, namespace=namespace, as_written=as_written, around=around))
    if also and file == "-":
        raise errors.InputError("--also reads the manifests again: give a file instead of -")
    for each in also:
        found = _with_cluster(found, each, file, inputs.find_config(config), namespace=namespace, as_written=as_written)
    if around is not None:
        text = f"usher: the queues and quotas are those of the files in {around.folder}; --facts reads others"
        click.echo(text, err=True)
    if format_name == "json":
        formats_queue.write_json(found, sys.stdout, as_written=as_written)
    else:
        formats_queue.write_text(found, sys.stdout)
    answers = {each.answer for each in found}
    if Answer.NEVER in answers:
        context.exit(main.FINDINGS)
    if Answer.UNKNOWN in answers and not allow_unknown:
        click.echo("usher: the answer for a workload is unknown (exit code 2); --allow-unknown accepts that", err=True)
        context.exit(main.FAILED)


def _with_cluster(
    found: list[ShownOutlook], named: str, file: str, config: Path | None, *, namespace: str, as_written: bool
) -> list[ShownOutlook]:
    """The outlooks, with the answers for another cluster.

    Raises:
        InputError: the text does not name facts, or they cannot be read.
    """
    name, _, place = named.partition("=")
    given = inputs.given_facts((place,), kubeconfig=None, context_name=None) if name and place else None
    if given is None:
        raise errors.InputError(f"--also {named}: expected NAME=FACTS, for example asia=asia.json.gz")
    with inputs.evaluator(config, engine="wasm", opa_url=None, known=given.store) as evaluator:
        others = list(_outlooks(file, evaluator, namespace=namespace, as_written=as_written, around=None))
    return [
        each._replace(clusters=(*each.clusters, OtherCluster(name, other.outlook, is_sent(each.outlook))))
        for each, other in zip(found, others, strict=True)
    ]


class _Around(NamedTuple):
    """The queues and quotas beside a file."""

    folder: str
    surroundings: Surroundings

    def facts_of(self, batch: Batch) -> Store:
        """The facts for the workloads of a file; without queues where the files lack one that they name."""
        found = self.surroundings.facts_around(batch)
        there = found.names(GROUP, "LocalQueue") or frozenset()
        labels = [paths.metadata(item.value).get("labels") for item in batch.items]
        named = {paths.text(each.get(QUEUE_LABEL)) for each in labels if isinstance(each, dict)} - {""}
        return found if named <= there else self.surroundings.facts_around(batch, without=GROUP)


def _around(path: str, *, namespace: str) -> _Around | None:
    """The queues and quotas in the folder of a file; None without any."""
    from usher.check import sources

    folder = path if path == "-" or Path(path).is_dir() else str(Path(path).parent)
    if folder == "-":
        return None
    batches = list(sources.read([folder], stdin=sys.stdin.buffer))
    found = surroundings.Surroundings(
        [surroundings.outline_of(each, namespace=namespace) for each in batches], namespace=namespace
    )
    proving = any(not found.facts_around(each).empty for each in batches)
    return _Around(folder, found) if proving else None


def _outlooks(
    path: str, evaluator: Evaluator, *, namespace: str, as_written: bool, around: _Around | None
) -> Iterator[ShownOutlook]:
    """The outlook of every workload of a file.

    Raises:
        InputError: something cannot be read, or no object makes pods.
    """
    from usher.check import sources

    notes: list[findings.Note] = []
    nothing = True
    for batch in sources.read([path], stdin=sys.stdin.buffer):
        if batch.problems:
            raise errors.InputError("\n".join(wording.located(problem) for problem in batch.problems))
        notes += batch.notes
        facts = around.facts_of(batch) if around is not None else evaluator.facts
        for place, outlook in formats_queue.outlooks_of(
            [batch], evaluator, namespace=namespace, as_written=as_written, facts=facts
        ):
            nothing = False
            yield ShownOutlook(place, outlook)
    if nothing:
        raise (
            inputs.no_objects_error([path], notes=notes)
            if notes
            else errors.InputError(f"{path}: no object makes pods")
        )
