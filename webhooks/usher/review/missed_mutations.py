"""Decisions about objects that the mutating webhook did not change in time.

The timeout of that webhook is short, and the API server goes on without it. If the mutations would have mended a
finding, usher is at fault and not the user. So the finding does not deny. But the object comes in unchanged. So usher
admits it only if no mutation is missing that protects other workloads (`protects_others` in its METADATA). Otherwise
tenants could bypass a queue, or see every GPU of a node, by creating many objects at once. Their clients have to try
again.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from usher import errors, model
from usher.policy.checks.catalogue import Catalogue, Severity
from usher.policy.decision import Operation, Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge

BECAUSE: Final = "the mutating webhook did not change this object in time, and would have mended this"

_WORST_FIRST: Final = tuple(model.Outcome)


def forgiven(decision: model.Decision, request: Request, evaluator: Evaluator) -> model.Decision:
    """The decision, with warnings instead of denials that the mutations would have mended.

    It only looks at denials, so that other reviews cost nothing more. If the engine does not answer, the denial stays:
    without a verdict, `failurePolicy: Ignore` would admit the object.
    """
    if decision.allowed or decision.exemption or request.operation not in (Operation.CREATE, Operation.UPDATE):
        return decision
    try:
        # The engine keeps patches of similar Pods, so controllers that try again and again cost little.
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
    """Keys of the mutations that the object lacks and that its annotations do not name.

    On CREATE, an object that names a mutation went through the webhook, and the value was removed later. On UPDATE the
    names come from the creation, so they prove nothing.
    """
    recorded = merge.recorded(request.value) if request.operation is Operation.CREATE else frozenset()
    keys = dict.fromkeys(intent.mutation for intent in applied)
    return tuple(key for key in keys if entries.mutation_name(key) not in recorded)


def _mended(decision: model.Decision, after: model.Decision, entries: Catalogue) -> Collection[model.Finding]:
    """The denied findings that the mutated object does not have, without findings of critical checks.

    Empty if usher denies the mutated object for a finding that the object itself does not have.
    """
    before, remaining = _denied(decision), _denied(after)
    # It does not compare messages: a mutation may change the number of pools in a message.
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

    If checks find its absence, usher.yaml decides: the mutation protects if one of these checks denies. A mutation
    whose absence no check finds always protects.
    """
    denied = {finding.check for finding in mended}
    missing = [entry for key in missed if (entry := entries.mutations.get(key)) is not None]
    return any(
        entry.protects_others and (not entry.promises or not denied.isdisjoint(entry.promises)) for entry in missing
    )
