"""One object in, its outlook out."""

from collections.abc import Iterator
from dataclasses import replace

from usher import model
from usher.facts.store import Store
from usher.feasibility import places
from usher.mutation import strategies
from usher.mutation.merge import Merged
from usher.policy.cluster.kueue import QUEUE_LABEL
from usher.policy.evaluator import Evaluator, Request
from usher.policy.queueing import (
    of_gpu_quota,
    of_kueue,
    of_pods,
    of_resource_quotas,
    of_volcano,
    on_nodes,
    outlook,
    ranks,
    shrinking,
)
from usher.policy.queueing.of_kueue import Kueue
from usher.policy.queueing.outlook import Answer, Outlook, Section
from usher.policy.queueing.shrinking import Smaller


class Looker:
    """Looks for many objects of one cluster at one moment."""

    def __init__(self, evaluator: Evaluator, facts: Store) -> None:
        self._evaluator = evaluator
        self._facts = facts
        known = self._facts.nodes.known
        self._places = (
            places.of_cluster(self._facts.nodes.now, evaluator.config.pools, evaluator.vocabulary) if known else None
        )

    def look(self, request: Request, *, as_written: bool = False) -> Outlook | None:
        """The outlook of an object; None for one that makes no pods by itself.

        Args:
            request: the object, on CREATE.
            as_written: whether it is taken as it stands, and not as the mutating webhook would leave it.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: a patch of ours would not apply.
        """
        written = self._evaluator.workload(request)
        if written is None or not written.pod_sets or not written.makes_pods or written.is_template:
            return None
        if as_written:
            return self._outlook(written, None, ())
        merged = self._evaluator.mutate(request)
        workload = self._evaluator.workload(replace(request, value=merged.value))
        return self._outlook(workload or written, written, tuple(_given(merged)))

    def _outlook(self, workload: model.Workload, written: model.Workload | None, given: tuple[str, ...]) -> Outlook:
        kueue = of_kueue.known(self._facts, workload.namespace)
        names_queue = written is not None and _queue(written) != _queue(workload)
        sections = tuple(self._sections(workload, kueue, names_queue=names_queue))
        found = ranks.of(workload, self._facts, self._evaluator.config, before=written)
        return Outlook(
            workload=workload,
            ranks=tuple(found),
            sections=sections,
            given=given,
            fewer=tuple(self._fewer(workload, kueue, outlook.together(sections))),
        )

    def _sections(self, workload: model.Workload, kueue: Kueue, *, names_queue: bool = False) -> Iterator[Section]:
        config, vocabulary = self._evaluator.config, self._evaluator.vocabulary
        in_queue = of_kueue.of(workload, kueue, given=names_queue)
        if in_queue is not None:
            yield in_queue
        yield from of_volcano.of(workload, self._facts, config)
        charged = of_gpu_quota.of(workload, self._facts, config, vocabulary)
        if charged is not None:
            yield charged
        counted = of_resource_quotas.of(workload, self._facts, config)
        if counted is not None:
            yield counted
        yield from of_pods.of(workload, self._facts, config)
        yield on_nodes.of(workload, self._facts, vocabulary, self._places)

    def _fewer(self, workload: model.Workload, kueue: Kueue, answer: Answer) -> Iterator[str]:
        """With how many pods it could start some day, and with how many now."""
        some_day = now = None
        if answer is Answer.NEVER:
            some_day = self._largest(workload, kueue, {Answer.NEVER})
        if answer is Answer.NOT_NOW or some_day is not None:
            now = self._largest(workload, kueue, {Answer.NEVER, Answer.UNKNOWN, Answer.NOT_NOW})
        if some_day is not None and (now is None or now.pods != some_day.pods):
            sure = self._answer(some_day.workload, kueue) is not Answer.UNKNOWN
            yield _told(workload, some_day, "it could start some day" if sure else "it is not ruled out")
        if now is not None:
            fits = self._answer(now.workload, kueue) is Answer.FITS
            yield _told(workload, now, "there is room now" if fits else "it could start")

    def _largest(self, workload: model.Workload, kueue: Kueue, besides: set[Answer]) -> Smaller | None:
        return shrinking.largest(workload, lambda smaller: self._answer(smaller, kueue) not in besides)

    def _answer(self, workload: model.Workload, kueue: Kueue) -> Answer:
        return outlook.together(self._sections(workload, kueue))


def _told(workload: model.Workload, smaller: Smaller, then: str) -> str:
    before, after = shrinking.asked(workload), shrinking.asked(smaller.workload)
    amounts = ", ".join(f"{after.get(name, 0):,} {name} instead of {number:,}" for name, number in before.items())
    of = f" in {smaller.pod_set.name}" if smaller.pod_set.name else ""
    pods = f"{smaller.pods:,} pod{'' if smaller.pods == 1 else 's'}{of}"
    return f"ask for at most {pods}{f' ({amounts})' if amounts else ''}: {then}"


def _queue(workload: model.Workload) -> str:
    return workload.queue_labels.get(QUEUE_LABEL, "")


def _given(merged: Merged) -> Iterator[str]:
    """What is added, each kind of it once; what could not be given, with the reason."""
    yield from dict.fromkeys(strategies.WORDS[intent.field] for intent in merged.applied)
    for skipped in merged.skipped:
        if skipped.told:
            yield f"no {strategies.WORDS[skipped.intent.field]}: {skipped.reason}"
