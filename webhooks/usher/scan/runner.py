"""Judges many objects with one evaluator. It does not access files, and goes on after a failure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from usher import __version__
from usher.policy.evaluator import Evaluator
from usher.scan import exception_coverage, findings, judging, outlines, totals
from usher.scan.batches import Batch, Item
from usher.scan.judging import Settings
from usher.scan.part import Part
from usher.scan.surroundings import Surroundings

if TYPE_CHECKING:
    from usher.gatekeeper.evaluation import Policies
    from usher.scan.site_policies import SitePolicies


_File = TypeVar("_File")

Watch = Callable[[str, int, int], None]
"""Called with a noun for the progress, the number done, and the total; 0 if unknown."""


def watched(files: Iterable[_File], watch: Watch) -> Iterator[_File]:
    """The same files; reports to `watch` how many were read."""
    for number, each in enumerate(files, 1):
        watch("files read", number, 0)
        yield each


def unwatched(_things: str, _done: int, _total: int) -> None:
    """Ignores progress, for runs without a watcher."""


def run(  # noqa: PLR0913 - the objects, their judges and the watcher
    batches: Iterable[Batch],
    *,
    evaluator: Evaluator,
    settings: Settings,
    watch: Watch = unwatched,
    policies: "Policies | None" = None,
    together: Sequence[Batch] | None = None,
) -> findings.Report:
    """Judges every object of the batches, one batch at a time.

    Args:
        batches: the objects.
        evaluator: usher's own checks.
        settings: the settings of the run.
        watch: receives the progress.
        policies: policies of Gatekeeper; policies that compare objects need all objects of the run in memory.
        together: the batches that are applied together, so that each may affect the verdicts about the others. By
            default all files, which then stay in memory, and no batch of a cluster.

    Raises:
        InputError: the policies compare objects, and the objects are too large for that.
        EngineError: the objects do not fit into the memory of a policy.
    """
    (found,) = run_each(
        batches, evaluators=[evaluator], settings=settings, watch=watch, policies=policies, together=together
    )
    return found


def run_each(  # noqa: PLR0913 - as above
    batches: Iterable[Batch],
    *,
    evaluators: Sequence[Evaluator],
    settings: Settings,
    watch: Watch = unwatched,
    policies: "Policies | None" = None,
    together: Sequence[Batch] | None = None,
) -> list[findings.Report]:
    """Judges as `run` does with several evaluators. Gives one report for each, about the same objects."""
    if together is None and not settings.origin:
        batches = together = list(watched(batches, watch))
    total = sum(len(batch.items) for batch in together or ()) if together is batches else 0
    surroundings = Surroundings(
        [outlines.of(batch, namespace=settings.namespace) for batch in together or ()], namespace=settings.namespace
    )
    checked = (together or ()) if settings.command is findings.Command.CHECK else ()
    batches, compared = _held(batches, checked, policies)
    sides = [_Side(evaluator, _site(policies, compared, evaluator, settings), Part()) for evaluator in evaluators]
    done = 0
    for batch in batches:
        for evaluator, site, whole in sides:
            whole.add(judging.judge(batch, surroundings, evaluator=evaluator, settings=settings, policies=site))
            whole.results.extend(_by_policies(batch, site) if site else ())
            done = whole.counts["objects"]
        watch("objects judged", done, total)
        del batch  # free a page of a cluster before reading the next one
    return [
        report(whole, evaluator=evaluator, settings=settings, more=site.not_evaluated() if site else ())
        for evaluator, site, whole in sides
    ]


def _held(
    batches: Iterable[Batch], together: Sequence[Batch], policies: "Policies | None"
) -> tuple[Iterable[Batch], list[Item]]:
    """The batches, and the objects with which policies compare."""
    if policies is None:
        return batches, []
    if together:
        return batches, [item for batch in together for item in batch.items]
    from usher.scan import compared_objects

    return compared_objects.held(batches, policies)


class _Side(NamedTuple):
    evaluator: Evaluator
    site: "SitePolicies | None"
    whole: Part


def _site(
    policies: "Policies | None", compared: Sequence[Item], evaluator: Evaluator, settings: Settings
) -> "SitePolicies | None":
    if policies is None:
        return None
    from usher.scan import compared_objects, site_policies

    audits = settings.command is findings.Command.AUDIT
    way = site_policies.Way(
        points=site_policies.AUDIT if audits else site_policies.CHECK,
        operation="" if audits else "CREATE",
        namespace=settings.namespace,
        only_namespace=settings.only_namespace,
        too_large=compared_objects.TOO_LARGE if audits else "",
    )
    return site_policies.SitePolicies(policies, compared, way=way, facts=evaluator.facts, is_exempt=evaluator.is_exempt)


def _by_policies(batch: Batch, site: "SitePolicies") -> Iterator[findings.Result]:
    """The results of policies for the objects that only they judge."""
    from usher.scan import compared_objects

    for item in compared_objects.only_for_policies(batch):
        identity = judging.identity_as_written(item.value)
        found = site.judged(item, item.value).result(item, batch.source, identity)
        if found is not None:
            yield found


def report(
    whole: Part, *, evaluator: Evaluator, settings: Settings, more: Sequence[findings.NotEvaluated] = ()
) -> findings.Report:
    """The report of a run whose files are all judged; `more` are policies of the site that were not evaluated."""
    notes = [*whole.notes, *_left_out(whole, settings)]
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
        not_evaluated=(*totals.not_evaluated(whole.results, evaluator), *more),
        without_facts=totals.checks_without_facts(whole.results, evaluator),
        exceptions=exception_coverage.of(whole.results, evaluator, aside=whole.excepted),
        rules=totals.rules(whole.results, evaluator),
        totals=totals.totals(whole.results, whole.counts),
    )


def _left_out(whole: Part, settings: Settings) -> Iterator[findings.Note]:
    """Notes about what `--changed-since` leaves out."""
    if settings.changes is None:
        return
    source = f"--changed-since {settings.changes.since}"
    if number := whole.counts["unchanged"]:
        objects = "object" if number == 1 else "objects"
        yield findings.Note(
            source=source, reason=f"{number:,} {objects} that did not change, without the name of one that did"
        )
    if number := whole.counts["unread"]:
        problems = "problem of a file" if number == 1 else "problems of files"
        yield findings.Note(source=source, reason=f"{number:,} {problems} that did not change and cannot be read")
