"""Reviews `*/scale`: a Scale has no template, so usher judges the scaled object."""

from dataclasses import replace
from typing import Final

from usher import paths
from usher.kinds import registry
from usher.kinds.reading.counts import with_number_at
from usher.review.parsing import Review

SUB_RESOURCE: Final = "scale"


def field(review: Review) -> str:
    """JSON Pointer of the number that the request writes; empty if it does not scale a supported kind."""
    if review.sub_resource != SUB_RESOURCE or review.value is None:
        return ""
    kind = registry.scaled(review.resource.group, review.resource.plural)
    return "" if kind is None else kind.scale


def applied(review: Review, scaled: paths.Object) -> Review:
    """The review as an UPDATE of the scaled object.

    Args:
        review: the review of the Scale; `field` gives the place of its number.
        scaled: the object before the update.
    """
    value = with_number_at(scaled, field(review), _replicas(review.value))
    return replace(review, kind=_text(scaled.get("kind")), sub_resource="", value=value, old_value=scaled)


def _replicas(scale: paths.Object | None) -> int:
    """The number of replicas; 0 if absent, as in the API server."""
    spec = scale.get("spec") if scale is not None else None
    number = spec.get("replicas") if isinstance(spec, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else 0


def _text(value: paths.Json) -> str:
    return value if isinstance(value, str) else ""
