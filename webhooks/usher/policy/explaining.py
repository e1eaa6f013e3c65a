"""The results of all checks and mutations for an object, with reasons: found, good, not evaluated, off, not asked.

And when it could start, with the reasons that controllers and schedulers have written into objects for pods that wait.
"""

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.authorities import authority as authorities_authority
from usher.authorities import priority
from usher.authorities import registry as authorities_registry
from usher.authorities.authority import NODES, Case, Outlook, Section
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes.declared_pools import PoolReason
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.kinds import registry
from usher.kinds.kind import FactKind, api, keeping
from usher.kinds.reading.values import Absence, Reference
from usher.kinds.registry import PODS
from usher.policy import decision as policy_decision
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import About
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.excused_findings import Circumstances
from usher.policy.input.pod_sets import read_keys
from usher.policy.mutation import merge, strategies
from usher.policy.mutation.merge import Merged


class State(StrEnum):
    """The result of a check or mutation, in the order in which readers look for them."""

    FOUND = "found"
    NOT_EVALUATED = "not evaluated"
    APPLIED = "applied"
    CONFLICT = "conflict"
    WARNED = "warned about"
    SKIPPED = "skipped"
    LEFT_ALONE = "nothing to do"
    OFF = "off"
    GOOD = "good"
    NOT_ASKED = "not asked"


class Explained(Struct, frozen=True, kw_only=True):
    """One check or mutation and one object."""

    entry: catalogue.Entry
    state: State
    texts: tuple[str, ...] = ()
    """Messages or reasons, each with its place."""


class Explanation(Struct, frozen=True, kw_only=True):
    workload: model.Workload | None
    exemption: str
    entries: tuple[Explained, ...]
    """In the order of the states, then of the codes."""
    pools: tuple[tuple[str, tuple[PoolReason, ...]], ...] = ()
    """The pools of usher.yaml for each pod set that asks for accelerators, with the name of the pod set."""


def explain(evaluator: Evaluator, request: Request) -> Explanation:
    """Every check and every mutation for one object.

    Raises:
        EngineError: the engine gave no usable answer.
        MutationError: an intent is not supported.
    """
    decision = evaluator.decide(request)
    workload = decision.workload
    if workload is None or decision.exemption:
        return Explanation(workload=workload, exemption=decision.exemption, entries=())
    merged, skips = evaluator.mutate(request), evaluator.skips(request)
    entries = [
        *(_check(entry, workload, decision, evaluator, request) for entry in evaluator.catalogue.checks.values()),
        *(
            each
            for entry in evaluator.catalogue.mutations.values()
            for each in _mutation(entry, workload, merged, skips)
        ),
    ]
    order = list(State)
    return Explanation(
        workload=workload,
        exemption="",
        entries=tuple(sorted(entries, key=lambda each: order.index(each.state))),
        pools=tuple(_pools(workload, evaluator)),
    )


def _pools(workload: model.Workload, evaluator: Evaluator) -> Iterator[tuple[str, tuple[PoolReason, ...]]]:
    for pod_set in workload.pod_sets:
        reasons = declared_pools.pool_reasons(pod_set, workload=workload, known=evaluator.knowledge)
        if reasons:
            yield pod_set.name, reasons


def why_not_asked(entry: catalogue.Entry, workload: model.Workload, *, facts: bool = False) -> str:
    """Why a rule is not asked about an object; empty if it is asked. The same conditions as in dispatch.rego.

    Args:
        facts: whether usher knows any fact of the cluster.
    """
    asking = [pod_set.asks_accelerators for pod_set in workload.pod_sets]
    named = not workload.view.keys().isdisjoint(entry.kinds)
    if entry.kinds and not named and entry.about is not About.ACCELERATOR_PODS:
        kinds = sorted({kind.kind for kind in registry.KINDS if kind.key in entry.kinds})
        return f"it is about {' and '.join(kinds)}"
    match entry.about:
        case About.OBJECTS:
            return ""
        case About.LARGE_OBJECTS:
            return "" if workload.excess is not None else "it is about objects that are too large to judge"
        case About.UNREAD_KEYS:
            return "" if workload.unread_keys else "it is about keys that nothing reads"
        case About.PODS:
            return "" if asking else "it is about pods"
        case About.ACCELERATOR_PODS:
            return "" if any(asking) or named else "it is about pods that ask for accelerators"
        case About.ORDINARY_PODS:
            return "" if not all(asking) else "it is about pods that ask for no accelerator"
        case About.CLUSTER_FACTS:
            return "" if (asking or entry.kinds) and facts else "nothing is known of the cluster"
        case About.LABELLED_PODS:
            return "" if asking and _is_labelled(workload) else "the workload has no label or annotation that it reads"


def _is_labelled(workload: model.Workload) -> bool:
    """Whether the object or a template has a label or an annotation that rules read."""
    of_templates = (keys for pod_set in workload.pod_sets for keys in (pod_set.labels, pod_set.annotations))
    return any(map(read_keys, (workload.labels, workload.annotations, workload.queue_labels, *of_templates)))


def _check(
    entry: catalogue.Entry,
    workload: model.Workload,
    decision: model.Decision,
    evaluator: Evaluator,
    request: Request,
) -> Explained:
    found = [judgement for judgement in decision.judgements if judgement.finding.check == entry.key]
    if found:
        return Explained(entry=entry, state=State.FOUND, texts=tuple(map(_outcome_sentence, found)))
    reasons = tuple(unknown.reason for unknown in decision.unknowns if unknown.check == entry.key)
    if reasons:
        return Explained(entry=entry, state=State.NOT_EVALUATED, texts=reasons)
    why = why_not_asked(entry, workload, facts=not evaluator.facts.empty)
    if why:
        return Explained(entry=entry, state=State.NOT_ASKED, texts=(why,))
    where = Circumstances(
        namespace=workload.namespace, role=workload.role, place=request.place, kind=workload.kind, name=workload.name
    )
    probe = model.Finding(check=entry.key, path="", message="")
    outcome, because = policy_decision.outcome_of_finding(
        probe, entry, where=where, enforcement=evaluator.config.enforcement
    )
    if outcome is policy_decision.OFF:
        return Explained(entry=entry, state=State.OFF, texts=(because,))
    return Explained(entry=entry, state=State.GOOD)


def _outcome_sentence(judgement: model.Judgement) -> str:
    because = f" ({judgement.because})" if judgement.because else ""
    return f"{judgement.outcome}: {judgement.finding.message}{because}"


def _mutation(
    entry: catalogue.Entry, workload: model.Workload, merged: merge.Merged, skips: Sequence[model.Note]
) -> Iterator[Explained]:
    """The effect of a mutation on each part of the object, or why it had no effect."""
    conflicting = (intent for conflict in merged.conflicts for intent in conflict)
    by_state = {
        State.APPLIED: _intents(entry, merged.applied, workload),
        State.CONFLICT: _intents(entry, conflicting, workload),
        State.WARNED: [
            *_notes(entry, merged.warnings, workload),
            *_skipped(entry, (each for each in merged.skipped if each.warned), workload),
        ],
        State.SKIPPED: _skipped(entry, (each for each in merged.skipped if not each.warned and not each.off), workload),
        State.OFF: _off(entry, merged),
        State.LEFT_ALONE: _notes(entry, skips, workload),
    }
    for state, texts in by_state.items():
        if texts:
            yield Explained(entry=entry, state=state, texts=tuple(dict.fromkeys(texts)))
    why = why_not_asked(entry, workload)
    if why:
        yield Explained(entry=entry, state=State.NOT_ASKED, texts=(why,))


def _intents(entry: catalogue.Entry, intents: Iterable[model.Intent], workload: model.Workload) -> list[str]:
    return [
        f"{_place_prefix(intent.at, workload)}{strategies.STRATEGIES[intent.field].words}: {intent.reason}"
        for intent in intents
        if intent.mutation == entry.key
    ]


def _skipped(entry: catalogue.Entry, skipped: Iterable[merge.Skipped], workload: model.Workload) -> list[str]:
    return [
        f"{_place_prefix(each.intent.at, workload)}{strategies.STRATEGIES[each.intent.field].words}: {each.reason}"
        for each in skipped
        if each.intent.mutation == entry.key
    ]


def _off(entry: catalogue.Entry, merged: merge.Merged) -> list[str]:
    return [each.reason for each in merged.skipped if each.off and each.intent.mutation == entry.key]


def _notes(entry: catalogue.Entry, notes: Iterable[model.Note], workload: model.Workload) -> list[str]:
    return [_place_prefix(note.at, workload) + note.reason for note in notes if note.mutation == entry.key]


def _place_prefix(at: str, workload: model.Workload) -> str:
    """The pod set or container, as a prefix of a note; empty for the object and for an unnamed pod set."""
    for pod_set in workload.pod_sets:
        name = f"{pod_set.name}: " if pod_set.name else ""
        if at == pod_set.path:
            return name
        for container in pod_set.containers:
            if at == container.path:
                of_pod_set = f" of {pod_set.name}" if pod_set.name else ""
                return f"{container.type} {container.name}{of_pod_set}: "
    return ""


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
            return self._outlook(request.case(written, self._known), ())
        merged = self._evaluator.mutate(request)
        workload = self._evaluator.workload(replace(request, value=merged.value))
        case = replace(request.case(workload or written, self._known), before=written)
        return self._outlook(case, tuple(_describe_added_values(merged)))

    def _outlook(self, case: Case, given: tuple[str, ...]) -> Outlook:
        sections = tuple(authorities_registry.sections(case, self._known))
        return Outlook(
            workload=case.workload,
            ranks=tuple(priority.ranks(case, self._known)),
            sections=with_reported_reasons(sections, case, self._known.facts),
            given=given,
            fewer=tuple(self._fewer(case.workload, authorities_authority.answer_of_sections(sections))),
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
        return authorities_authority.answer_of_sections(
            authorities_registry.sections(Case(workload=workload), self._known)
        )

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

    def text(self, before_change: model.Workload, then: str) -> str:
        before, after = least_accelerators(before_change), least_accelerators(self.workload)
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
    yield from dict.fromkeys(strategies.STRATEGIES[intent.field].words for intent in merged.applied)
    for skipped in merged.skipped:
        if skipped.warned:
            yield f"no {strategies.STRATEGIES[skipped.intent.field].words}: {skipped.reason}"


class _Live(NamedTuple):
    """A kind of object into which a controller writes why pods wait."""

    authority: str
    group: str
    kind: str
    conditions: str
    """The list of conditions in its status."""
    telling: frozenset[tuple[str, str]]
    """Type and status of the conditions that hold pods back."""


_LIVE: Final = (
    _Live(
        "Kueue",
        "kueue.x-k8s.io",
        "Workload",
        "conditions",
        frozenset({("QuotaReserved", "False"), ("Evicted", "True")}),
    ),
    _Live("Volcano", "scheduling.volcano.sh", "PodGroup", "conditions", frozenset({("Unschedulable", "True")})),
    _Live(
        "KAI-Scheduler",
        "scheduling.run.ai",
        "PodGroup",
        "schedulingConditions",
        frozenset({("UnschedulableOnNodePool", "True")}),
    ),
    _Live(
        "PodGroup",
        "scheduling.k8s.io",
        "PodGroup",
        "conditions",
        frozenset({("PodGroupScheduled", "False"), ("PodGroupInitiallyScheduled", "False")}),
    ),
    _Live(NODES, "", "Pod", "conditions", frozenset({("PodScheduled", "False")})),
)
"""Sources: those of `_CALLED` in `usher.authorities.authority`; k8s.io/api/scheduling/v1beta1/types.go of 1.37."""

REPORTED: Final = tuple(
    FactKind(**api(group, kind, plural, *versions), keep=keeping("/metadata/ownerReferences", f"/status/{conditions}"))
    for group, kind, plural, versions, conditions in (
        ("kueue.x-k8s.io", "Workload", "workloads", ("v1beta2", "v1beta1"), "conditions"),
        ("scheduling.run.ai", "PodGroup", "podgroups", ("v2alpha2",), "schedulingConditions"),
    )
)
"""Kinds that only `usher queue` reads of a cluster. It reads no pods, because a cluster has very many."""

_OWNER_LABELS: Final[Mapping[str, str]] = {
    "jobset.x-k8s.io": "jobset.sigs.k8s.io/jobset-name",
    "leaderworkerset.x-k8s.io": "leaderworkerset.sigs.k8s.io/name",
    "ray.io": "ray.io/cluster",
}
"""Labels by which pods name the object at the top of their owners, by the group of that object."""

_MOST_SAID: Final = 4
_LONGEST: Final = 600
_DEEPEST: Final = 3


def with_reported_reasons(found: Sequence[Section], case: Case, facts: Store) -> tuple[Section, ...]:
    """The sections with what controllers have written about the workload; they may add one for nodes."""
    sections = list(found)
    for live in _LIVE:
        listed = facts.objects(live.group, live.kind, case.workload.namespace)
        if isinstance(listed, Absence):
            continue
        counts = Counter(
            text for value in listed.values() if _is_about(value, case.workload, facts) for text in _texts(value, live)
        )
        if not counts:
            continue
        says = tuple(
            f"{number} times: {text}" if number > 1 else text for text, number in counts.most_common(_MOST_SAID)
        )
        own = [index for index, each in enumerate(sections) if each.authority == live.authority]
        if own:
            sections[own[0]] = replace(sections[own[0]], says=says)
        else:
            sections.append(Section(authority=live.authority, answer=Answer.COULD, says=says))
    return tuple(sections)


def _texts(value: paths.Object, live: _Live) -> Iterator[str]:
    """`QuotaReserved=False, WaitingForQuota: couldn't assign flavors to pod set main: ...`"""
    for each in map(paths.mapping, paths.elements(paths.mapping(value.get("status")).get(live.conditions))):
        of, status = paths.text(each.get("type")), paths.text(each.get("status"))
        if (of, status) in live.telling:
            for reason in (*map(paths.mapping, paths.elements(each.get("reasons"))), each):
                words = ": ".join(filter(None, (paths.text(reason.get(key)) for key in ("reason", "message"))))
                if words:
                    yield f"{of}={status}, {words}"[:_LONGEST]
                    break


def _is_about(value: paths.Object, workload: model.Workload, facts: Store, depth: int = 0) -> bool:
    """Whether an object is the workload, or one that it owns."""
    metadata = paths.metadata(value)
    key = paths.text(value.get("apiVersion")).rpartition("/")[0], value.get("kind"), metadata.get("name")
    if key == (workload.group, workload.kind, workload.name):
        return True
    label = _OWNER_LABELS.get(workload.group)
    if label is not None and paths.mapping(metadata.get("labels")).get(label) == workload.name:
        return True
    for owner in map(paths.mapping, paths.elements(metadata.get("ownerReferences"))):
        group, kind, name = _named(owner)
        if (group, kind, name) == (workload.group, workload.kind, workload.name):
            return True
        above = facts.find(Reference(group=group, kind=kind, name=name, namespace=workload.namespace))
        if depth < _DEEPEST and not isinstance(above, Absence) and _is_about(above, workload, facts, depth + 1):
            return True
    return False


def _named(owner: paths.Object) -> tuple[str, str, str]:
    group = paths.text(owner.get("apiVersion")).rpartition("/")[0]
    return group, paths.text(owner.get("kind")), paths.text(owner.get("name"))
