"""Judges a review of the validating webhook by policies of Gatekeeper, and adds their findings to usher's decision.

They judge as Gatekeeper does: the unchanged AdmissionRequest, UPDATE like CREATE, and every user. They skip only the
namespaces that usher.yaml exempts, as the webhooks do. A policy that cannot be evaluated leads to a warning and never
to a denial.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.cluster.facts.store import Store
from usher.extensions.gatekeeper import constraints, evaluation
from usher.extensions.gatekeeper.evaluation import NotJudged, Policies, Violation
from usher.kinds.reading.values import Reference
from usher.policy.evaluator import Evaluator
from usher.review.admission_review import Review

POINTS: Final = (constraints.WEBHOOK,)

_NAMED: Final = 3
"""The most policies that one warning names."""
_ELSEWHERE: Final = "this server does not evaluate them, and its log says why at its start"
_ORDER: Final = {outcome: number for number, outcome in enumerate(model.Outcome)}


class Found(Struct, frozen=True, kw_only=True):
    """The findings of policies in one review."""

    judgements: tuple[model.Judgement, ...] = ()
    unknowns: tuple[model.Unknown, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.judgements or self.unknowns)


NOTHING: Final = Found()


def may_find(review: Review, policies: Policies) -> bool:
    """Whether a constraint covers the kind of the new or the old object. Most reviews end here."""
    return any(policies.may_match(each, POINTS) for each in (review.value, review.old_value) if each is not None)


def judged(review: Review, policies: Policies, evaluator: Evaluator) -> Found:
    """The findings of the policies for the object of a review; the worst first.

    Args:
        review: the review as the API server sent it. A scale request is judged as a Scale.
        policies: the policies; other threads may use them too.
        evaluator: knows usher.yaml and the Namespaces of the cluster.
    """
    if evaluator.is_exempt(review.namespace):
        return NOTHING
    request = evaluation.review_of_request(review.request, namespace=_namespace(review, evaluator.facts))
    if request is None:
        return NOTHING
    found = list(policies.judged(request, POINTS))
    violations = sorted((each for each in found if isinstance(each, Violation)), key=lambda each: _ORDER[each.outcome])
    not_judged = [each for each in found if isinstance(each, NotJudged)]
    missing = list(policies.unevaluated(request, POINTS))
    return Found(
        judgements=tuple(evaluation.judgement_of_violation(each) for each in violations),
        unknowns=(*_by_reason(not_judged), *_unknown(missing, _ELSEWHERE)),
    )


def joined(decision: model.Decision, found: Found) -> model.Decision:
    """The decision of usher, followed by the findings of policies."""
    if not found:
        return decision
    return replace(
        decision,
        judgements=(*decision.judgements, *found.judgements),
        unknowns=(*decision.unknowns, *found.unknowns),
    )


def _namespace(review: Review, facts: Store) -> paths.Object | None:
    """The Namespace of the object with its name and labels from the facts; None for Namespaces."""
    if not review.namespace or (review.value is not None and constraints.is_namespace(review.value)):
        return None
    found = facts.find(Reference(group="", kind="Namespace", name=review.namespace))
    return found if isinstance(found, dict) else None


def _by_reason(entries: Iterable[NotJudged]) -> Iterable[model.Unknown]:
    """One unknown part for each reason: after a timeout, all later policies have the same reason."""
    keys: dict[str, list[str]] = {}
    for each in entries:
        keys.setdefault(each.reason, []).append(each.constraint.key)
    for reason, names in keys.items():
        yield from _unknown(names, reason)


def _unknown(names: list[str], reason: str) -> Iterable[model.Unknown]:
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield model.Unknown(path=paths.ROOT, reason=f"policy {', '.join(names[:_NAMED])}{more}: {reason}")
