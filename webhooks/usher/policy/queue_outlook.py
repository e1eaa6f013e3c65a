"""What `usher queue` says about one object: the outlook of every authority, and what would make it fit."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from usher import model
from usher.authorities import outlook as authorities_outlook
from usher.authorities.authority import Case
from usher.authorities.gpu_quota import outlook as gpu_quota_outlook
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import outlook as kueue_outlook
from usher.authorities.kueue.outlook import Kueue
from usher.authorities.kueue.slice import QUEUE_LABEL
from usher.authorities.limit_range import outlook as limit_range_outlook
from usher.authorities.nodes import outlook as nodes_outlook
from usher.authorities.nodes import places as nodes_places
from usher.authorities.outlook import Outlook, Section
from usher.authorities.priority import outlook as priority_outlook
from usher.authorities.resource_quota import outlook as resource_quota_outlook
from usher.authorities.verdict import Answer
from usher.authorities.volcano import outlook as volcano_outlook
from usher.facts.store import Store
from usher.mutation import strategies
from usher.mutation.merge import Merged
from usher.policy.evaluator import Evaluator, Request

_FIXED: Final = frozenset({"CronJob", "DaemonSet", "LeaderWorkerSet", "Pod", "Workflow"})
"""Kinds that do not say how many pods there are, or not in a way that could be made smaller pod by pod."""

_MOST_TRIED: Final = 4
"""Pod sets that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smaller:
    """A workload with fewer pods in one of its pod sets."""

    pod_set: model.PodSet
    """As it is."""
    pods: int
    workload: model.Workload


def largest(workload: model.Workload, fits: Callable[[model.Workload], bool]) -> Smaller | None:
    """The workload with as few pods less as possible, in one pod set, so that it fits; None where none does.

    Args:
        workload: one that does not fit.
        fits: whether another one does; what fits, fits with fewer pods as well.
    """
    if workload.kind in _FIXED:
        return None
    for index in list(_by_size(workload))[:_MOST_TRIED]:
        pod_set = workload.pod_sets[index]
        low, high = 1, _pods(pod_set) - 1
        if high < 1 or not fits(_with(workload, index, low)):
            continue
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(_with(workload, index, middle)) else (low, middle - 1)
        return Smaller(pod_set=pod_set, pods=low, workload=_with(workload, index, low))
    return None


def asked(workload: model.Workload) -> dict[str, int]:
    """Accelerators of all pods at their least, in whole ones, by name; claims that pods share are left out."""
    found: dict[str, int] = {}
    for pod_set in workload.pod_sets:
        for request in pod_set.requests:
            if not request.claim and request.minimum.is_whole:
                found[request.name] = found.get(request.name, 0) + request.minimum.value * _pods(pod_set)
    return found


def _by_size(workload: model.Workload) -> Iterator[int]:
    """Indexes of pod sets, the one with most accelerators first."""
    indexes = range(len(workload.pod_sets))
    weights = [sum(each.minimum.nanos for each in pod_set.requests) * _pods(pod_set) for pod_set in workload.pod_sets]
    yield from sorted(indexes, key=lambda index: (-weights[index], -_pods(workload.pod_sets[index])))


def _pods(pod_set: model.PodSet) -> int:
    return pod_set.count.minimum if pod_set.count.maximum is None else pod_set.count.maximum


def _with(workload: model.Workload, index: int, pods: int) -> model.Workload:
    pod_set = workload.pod_sets[index]
    count = model.Count(minimum=min(pod_set.count.minimum, pods), maximum=pods, reason=pod_set.count.reason)
    pod_sets = (
        *workload.pod_sets[:index],
        replace(pod_set, count=count),
        *workload.pod_sets[index + 1 :],
    )
    smaller = replace(workload, pod_sets=pod_sets)
    minimum = workload.gang.minimum
    if minimum is None or minimum <= smaller.pods.minimum:
        return smaller
    return replace(smaller, gang=replace(workload.gang, minimum=smaller.pods.minimum))


class Looker:
    """Looks for many objects of one cluster at one moment."""

    def __init__(self, evaluator: Evaluator, facts: Store) -> None:
        self._evaluator = evaluator
        self._facts = facts
        known = self._facts.nodes.known
        self._places = (
            nodes_places.of_cluster(self._facts.nodes.now, evaluator.config.pools, evaluator.vocabulary)
            if known
            else None
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
        kueue = kueue_outlook.known(self._facts, workload.namespace)
        names_queue = written is not None and _queue(written) != _queue(workload)
        sections = tuple(self._sections(workload, kueue, names_queue=names_queue))
        found = priority_outlook.of(workload, self._facts, self._evaluator.config, before=written)
        return Outlook(
            workload=workload,
            ranks=tuple(found),
            sections=sections,
            given=given,
            fewer=tuple(self._fewer(workload, kueue, authorities_outlook.together(sections))),
        )

    def _sections(self, workload: model.Workload, kueue: Kueue, *, names_queue: bool = False) -> Iterator[Section]:
        config, vocabulary = self._evaluator.config, self._evaluator.vocabulary
        in_queue = kueue_outlook.of(workload, kueue, given=names_queue)
        if in_queue is not None:
            yield in_queue
        yield from volcano_outlook.of(workload, self._facts, config)
        known = Knowledge(facts=self._facts, config=config, vocabulary=vocabulary)
        yield from gpu_quota_outlook.of(Case(workload=workload), known)
        counted = resource_quota_outlook.of(workload, self._facts, config)
        if counted is not None:
            yield counted
        yield from limit_range_outlook.of(workload, self._facts, config)
        yield nodes_outlook.of(workload, self._facts, vocabulary, self._places)

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
        return largest(workload, lambda smaller: self._answer(smaller, kueue) not in besides)

    def _answer(self, workload: model.Workload, kueue: Kueue) -> Answer:
        return authorities_outlook.together(self._sections(workload, kueue))


def _told(workload: model.Workload, smaller: Smaller, then: str) -> str:
    before, after = asked(workload), asked(smaller.workload)
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
