"""The answer of `usher queue` for one object: the outlook of every authority, and with how many pods it would fit."""

import dataclasses
from collections.abc import Collection, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model
from usher.authorities import outlook as authorities_outlook
from usher.authorities import priority, registry
from usher.authorities.authority import Case
from usher.authorities.outlook import Outlook
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.kinds.registry import PODS
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import strategies
from usher.policy.mutation.merge import Merged

_MOST_TRIED: Final = 4
"""The most pod sets that usher tries with fewer pods."""


class Outlooks:
    """Outlooks of many objects from the same facts."""

    def __init__(self, evaluator: Evaluator, facts: Store) -> None:
        self._evaluator = evaluator
        self._known = dataclasses.replace(evaluator.knowledge, facts=facts)

    def of(self, request: Request, *, as_written: bool = False) -> Outlook | None:
        """The outlook of an object; None if it makes no pods by itself.

        Args:
            request: the object, on CREATE.
            as_written: whether to take the object as written, and not as the mutating webhook would leave it.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is not supported.
        """
        written = self._evaluator.workload(request)
        if written is None or not written.pod_sets or not written.makes_pods or written.is_template:
            return None
        if as_written:
            return self._outlook(Case(workload=written), ())
        merged = self._evaluator.mutate(request)
        workload = self._evaluator.workload(replace(request, value=merged.value))
        return self._outlook(Case(workload=workload or written, before=written), tuple(_describe_added_values(merged)))

    def _outlook(self, case: Case, given: tuple[str, ...]) -> Outlook:
        sections = tuple(registry.sections(case, self._known))
        return Outlook(
            workload=case.workload,
            ranks=tuple(priority.ranks(case, self._known)),
            sections=sections,
            given=given,
            fewer=tuple(self._fewer(case.workload, authorities_outlook.answer_of_sections(sections))),
        )

    def _fewer(self, workload: model.Workload, answer: Answer) -> Iterator[str]:
        """With how many pods the workload could start some day, and with how many now."""
        some_day = now = None
        if answer is Answer.NEVER:
            some_day = self._largest(workload, besides={Answer.NEVER})
        if answer is Answer.NOT_NOW or some_day is not None:
            now = self._largest(workload, besides={Answer.NEVER, Answer.UNKNOWN, Answer.NOT_NOW})
        if some_day is not None and (now is None or now.pods != some_day.pods):
            sure = self._answer(some_day.workload) is not Answer.UNKNOWN
            yield some_day.text(workload, "it could start some day" if sure else "it is not ruled out")
        if now is not None:
            fits = self._answer(now.workload) is Answer.FITS
            yield now.text(workload, "there is room now" if fits else "it could start")

    def _answer(self, workload: model.Workload) -> Answer:
        return authorities_outlook.answer_of_sections(registry.sections(Case(workload=workload), self._known))

    def _largest(self, workload: model.Workload, *, besides: Collection[Answer]) -> "_Smaller | None":
        """The workload with the most pods in one pod set whose answer is not in `besides`; None without an answer.

        A workload that fits also fits with fewer pods, so a binary search finds the number.
        """
        kind = PODS.get((workload.group, workload.kind))
        if kind is not None and not kind.shrinks:
            return None
        for index in _by_size(workload)[:_MOST_TRIED]:
            low, high = 1, _pods(workload.pod_sets[index]) - 1
            if high < 1 or self._answer(_workload_with_pods(workload, index, low)) in besides:
                continue
            while low < high:
                middle = (low + high + 1) // 2
                fits = self._answer(_workload_with_pods(workload, index, middle)) not in besides
                low, high = (middle, high) if fits else (low, middle - 1)
            return _Smaller(
                pod_set=workload.pod_sets[index], pods=low, workload=_workload_with_pods(workload, index, low)
            )
        return None


class _Smaller(Struct, frozen=True, kw_only=True):
    """A workload with fewer pods in one of its pod sets."""

    pod_set: model.PodSet
    """The pod set before the change."""
    pods: int
    workload: model.Workload

    def text(self, whole: model.Workload, then: str) -> str:
        before, after = least_accelerators(whole), least_accelerators(self.workload)
        amounts = ", ".join(f"{after.get(name, 0):,} {name} instead of {number:,}" for name, number in before.items())
        of = f" in {self.pod_set.name}" if self.pod_set.name else ""
        pods = f"{self.pods:,} pod{'' if self.pods == 1 else 's'}{of}"
        return f"ask for at most {pods}{f' ({amounts})' if amounts else ''}: {then}"


def least_accelerators(workload: model.Workload) -> dict[str, int]:
    """Accelerators of all pods at their minimum, in whole ones, by name; without claims that pods share."""
    found: dict[str, int] = {}
    for pod_set in workload.pod_sets:
        for request in pod_set.requests:
            if not request.claim and request.minimum.is_whole:
                found[request.name] = found.get(request.name, 0) + request.minimum.value * _pods(pod_set)
    return found


def _by_size(workload: model.Workload) -> list[int]:
    """Indexes of pod sets, the one with most accelerators first."""
    pod_sets = workload.pod_sets
    weights = [sum(each.minimum.nanos for each in pod_set.requests) * _pods(pod_set) for pod_set in pod_sets]
    return sorted(range(len(pod_sets)), key=lambda index: (-weights[index], -_pods(pod_sets[index])))


def _pods(pod_set: model.PodSet) -> int:
    return pod_set.count.minimum if pod_set.count.maximum is None else pod_set.count.maximum


def _workload_with_pods(workload: model.Workload, index: int, pods: int) -> model.Workload:
    """The workload with this number of pods in one pod set, and with a minimum of at most that."""
    pod_set = workload.pod_sets[index]
    count = model.Count(minimum=min(pod_set.count.minimum, pods), maximum=pods, reason=pod_set.count.reason)
    pod_sets = (*workload.pod_sets[:index], replace(pod_set, count=count), *workload.pod_sets[index + 1 :])
    smaller = replace(workload, pod_sets=pod_sets)
    minimum = workload.gang.minimum
    if minimum is None or minimum <= smaller.pods.minimum:
        return smaller
    return replace(smaller, gang=dataclasses.replace(workload.gang, minimum=smaller.pods.minimum))


def _describe_added_values(merged: Merged) -> Iterator[str]:
    """Each kind of added value once; then the values that could not be added, with reasons."""
    yield from dict.fromkeys(strategies.WORDS[intent.field] for intent in merged.applied)
    for skipped in merged.skipped:
        if skipped.told:
            yield f"no {strategies.WORDS[skipped.intent.field]}: {skipped.reason}"
