"""What each check and each mutation makes of an object, and why: found, good, not evaluated, off, not asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from usher import model
from usher.mutation import merge
from usher.policy import catalogue, enforcement
from usher.policy.catalogue import About
from usher.policy.evaluator import Evaluator, Request
from usher.policy.pod_documents import read_keys
from usher.views import registry


class State(StrEnum):
    """What a check or mutation came to; those first that a reader looks for first."""

    FOUND = "found"
    NOT_EVALUATED = "not evaluated"
    APPLIED = "applied"
    CONFLICT = "conflict"
    SKIPPED = "skipped"
    OFF = "off"
    GOOD = "good"
    LEFT_ALONE = "nothing to do"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One check or mutation and one object."""

    entry: catalogue.Entry
    state: State
    texts: tuple[str, ...] = ()
    """Messages or reasons, each at its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    workload: model.Workload | None
    exemption: str
    entries: tuple[Explained, ...]
    """In the order of the states, then of the codes."""


def explain(evaluator: Evaluator, request: Request) -> Explanation:
    """Every check and every mutation for one object.

    Raises:
        EngineError: the engine gave no usable answer.
        MutationError: a patch of ours would not apply.
    """
    decision = evaluator.decide(request)
    workload = decision.workload
    if workload is None or decision.exemption:
        return Explanation(workload=workload, exemption=decision.exemption, entries=())
    merged = evaluator.mutate(request)
    entries = [
        *(_check(entry, workload, decision, evaluator, request) for entry in evaluator.catalogue.checks.values()),
        *(_mutation(entry, merged) for entry in evaluator.catalogue.mutations.values()),
    ]
    order = list(State)
    return Explanation(
        workload=workload,
        exemption="",
        entries=tuple(sorted(entries, key=lambda each: order.index(each.state))),
    )


def why_not_asked(check: catalogue.Entry, workload: model.Workload) -> str:
    """Why a check is not asked about an object; empty when it is. The same conditions as in dispatch.rego."""
    asking = [pod_set.asks_accelerators for pod_set in workload.pod_sets]
    match check.about:
        case About.OBJECTS:
            kinds = sorted({view.kind for view in registry.VIEWS if view.key in check.kinds})
            return "" if not workload.view.keys().isdisjoint(check.kinds) else f"it is about {' and '.join(kinds)}"
        case About.PODS:
            return "" if asking else "it is about pods"
        case About.ACCELERATOR_PODS:
            return "" if any(asking) else "it is about pods that ask for accelerators"
        case About.ORDINARY_PODS:
            return "" if not all(asking) else "it is about pods that ask for no accelerator"
        case About.LABELLED_PODS:
            return "" if asking and _is_labelled(workload) else "it is about labels and annotations that are not there"


def _is_labelled(workload: model.Workload) -> bool:
    """Whether a label or an annotation that rules read stands on the object or on a template."""
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
        return Explained(entry=entry, state=State.FOUND, texts=tuple(map(_told, found)))
    reasons = tuple(unknown.reason for unknown in decision.unknowns if unknown.check == entry.key)
    if reasons:
        return Explained(entry=entry, state=State.NOT_EVALUATED, texts=reasons)
    why = why_not_asked(entry, workload)
    if why:
        return Explained(entry=entry, state=State.NOT_ASKED, texts=(why,))
    where = enforcement.Circumstances(
        namespace=workload.namespace, role=workload.role, place=request.place, kind=workload.kind, name=workload.name
    )
    probe = model.Finding(check=entry.key, path="", message="")
    outcome, because = enforcement.outcome(probe, entry, where=where, enforcement=evaluator.config.enforcement)
    if outcome is enforcement.OFF:
        return Explained(entry=entry, state=State.OFF, texts=(because,))
    return Explained(entry=entry, state=State.GOOD)


def _told(judgement: model.Judgement) -> str:
    because = f" ({judgement.because})" if judgement.because else ""
    return f"{judgement.outcome}: {judgement.finding.message}{because}"


def _mutation(entry: catalogue.Entry, merged: merge.Merged) -> Explained:
    def of(intents: tuple[model.Intent, ...]) -> Iterator[str]:
        return (f"{intent.field}: {intent.reason}" for intent in intents if intent.mutation == entry.key)

    applied = tuple(dict.fromkeys(of(merged.applied)))
    if applied:
        return Explained(entry=entry, state=State.APPLIED, texts=applied)
    conflicts = tuple(text for conflict in merged.conflicts for text in of(conflict))
    if conflicts:
        return Explained(entry=entry, state=State.CONFLICT, texts=conflicts)
    skipped = tuple(
        dict.fromkeys(
            f"{each.intent.field}: {each.reason}" for each in merged.skipped if each.intent.mutation == entry.key
        )
    )
    if skipped:
        return Explained(entry=entry, state=State.SKIPPED, texts=skipped)
    return Explained(entry=entry, state=State.LEFT_ALONE)
