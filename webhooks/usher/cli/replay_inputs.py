"""The objects that `usher replay` judges: manifests, records of reviews, or the workloads of a cluster."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from usher import errors
from usher.cli import found_objects
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.check import findings
    from usher.check.replay.comparison import Side
    from usher.check.replay.review_record import Record
    from usher.check.runner import Watch
    from usher.cli.replay_sides import Judge
    from usher.cluster.connection import Api


def connected(kubeconfig: Path | None, context: str | None) -> "Api":
    """The API server that the options name.

    Raises:
        ClusterError: it is not known.
    """
    from usher.cluster import connection

    return connection.connect(kubeconfig=kubeconfig, context=context)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Where the objects are."""

    paths: tuple[str, ...]
    api: "Api | None"
    """The cluster whose workloads are judged; None for files."""
    namespace: str
    """The namespace of objects without one, or the only one of a cluster; empty for the default."""

    def judged(self, judges: "Sequence[Judge]", *, watch: "Watch") -> "list[Side]":
        """The verdicts of each side about the same objects.

        Raises:
            InputError: there are no objects, or a file is of the wrong kind.
            ClusterError: the API server does not answer.
        """
        from usher.check.replay import review_record

        evaluators = [judge.evaluator for judge in judges]
        paths = dict.fromkeys(self.paths)
        files = [path for path in paths if not review_record.is_record(Path(path))]
        for path in files:
            _refuse_snapshot(path)
        records = [review_record.judge(Path(path), evaluators, watch=watch) for path in paths if path not in files]
        found = self._reports(files, judges, watch=watch)
        if files:
            found_objects.require(found[0], files)
        if self.api is not None and not found[0].results and not found[0].failed:
            where = f"namespace {self.namespace} of the {self.api.name}" if self.namespace else f"the {self.api.name}"
            raise errors.InputError(f"no workload is in {where}; `usher audit` lists what usher may read")
        sides = []
        for number, (judge, report) in enumerate(zip(judges, found, strict=True)):
            side = review_record.side_of_report(
                report,
                label=judge.label,
                policies=judge.policies,
                reviews=[each for record in records for each in record.judged[number]],
                rules=judge.evaluator.catalogue.checks,
            )
            sides.append(_with_records(side, records))
        return sides

    def _reports(self, files: Sequence[str], judges: "Sequence[Judge]", *, watch: "Watch") -> "list[findings.Report]":
        from usher.check import cluster_objects, findings, judging, runner, sources

        evaluators = [judge.evaluator for judge in judges]
        if self.api is not None:
            settings = judging.Settings(
                command=findings.Command.AUDIT, origin=self.api.name, only_namespace=self.namespace
            )
            batches = cluster_objects.read(self.api, namespace=self.namespace)
            return runner.run_each(batches, evaluators=evaluators, settings=settings, watch=watch)
        settings = judging.Settings(command=findings.Command.CHECK, namespace=self.namespace or "default", mutated=True)
        read = sources.read(files, stdin=sys.stdin.buffer)
        return runner.run_each(read, evaluators=evaluators, settings=settings, watch=watch)


def _with_records(side: "Side", records: "Sequence[Record]") -> "Side":
    from usher.check.formats import wording

    problems = [wording.located(problem) for record in records for problem in record.problems]
    notes = [f"{note.source}: {note.reason}" for record in records for note in record.notes]
    return replace(side, problems=(*side.problems, *problems), notes=(*side.notes, *notes))


def _refuse_snapshot(path: str) -> None:
    """Raises InputError for a file of `usher snapshot`, which would look like damaged YAML."""
    from usher.cluster.facts import snapshot

    try:
        with Path(path).open("rb") as stream:
            head = stream.read(len(snapshot.MAGIC))
    except (OSError, ValueError):
        return
    if head == snapshot.MAGIC:
        raise errors.InputError(
            f"{path}: a snapshot holds facts and no workloads; give it with --facts, and name manifests, a record of "
            "reviews, or what `usher snapshot --workloads FILE` writes"
        )
