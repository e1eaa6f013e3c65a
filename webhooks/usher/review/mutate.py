"""One review: body in, body out, and a record of what was decided. What HTTP makes of it is the server's matter."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from usher import model, paths
from usher.authorities.authority import QuotaRefusal
from usher.mutation import merge, strategies
from usher.policy.evaluator import Evaluator, Operation, Request
from usher.review import response, scaling
from usher.review.parsing import Review, parse

_PREFIX: Final = "gpu-usher: "
"""Of warnings, which come to users among those of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response body and what is worth logging and counting about it; never the object itself."""

    body: bytes
    review: Review
    allowed: bool
    outcomes: dict[str, str] = field(default_factory=dict)
    """Check name -> outcome, for findings."""
    mutations: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    unknowns: int = 0


def validate(body: bytes, evaluator: Evaluator) -> Answer:
    """Decides about the object of a review.

    Raises:
        ReviewError: the body is no review that we answer.
        EngineError: no verdict; the caller must answer 5xx so that failurePolicy decides.
    """
    review = parse(body)
    return answered(review, decide(review, evaluator))


def decide(review: Review, evaluator: Evaluator, *, refusal: QuotaRefusal | None = None) -> model.Decision:
    """What is decided about the object of a review; about none where it brings none.

    Args:
        review: a scale is not judged itself, but what it scales: one that comes here as it is cannot be judged.
        evaluator: what decides.
        refusal: what a quota says against it.

    Raises:
        EngineError: no verdict.
    """
    if review.value is None:
        return model.Decision(workload=None)
    if scaling.field(review):
        reason = "what it scales is not known here: nobody asks the cluster"
        return model.Decision(workload=None, unknowns=(model.Unknown(path="", reason=reason),))
    return evaluator.decide(replace(request_of(review), refusal=refusal))


def answered(review: Review, decision: model.Decision) -> Answer:
    """The answer of the validating webhook to a decision."""
    answer = response.validated(review.uid, decision, display_name=_display_name(review))
    return Answer(
        body=response.encode(answer),
        review=review,
        allowed=decision.allowed,
        outcomes={judgement.name: judgement.outcome.value for judgement in reversed(decision.judgements)},
        unknowns=len(decision.unknowns),
    )


def mutate(body: bytes, evaluator: Evaluator) -> Answer:
    """Works out the patch for the object of a review.

    Raises:
        ReviewError: the body is no review that we answer.
        EngineError: the engine gave no usable answer.
        MutationError: a patch of ours would not apply.
    """
    review = parse(body)
    merged = merge.Merged(value={}) if review.value is None else evaluator.patch(request_of(review))
    names = tuple(sorted({evaluator.catalogue.mutation_name(intent.mutation) for intent in merged.applied}))
    conflicts = tuple(_conflict(intents, evaluator) for intents in merged.conflicts)
    texts = (*_summary(merged, evaluator), *conflicts, *_left_out(merged, evaluator))
    warnings = [f"{_PREFIX}{text}" for text in texts]
    answer = response.mutated(review.uid, merged.operations, names=names, warnings=warnings)
    return Answer(body=response.encode(answer), review=review, allowed=True, mutations=names, conflicts=conflicts)


def _summary(merged: merge.Merged, evaluator: Evaluator) -> Iterator[str]:
    """What the mutations did, in a line if there is room: a mutation should surprise nobody."""
    told = (intent.mutation for intent in merged.applied if not evaluator.catalogue.is_silent(intent.mutation))
    counts = Counter(map(evaluator.catalogue.mutation_name, told))
    parts = [name if count == 1 else f"{name} ({count} places)" for name, count in sorted(counts.items())]
    line = ""
    for part in parts:
        longer = f"{line}, {part}" if line else f"applied {part}"
        if line and len(_PREFIX) + len(longer) > response.MAX_WARNING:
            yield line
            longer = f"applied {part}"
        line = longer
    if line:
        yield line


def _left_out(merged: merge.Merged, evaluator: Evaluator) -> Iterator[str]:
    """What the user should know of: what a mutation has to say, and what stands in its way."""
    notes = [(note.mutation, note.reason) for note in merged.warnings]
    notes += [(each.intent.mutation, each.reason) for each in merged.skipped if each.told]
    yield from (f"{evaluator.catalogue.mutation_name(key)}: {reason}" for key, reason in dict.fromkeys(notes))


def _conflict(intents: Sequence[model.Intent], evaluator: Evaluator) -> str:
    names = sorted({evaluator.catalogue.mutation_name(intent.mutation) for intent in intents})
    place = f"{strategies.WORDS[intents[0].field]} at {paths.readable(intents[0].at)}"
    return f"{place} left as it is: different values from {' and '.join(names)}"


def request_of(review: Review) -> Request:
    """What is to be decided, from what the API server asks."""
    return Request(
        value=review.value or {},
        operation=review.operation,
        namespace=review.namespace,
        old_value=review.old_value if review.operation is Operation.UPDATE else None,
        sub_resource=review.sub_resource,
        user=review.user,
    )


def _display_name(review: Review) -> str:
    """As people know the object: it may have no name yet, and no namespace of its own."""
    metadata = review.value.get("metadata") if review.value else None
    generated = metadata.get("generateName") if isinstance(metadata, dict) else None
    name = review.name or (f"{generated}*" if isinstance(generated, str) else "(unnamed)")
    qualified = f"{review.namespace}/{name}" if review.namespace else name
    return f"{review.kind[:63]} {qualified[:317]}"
