"""Formats requirements on node labels for messages and reports."""

from typing import Final

from usher.authorities.nodes.places import Places
from usher.model.placement import Requirement

_VALUES: Final = 5
"""How many values of a label or a requirement a message names."""

_LONGEST: Final = 63
"""The most characters of a label value."""


def requirement(wanted: Requirement) -> str:
    """The text of a requirement: `zone=a`, `zone in (a, b)`."""
    shown = [value[:_LONGEST] for value in wanted.values[:_VALUES]]
    listed = ", ".join([*shown, "..."] if len(wanted.values) > _VALUES else shown)
    match wanted.operator:
        case "In" if len(wanted.values) == 1:
            return f"{wanted.key}={listed}"
        case "In":
            return f"{wanted.key} in ({listed})"
        case "NotIn":
            return f"{wanted.key} not in ({listed})"
        case "Gt" | "Lt":
            return f"{wanted.key} {'>' if wanted.operator == 'Gt' else '<'} {listed}"
        case operator:
            return f"{wanted.key} {operator}"


def values(key: str, places: Places) -> list[str]:
    """Some values of a label on the nodes, in order; empty for a label that differs from node to node."""
    return sorted({place.labels[key] for place in places.all if key in place.labels})[:_VALUES]
