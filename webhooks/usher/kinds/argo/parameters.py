"""The parameters of a whole workflow whose values stand in the object itself.

Source: AR:workflow/controller/operator.go (setGlobalParameters), AR:workflow/util/merge.go (JoinWorkflowSpec).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import orjson

from usher.dataclass import dataclass
from usher.reading import layers
from usher.reading.templates import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A known value, read once: any number of steps may refer to it."""

    text: str
    items: int | None
    """The length of the JSON list in the value; None for any other value."""


Parameters = Mapping[str, Parameter | None]
"""Parameters by name; None where the value comes from somewhere else."""

NOT_KNOWN: Final[Parameters] = {}

_REFERENCE: Final = re.compile(r"\{\{\s{0,9}workflow\.parameters\.([-\w]{1,253})\s{0,9}\}\}", re.ASCII)


def of_workflow(specs: Sequence[Place]) -> Parameters:
    """The parameters of a workflow; entries that cannot be read are left out.

    Args:
        specs: the WorkflowSpec, and below it that of the template it refers to as a whole.
    """
    found: dict[str, Parameter | None] = {}
    for name, entry in _entries(specs):
        value = entry.get("value")
        if name in found or (value is None and entry.get("valueFrom") is None):
            continue
        known = isinstance(value, str | int) and not isinstance(value, bool)
        found[name] = Parameter(text=str(value), items=items_of(str(value))) if known else None
    return found


def _entries(specs: Sequence[Place]) -> Iterator[tuple[str, Mapping[str, object]]]:
    for place in layers.field(layers.field(specs, "arguments"), "parameters"):
        for entry in place.value if isinstance(place.value, list) else ():
            if isinstance(entry, dict) and isinstance(name := entry.get("name"), str):
                yield name, entry


def named(text: str, parameters: Parameters) -> Parameter | None:
    """The parameter that is the whole text; None for other texts and for unknown parameters."""
    reference = _REFERENCE.fullmatch(text)
    return None if reference is None else parameters.get(reference[1])


def items_of(text: str) -> int | None:
    """The length of a JSON list; None for any other text."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return len(value) if isinstance(value, list) else None
