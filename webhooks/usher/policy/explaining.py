"""The results of all checks and mutations for an object, with reasons: found, good, not evaluated, off, not asked."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from usher import model
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes.declared_pools import PoolReason
from usher.kinds import registry
from usher.policy import decision as policy_decision
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import About
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.input.pod_sets import read_keys
from usher.policy.mutation import merge, strategies


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
        entry: the rule.
        workload: the object.
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
    where = policy_decision.Circumstances(
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
    told = {
        State.APPLIED: _intents(entry, merged.applied, workload),
        State.CONFLICT: _intents(entry, conflicting, workload),
        State.WARNED: [
            *_notes(entry, merged.warnings, workload),
            *_skipped(entry, (each for each in merged.skipped if each.told), workload),
        ],
        State.SKIPPED: _skipped(entry, (each for each in merged.skipped if not each.told and not each.off), workload),
        State.OFF: _off(entry, merged),
        State.LEFT_ALONE: _notes(entry, skips, workload),
    }
    for state, texts in told.items():
        if texts:
            yield Explained(entry=entry, state=state, texts=tuple(dict.fromkeys(texts)))
    why = why_not_asked(entry, workload)
    if why:
        yield Explained(entry=entry, state=State.NOT_ASKED, texts=(why,))


def _intents(entry: catalogue.Entry, intents: Iterable[model.Intent], workload: model.Workload) -> list[str]:
    return [
        f"{_place_prefix(intent.at, workload)}{strategies.WORDS[intent.field]}: {intent.reason}"
        for intent in intents
        if intent.mutation == entry.key
    ]


def _skipped(entry: catalogue.Entry, skipped: Iterable[merge.Skipped], workload: model.Workload) -> list[str]:
    return [
        f"{_place_prefix(each.intent.at, workload)}{strategies.WORDS[each.intent.field]}: {each.reason}"
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
