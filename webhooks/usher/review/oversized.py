"""The answers for objects with more parts than usher judges (`review.sizes`).

usher denies a pod that is too large, because no later review can judge it. It admits any other object with a warning,
because later reviews judge its pods when they are created.
"""

from typing import Final

from usher import model, paths
from usher.config import selection
from usher.policy.decision import OBSERVE, Operation
from usher.policy.evaluator import Evaluator
from usher.review import response, sizes
from usher.review.parsing import Review
from usher.review.response import Answer

OUTCOME: Final = "object-size"
"""The name of this reason in logs and metrics."""


def validated(review: Review, evaluator: Evaluator) -> Answer | None:
    """The verdict about an object that is too large to judge; None for any other object."""
    found = _excess(review)
    if found is None:
        return None
    denied = found.of_a_pod and not _is_spared(review, evaluator)
    answer: response.Response = {"uid": review.uid, "allowed": not denied}
    if denied:
        remedy = "Divide it among several pods."
        message = f"{review.kind[:63]} {response.shown(review.name, 253)} has {found.text}. {remedy}"
        answer["status"] = {"code": 413, "reason": "RequestEntityTooLarge", "message": message}
    else:
        later = "usher judges its pods when they are created" if not found.of_a_pod else "no rule has looked at it"
        answer["warnings"] = response.sanitised([f"not judged: {found.text}", f"not judged: {later}"])
    outcome = "deny" if denied else "warn"
    return Answer(
        body=response.encode(answer), review=review, allowed=not denied, outcomes={OUTCOME: outcome}, unknowns=1
    )


def decision(review: Review) -> model.Decision:
    """The decision about an object that usher admits although it is too large to judge."""
    found = _excess(review)
    unknowns = (model.Unknown(path=paths.ROOT, reason=found.text),) if found is not None else ()
    return model.Decision(workload=None, unknowns=unknowns)


def mutated(review: Review) -> Answer | None:
    """The answer without a patch for an object that is too large; None for any other object."""
    found = _excess(review)
    if found is None:
        return None
    answer: response.Response = {"uid": review.uid, "allowed": True}
    answer["warnings"] = response.sanitised([f"gpu-usher: left as it is: {found.text}"])
    return Answer(body=response.encode(answer), review=review, allowed=True)


def _excess(review: Review) -> sizes.Excess | None:
    if not review.many or review.value is None or review.operation not in (Operation.CREATE, Operation.UPDATE):
        return None
    return sizes.excess(review.value)


def _is_spared(review: Review, evaluator: Evaluator) -> bool:
    """Whether usher only observes, or a denial would hit an exempt namespace, a deletion, or an existing object."""
    config = evaluator.config
    if config.enforcement.preset == OBSERVE or selection.matches_pattern(review.namespace, config.exempt_namespaces):
        return True
    if review.operation is not Operation.UPDATE or review.value is None:
        return False
    metadata = review.value.get("metadata")
    deleting = isinstance(metadata, dict) and metadata.get("deletionTimestamp") is not None
    before = sizes.excess(review.old_value) if review.old_value else None
    return deleting or (before is not None and before.of_a_pod)
