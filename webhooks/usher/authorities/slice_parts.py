"""Parts of the Rego input that several authorities share."""

from collections.abc import Iterable

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.authorities.resource_lists import Unreadable
from usher.authorities.verdict import Part, Reach
from usher.kinds.reading.shapes import Amount, amount_of

REACHES = {Reach.START: "never", Reach.ALL: "not all", Reach.LARGEST: "not largest", Reach.NOW: "not now"}
"""The names of the reaches in the Rego input."""


class PartInput(TypedDict):
    """The pods of one pod set, with what each pod takes."""

    podSet: str
    pods: int
    each: Amount


class UnreadableInput(TypedDict):
    of: str
    field: str
    reason: str


def parts_input(parts: Iterable[Part]) -> list[PartInput]:
    return [{"podSet": part.pod_set, "pods": part.pods, "each": amount_of(part.each)} for part in parts]


def unreadable_input(unreadable: Iterable[Unreadable]) -> list[UnreadableInput]:
    return [{"of": each.of, "field": each.field, "reason": each.reason} for each in unreadable]
