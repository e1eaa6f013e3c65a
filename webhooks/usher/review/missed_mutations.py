"""Decisions about objects that the mutating webhook did not change in time.

The timeout of that webhook is short, and the API server goes on without it. An object that the mutations would still
change did not meet them. What they would have mended is the fault of usher and not of the user, so it is never a
denial. A critical check denies all the same: it guards against tenants, whatever the mutations would have made.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from usher import errors, model
from usher.policy.checks.catalogue import Catalogue, Severity
from usher.policy.evaluator import Evaluator, Operation, Request

BECAUSE: Final = "the mutating webhook did not change this object in time, and would have mended this"


def forgiven(decision: model.Decision, request: Request, evaluator: Evaluator) -> model.Decision:
    """The decision, with warnings instead of denials that the mutations would have mended.

    Only the denial of a new object is looked at, so that no other review costs more.

    Raises:
        EngineError: the engine gave no usable answer.
        MissedMutationError: usher.yaml lets no object in without its mutations, and nothing else is wrong with it.
    """
    if decision.allowed or request.operation is not Operation.CREATE or request.sub_resource:
        return decision
    # Patches of like Pods are remembered, so that controllers that try again and again cost little.
    if not evaluator.patch(request).operations:
        return decision
    merged, after = evaluator.admit(request)
    left = {(each.finding.check, each.finding.message) for each in after.judgements}
    judgements = tuple(
        replace(each, outcome=model.Outcome.WARN, because=BECAUSE)
        if each.outcome is model.Outcome.DENY and _would_be_mended(each.finding, left, evaluator.catalogue)
        else each
        for each in decision.judgements
    )
    if judgements == decision.judgements:
        return decision
    names = tuple(sorted({evaluator.catalogue.mutation_name(intent.mutation) for intent in merged.applied}))
    result = replace(decision, judgements=judgements, missed=names)
    if result.allowed and evaluator.config.mutations.missed == "error":
        raise errors.MissedMutationError(
            f"the mutating webhook did not change this object in time ({', '.join(names)}); create it again"
        )
    return result


def _would_be_mended(finding: model.Finding, left: Collection[tuple[str, str]], entries: Catalogue) -> bool:
    critical = entries.checks[finding.check].severity is Severity.CRITICAL
    return not critical and (finding.check, finding.message) not in left
