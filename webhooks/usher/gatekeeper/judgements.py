"""Results of policies in the values of usher: judgements and unknowns, the same in a review, in CI and in an audit."""

from typing import Final

from usher import model, paths
from usher.gatekeeper.evaluation import NotJudged, Violation
from usher.model.decisions import GATEKEEPER

_NO_MESSAGE: Final = "(no message)"


def of_violation(violation: Violation) -> model.Judgement:
    """A violation as a finding about the whole object, because a policy does not name the wrong field."""
    constraint = violation.constraint
    return model.Judgement(
        finding=model.Finding(
            check=f"{GATEKEEPER}{constraint.key}", path=paths.ROOT, message=violation.message or _NO_MESSAGE
        ),
        outcome=violation.outcome,
        code=constraint.kind,
        name=constraint.name,
    )


def of_not_judged(entry: NotJudged) -> model.Unknown:
    """An unknown part of the object, without a check, because usher.yaml knows no policies."""
    return model.Unknown(path=paths.ROOT, reason=f"{entry.constraint.key}: {entry.reason}")
