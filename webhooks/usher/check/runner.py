"""Judges many objects with one evaluator. It does not access files, and goes on after a failure."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import orjson
from msgspec.structs import replace

from usher import __version__, model
from usher.check import devices, findings, judging
from usher.check import surroundings as check_surroundings
from usher.check.batches import Batch, Item
from usher.check.findings import Part
from usher.check.judging import Settings
from usher.check.site_policies import SitePolicies
from usher.check.surroundings import Surroundings
from usher.extensions.gatekeeper import evaluation
from usher.extensions.gatekeeper.evaluation import Policies
from usher.policy.checks.catalogue import About, Entry
from usher.policy.evaluator import Evaluator

_MOST_COMPARED: Final = evaluation.LARGEST_INVENTORY * 9 // 10
"""The most bytes of the objects. The names by which rules find them need the rest."""

TOO_MANY_TO_COMPARE: Final = (
    f"its rules compare an object with all others, and those of this audit have "
    f"more than {_MOST_COMPARED // 2**20} MiB; audit "
    "one namespace at a time"
)


def objects_to_compare(batches: Iterable[Batch], policies: Policies) -> tuple[Iterable[Batch], list[Item]]:
    """The batches, and all their objects if a policy compares objects and they fit; otherwise usher does not evaluate
    the policy.

    It keeps batches in memory only if a policy needs them, because a whole cluster is too large.
    """
    if not policies.reads_inventory:
        return batches, []
    coming = iter(batches)
    kept, size = list[Batch](), 0
    for batch in coming:
        kept.append(batch)
        size += sum(len(orjson.dumps(item.value)) for item in _objects(batch))
        if size > _MOST_COMPARED:
            policies.leave_out_inventory(TOO_MANY_TO_COMPARE)
            return itertools.chain(kept, coming), []
    return kept, [item for batch in kept for item in _objects(batch)]


def only_for_policies(batch: Batch) -> Iterator[Item]:
    """The objects of a batch that only policies judge."""
    yield from batch.for_policies
    for value in batch.aside:
        yield Item(value=value)


def _objects(batch: Batch) -> Iterator[Item]:
    yield from batch.items
    yield from only_for_policies(batch)


def count_totals(results: list[findings.Result], counts: Counter[str]) -> findings.Totals:
    making_pods = [result for result in results if not result.is_template]
    found = findings.Totals(
        files=counts["files"],
        objects=counts["objects"],
        workloads=sum(result.makes_pods for result in results),
        pods=devices.total(devices.of_pods(result.pods) for result in making_pods),
        accelerators=devices.added(result.accelerators for result in making_pods),
        accelerators_with_errors={},
        exempt=sum(bool(result.exemption) for result in results),
        exemptions=Counter(result.exemption for result in results if result.exemption),
        owned=counts["owned"],
        finished=counts["finished"],
        ignored=counts["ignored"],
    )
    return recounted(found, results)


def recounted(found: findings.Totals, results: Sequence[findings.Result]) -> findings.Totals:
    outcomes = Counter(finding.judgement.outcome for result in results for finding in result.findings)
    denied = (each for each in results if not each.is_template and each.worst is model.Outcome.DENY)
    return replace(
        found,
        accelerators_with_errors=devices.added(result.accelerators for result in denied),
        errors=outcomes[model.Outcome.DENY],
        warnings=outcomes[model.Outcome.WARN],
        notes=outcomes[model.Outcome.AUDIT],
    )


def checks_without_facts(results: list[findings.Result], evaluator: Evaluator) -> int:
    """The number of checks that need missing facts; 0 without workloads with accelerators, which these checks judge."""
    if not evaluator.facts.empty or not any(result.accelerators for result in results):
        return 0
    return sum(entry.about is About.CLUSTER_FACTS for entry in evaluator.catalogue.checks.values())


def named_checks(results: list[findings.Result], evaluator: Evaluator) -> Mapping[str, Entry]:
    """The checks in the results, by key, in the order of their codes."""
    named = {finding.judgement.finding.check for result in results for finding in result.findings}
    named |= {entry.unknown.check for result in results for entry in result.not_judged}
    known = evaluator.catalogue.checks
    return {key: known[key] for key in sorted(named & known.keys(), key=lambda key: known[key].number)}


def checks_not_evaluated(results: list[findings.Result], evaluator: Evaluator) -> tuple[findings.NotEvaluated, ...]:
    workloads = Counter(
        pair
        for result in results
        for pair in {(entry.unknown.check, entry.unknown.reason) for entry in result.not_judged if entry.unknown.check}
    )
    entries = evaluator.catalogue.checks
    return tuple(
        findings.NotEvaluated(
            check=check,
            code=entries[check].code if check in entries else "",
            name=entries[check].name if check in entries else check,
            reason=reason,
            workloads=number,
        )
        for (check, reason), number in sorted(workloads.items())
    )


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
    policies: Policies | None = None,
    together: Sequence[Batch] | None = None,
) -> findings.Report:
    """Judges every object of the batches, one batch at a time.

    Args:
        evaluator: usher's own checks.
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
    policies: Policies | None = None,
    together: Sequence[Batch] | None = None,
) -> list[findings.Report]:
    """Judges as `run` does with several evaluators. Gives one report for each, about the same objects."""
    if together is None and not settings.origin:
        batches = together = list(watched(batches, watch))
    total = sum(len(batch.items) for batch in together or ()) if together is batches else 0
    surroundings = Surroundings(
        [check_surroundings.outline_of(batch, namespace=settings.namespace) for batch in together or ()],
        namespace=settings.namespace,
    )
    checked = (together or ()) if settings.command is findings.Command.CHECK else ()
    batches, compared = _batches_and_compared_objects(batches, checked, policies)
    sides = [_Side(evaluator, _site(policies, compared, evaluator, settings), Part()) for evaluator in evaluators]
    done = 0
    for batch in batches:
        judged = itertools.count(done * len(sides) + 1)

        def count(judged: Iterator[int] = judged) -> None:
            watch("objects judged", -(-next(judged) // len(sides)), total)

        for evaluator, site, added_up in sides:
            part = judging.judge(
                batch, surroundings, evaluator=evaluator, settings=settings, policies=site, before_each=count
            )
            added_up.add(part)
            added_up.results.extend(_by_policies(batch, site) if site else ())
            done = added_up.counts["objects"]
        watch("objects judged", done, total)
        del batch  # free a page of a cluster before reading the next one
    return [
        report(added_up, evaluator=evaluator, settings=settings, not_evaluated=site.not_evaluated() if site else ())
        for evaluator, site, added_up in sides
    ]


def _batches_and_compared_objects(
    batches: Iterable[Batch], together: Sequence[Batch], policies: Policies | None
) -> tuple[Iterable[Batch], list[Item]]:
    """The batches, and the objects with which policies compare."""
    if policies is None:
        return batches, []
    if together:
        return batches, [item for batch in together for item in batch.items]

    return objects_to_compare(batches, policies)


class _Side(NamedTuple):
    evaluator: Evaluator
    site: SitePolicies | None
    judged: Part


def _site(
    policies: Policies | None, compared: Sequence[Item], evaluator: Evaluator, settings: Settings
) -> SitePolicies | None:
    if policies is None:
        return None
    from usher.check import site_policies

    audits = settings.command is findings.Command.AUDIT
    way = site_policies.Way(
        points=site_policies.AUDIT if audits else site_policies.CHECK,
        operation="" if audits else "CREATE",
        namespace=settings.namespace,
        only_namespace=settings.only_namespace,
        too_large=TOO_MANY_TO_COMPARE if audits else "",
    )
    return site_policies.SitePolicies(policies, compared, way=way, facts=evaluator.facts, is_exempt=evaluator.is_exempt)


def _by_policies(batch: Batch, site: SitePolicies) -> Iterator[findings.Result]:
    """The results of policies for the objects that only they judge."""
    for item in only_for_policies(batch):
        identity = judging.identity_as_written(item.value)
        found = site.judged(item, item.value).result(item, batch.source, identity)
        if found is not None:
            yield found


def report(
    judged: Part, *, evaluator: Evaluator, settings: Settings, not_evaluated: Sequence[findings.NotEvaluated] = ()
) -> findings.Report:
    """The report of a run whose files are all judged; `not_evaluated` has policies of the site."""
    notes = [*judged.notes, *_left_out(judged, settings)]
    facts_of_files = _counts_of(judged, judging.FACTS_OF_FILES)
    return findings.Report(
        command=settings.command,
        version=__version__,
        configuration=findings.Configuration(
            source=settings.configuration,
            preset=evaluator.config.enforcement.preset,
            check_pages=evaluator.config.check_pages,
        ),
        origin=settings.origin,
        admitted=settings.mutated,
        diff=settings.diff,
        results=tuple(judged.results),
        failures=tuple(judged.failures),
        problems=tuple(judged.problems),
        notes=tuple(notes),
        not_evaluated=(*checks_not_evaluated(judged.results, evaluator), *not_evaluated),
        without_facts=checks_without_facts(judged.results, evaluator),
        facts_of_files=facts_of_files,
        nodes_of_files=facts_of_files.pop(judging.NODE[1], 0),
        without_fields=_counts_of(judged, judging.WITHOUT_FIELDS),
        exceptions=findings.of(judged.results, evaluator, aside=judged.excepted),
        rules=named_checks(judged.results, evaluator),
        totals=count_totals(judged.results, judged.counts),
    )


def _counts_of(judged: Part, start: str) -> dict[str, int]:
    return {key.removeprefix(start): number for key, number in sorted(judged.counts.items()) if key.startswith(start)}


def _left_out(judged: Part, settings: Settings) -> Iterator[findings.Note]:
    """Notes about what `--changed-since` leaves out."""
    if settings.changes is None:
        return
    source = f"--changed-since {settings.changes.since}"
    if number := judged.counts["unchanged"]:
        objects = "object" if number == 1 else "objects"
        yield findings.Note(
            source=source, reason=f"{number:,} {objects} that did not change, without the name of one that did"
        )
    if number := judged.counts["unread"]:
        problems = "problem of a file" if number == 1 else "problems of files"
        yield findings.Note(source=source, reason=f"{number:,} {problems} that did not change and cannot be read")
