"""Judges many objects by one evaluator. It reads and writes no files, and goes on after a failure."""

from collections.abc import Iterable

from usher import __version__
from usher.policy.evaluator import Evaluator
from usher.scan import findings, judging, outlines, totals
from usher.scan.batches import Batch
from usher.scan.judging import Part, Settings
from usher.scan.surroundings import Surroundings

__all__ = ["Settings", "report", "run"]


def run(batches: Iterable[Batch], *, evaluator: Evaluator, settings: Settings) -> findings.Report:
    """Judges every object of the batches, which are taken one at a time."""
    # A cluster is too large to be held at once, and its objects have the numbers that their autoscalers chose.
    together = list(batches) if settings.command is findings.Command.CHECK else []
    files = [outlines.of(batch, namespace=settings.namespace) for batch in together]
    surroundings = Surroundings(files, namespace=settings.namespace)
    whole = Part()
    for batch in together or batches:
        whole.add(judging.judge(batch, surroundings, evaluator=evaluator, settings=settings))
    return report(whole, evaluator=evaluator, settings=settings)


def report(whole: Part, *, evaluator: Evaluator, settings: Settings) -> findings.Report:
    """The report of a run whose files are all judged."""
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
        notes=tuple(whole.notes),
        not_evaluated=totals.not_evaluated(whole.results, evaluator),
        without_facts=totals.checks_without_facts(whole.results, evaluator),
        exceptions=totals.exceptions(whole.results, evaluator),
        totals=totals.totals(whole.results, whole.counts),
    )
