"""A review of `*/scale`: a Scale names no template, so what is judged is the object that it scales."""

from dataclasses import replace
from typing import Final

from usher import paths
from usher.kinds import registry
from usher.reading.growth import with_number
from usher.review.parsing import Review

SUB_RESOURCE: Final = "scale"


def field(review: Review) -> str:
    """JSON Pointer of the number that the request writes; empty where it is no scale of a kind that we know."""
    if review.sub_resource != SUB_RESOURCE or review.value is None:
        return ""
    kind = registry.scaled(review.resource.group, review.resource.plural)
    return "" if kind is None else kind.scale


def applied(review: Review, scaled: paths.Object) -> Review:
    """The review as one of an UPDATE of the object that is scaled.

    Args:
        review: of its scale; `field` knows where it keeps its number.
        scaled: the object as it is.
    """
    value = with_number(scaled, field(review), _replicas(review.value))
    return replace(review, kind=_text(scaled.get("kind")), sub_resource="", value=value, old_value=scaled)


def _replicas(scale: paths.Object | None) -> int:
    """What the API server takes for none."""
    spec = scale.get("spec") if scale is not None else None
    number = spec.get("replicas") if isinstance(spec, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else 0


def _text(value: paths.Json) -> str:
    return value if isinstance(value, str) else ""
