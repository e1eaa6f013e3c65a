"""Judges many objects by one evaluator. It reads and writes no files, and goes on after a failure."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from usher import __version__
from usher.policy.evaluator import Evaluator
from usher.scan import findings, judging, outlines, totals
from usher.scan.batches import Batch
from usher.scan.judging import Part, Settings
from usher.scan.surroundings import Surroundings

__all__ = ["Settings", "Watch", "report", "run", "run_each", "unwatched"]

Watch = Callable[[str, int, int], None]
"""Called with what was done, how many, and of how many; 0 where that is not known."""


def unwatched(_things: str, _done: int, _total: int) -> None:
    """For runs that are not watched."""


def run(
    batches: Iterable[Batch], *, evaluator: Evaluator, settings: Settings, watch: Watch = unwatched
) -> findings.Report:
    """Judges every object of the batches, which are taken one at a time."""
    (found,) = run_each(batches, evaluators=[evaluator], settings=settings, watch=watch)
    return found


def run_each(
    batches: Iterable[Batch], *, evaluators: Sequence[Evaluator], settings: Settings, watch: Watch = unwatched
) -> list[findings.Report]:
    """Judges every object of the batches by each of several evaluators: one report for each, about the same objects."""
    # A cluster is too large to be held at once, and its objects have the numbers that their autoscalers chose.
    together = list(_watched(batches, watch)) if settings.command is findings.Command.CHECK else []
    files = [outlines.of(batch, namespace=settings.namespace) for batch in together]
    surroundings = Surroundings(files, namespace=settings.namespace)
    wholes, total = [Part() for _ in evaluators], sum(len(batch.items) for batch in together)
    for batch in together or batches:
        for whole, evaluator in zip(wholes, evaluators, strict=True):
            whole.add(judging.judge(batch, surroundings, evaluator=evaluator, settings=settings))
        watch("objects judged", wholes[0].counts["objects"], total)
    return [
        report(whole, evaluator=evaluator, settings=settings)
        for whole, evaluator in zip(wholes, evaluators, strict=True)
    ]


def report(whole: Part, *, evaluator: Evaluator, settings: Settings) -> findings.Report:
    """The report of a run whose files are all judged."""
    notes = list(whole.notes)
    if settings.changes is not None and (left_out := whole.counts["unchanged"]):
        reason = f"{left_out:,} objects that did not change, and do not name one that did, are left out"
        notes.append(findings.Note(source=f"--changed-since {settings.changes.since}", reason=reason))
    return findings.Report(
        command=settings.command,
        version=__version__,
        configuration=findings.Configuration(source=settings.configuration, preset=evaluator.config.enforcement.preset),
        origin=settings.origin,
        admitted=settings.mutated,
        diff=settings.diff,
        results=tuple(whole.results),
        failures=tuple(whole.failures),
        problems=tuple(whole.problems),
        notes=tuple(notes),
        not_evaluated=totals.not_evaluated(whole.results, evaluator),
        without_facts=totals.checks_without_facts(whole.results, evaluator),
        exceptions=totals.exceptions(whole.results, evaluator),
        rules=totals.rules(whole.results, evaluator),
        totals=totals.totals(whole.results, whole.counts),
    )


def _watched(batches: Iterable[Batch], watch: Watch) -> Iterator[Batch]:
    for number, batch in enumerate(batches, 1):
        watch("files read", number, 0)
        yield batch
