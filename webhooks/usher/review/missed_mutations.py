"""Decisions about objects that the mutating webhook did not change in time.

The timeout of that webhook is short, and the API server goes on without it. What the mutations would have mended is the
fault of usher and not of the user, so it is never a denial. But the object comes in as it is. So usher lets it in only
if no mutation is missing that protects other workloads (`protects_others` in its METADATA): otherwise tenants get
around a queue, or see every GPU of a node, by making many objects at once. Their clients have to try again.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from usher import errors, model
from usher.mutation import merge
from usher.policy.checks.catalogue import Catalogue, Severity
from usher.policy.evaluator import Evaluator, Operation, Request

BECAUSE: Final = "the mutating webhook did not change this object in time, and would have mended this"

_WORST_FIRST: Final = tuple(model.Outcome)


def forgiven(decision: model.Decision, request: Request, evaluator: Evaluator) -> model.Decision:
    """The decision, with warnings instead of denials that the mutations would have mended.

    Only denials are looked at, so that no other review costs more. Without an answer of the engine the denial stays: no
    verdict would let the object in under `failurePolicy: Ignore`.
    """
    if decision.allowed or decision.exemption or request.operation not in (Operation.CREATE, Operation.UPDATE):
        return decision
    try:
        # Patches of like Pods are remembered, so that controllers that try again and again cost little.
        if not evaluator.patch(request).operations:
            return decision
        merged, after = evaluator.admit(request)
    except (errors.EngineError, errors.MutationError):
        return decision
    missed = _missed(request, merged.applied, evaluator.catalogue)
    mended = _mended(decision, after, evaluator.catalogue)
    if not missed or not mended:
        return decision
    judgements = [
        replace(each, outcome=model.Outcome.WARN, because=BECAUSE)
        if each.outcome is model.Outcome.DENY and each.finding in mended
        else each
        for each in decision.judgements
    ]
    denied = any(each.outcome is model.Outcome.DENY for each in judgements)
    wants_error = evaluator.config.mutations.missed == "error"
    return replace(
        decision,
        judgements=tuple(sorted(judgements, key=lambda each: _WORST_FIRST.index(each.outcome))),
        missed=tuple(sorted({evaluator.catalogue.mutation_name(key) for key in missed})),
        try_again=not denied and (wants_error or _protects_others(missed, mended, evaluator.catalogue)),
    )


def _missed(request: Request, applied: Iterable[model.Intent], entries: Catalogue) -> tuple[str, ...]:
    """Keys of the mutations that the object lacks and does not say it had.

    On CREATE an object that names a mutation went through the webhook, and somebody removed the value later. On UPDATE
    the names come from the creation, and say nothing.
    """
    recorded = merge.recorded(request.value) if request.operation is Operation.CREATE else frozenset()
    keys = dict.fromkeys(intent.mutation for intent in applied)
    return tuple(key for key in keys if entries.mutation_name(key) not in recorded)


def _mended(decision: model.Decision, after: model.Decision, entries: Catalogue) -> Collection[model.Finding]:
    """The denied findings that the mutated object does not have, except those of critical checks.

    None if the mutated object is denied for something that the object does not have as it is.
    """
    before, remaining = _denied(decision), _denied(after)
    # Not by message: a mutation may change the number of pools that a message names.
    places = {(finding.check, finding.path) for finding in remaining}
    if places - {(finding.check, finding.path) for finding in before}:
        return ()
    return [
        finding
        for finding in before
        if (finding.check, finding.path) not in places
        and entries.checks[finding.check].severity is not Severity.CRITICAL
    ]


def _denied(decision: model.Decision) -> list[model.Finding]:
    return [each.finding for each in decision.judgements if each.outcome is model.Outcome.DENY]


def _protects_others(missed: Iterable[str], mended: Iterable[model.Finding], entries: Catalogue) -> bool:
    """Whether a missed mutation protects other workloads here.

    If checks find its absence, usher.yaml has the last word: it protects where one of them denies. A mutation whose
    absence no check finds always protects.
    """
    denied = {finding.check for finding in mended}
    missing = [entry for key in missed if (entry := entries.mutations.get(key)) is not None]
    return any(
        entry.protects_others and (not entry.promises or not denied.isdisjoint(entry.promises)) for entry in missing
    )
