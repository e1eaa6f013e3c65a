"""The mutating review: takes a body and returns a body with a patch."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from usher import model, paths
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge, strategies
from usher.review import oversized, response
from usher.review.parsing import parse, request_of
from usher.review.response import Answer

_PREFIX: Final = "gpu-usher: "
"""The prefix of our warnings, which users see among those of others."""


def mutate(body: bytes, evaluator: Evaluator) -> Answer:
    """The patch for the object of a review.

    Raises:
        ReviewError: the body is not a review that we answer.
        EngineError: the engine gave no usable answer.
        MutationError: a patch of ours would not apply.
    """
    review = parse(body)
    if (answer := oversized.mutated(review) if review.many else None) is not None:
        return answer
    merged = merge.Merged(value={}) if review.value is None else evaluator.patch(request_of(review))
    names = tuple(sorted({evaluator.catalogue.mutation_name(intent.mutation) for intent in merged.applied}))
    conflicts = tuple(_conflict(intents, evaluator) for intents in merged.conflicts)
    texts = (*_summary(merged, evaluator), *conflicts, *_left_out(merged, evaluator))
    warnings = [f"{_PREFIX}{text}" for text in texts]
    patched = response.mutated(review.uid, merged.operations, names=names, warnings=warnings)
    return Answer(body=response.encode(patched), review=review, allowed=True, mutations=names, conflicts=conflicts)


def _summary(merged: merge.Merged, evaluator: Evaluator) -> Iterator[str]:
    """Names the applied mutations, in one line if they fit, so that users are not surprised."""
    if not merged.applied:
        return
    told = (intent.mutation for intent in merged.applied if not evaluator.catalogue.is_silent(intent.mutation))
    counts = Counter(map(evaluator.catalogue.mutation_name, told))
    parts = [name if count == 1 else f"{name} ({count} places)" for name, count in sorted(counts.items())]
    line = ""
    for part in parts:
        longer = f"{line}, {part}" if line else f"applied {part}"
        if line and len(_PREFIX) + len(longer) > response.room(response.MAX_WARNINGS):
            yield line
            longer = f"applied {part}"
        line = longer
    if line:
        yield line


def _left_out(merged: merge.Merged, evaluator: Evaluator) -> Iterator[str]:
    """Notes of mutations for the user, and why mutations were skipped."""
    notes = [(note.mutation, note.reason) for note in merged.warnings]
    notes += [(each.intent.mutation, each.reason) for each in merged.skipped if each.told]
    yield from (f"{evaluator.catalogue.mutation_name(key)}: {reason}" for key, reason in dict.fromkeys(notes))


def _conflict(intents: Sequence[model.Intent], evaluator: Evaluator) -> str:
    names = sorted({evaluator.catalogue.mutation_name(intent.mutation) for intent in intents})
    place = f"{strategies.WORDS[intents[0].field]} at {paths.readable(intents[0].at)}"
    return f"{place} left as it is: different values from {' and '.join(names)}"
