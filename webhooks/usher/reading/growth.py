"""How many replicas one object lets another one have. Read from autoscalers and scales, written into their targets."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import NoneType

from usher import model, paths
from usher.dataclass import dataclass
from usher.reading import lookup
from usher.reading.values import Reading

UNUSABLE = -1
"""A missing or wrong number that no default may replace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How many replicas one object lets another one have: pods, groups or Workers, as the target counts them."""

    source: lookup.Reference
    version: str
    """The API version of the source, without its group."""
    target: lookup.Reference
    """The target. Kind and name are empty if the source lacks them. It has no version: autoscalers ignore it."""
    minimum: int
    maximum: int | None
    """None without a bound, or if the bound could not be read: then `unknowns` has the reason."""
    reason: str = ""
    """The reason for the maximum, if the source does not state it."""
    maximum_path: str = paths.ROOT
    """The field with the maximum, or the object that lacks it. Like all paths here it leads into the source."""
    target_path: str = paths.ROOT
    role: str = ""
    """The role of the target that grows; empty where the whole target grows (roles: DisaggregatedSet)."""
    held: bool = False
    """True while the target keeps its current number in spite of the bounds (a paused ScaledObject)."""
    unknowns: tuple[model.Unknown, ...] = ()


ReadGrowth = Callable[[paths.Object, Growth, Reading], Growth]
"""Completes the growth that an object of one kind allows: its target and its bounds."""


def of_number(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth to the one number in `spec.replicas`, which is 0 if it is missing."""
    given = reading.mapping(value.get("spec"), "/spec").get("replicas")
    growth = replace(growth, maximum_path=nearest(value, "/spec/replicas"))
    number = reading.count(given, "/spec/replicas", default=UNUSABLE)
    if given is None and isinstance(value.get("spec"), dict | NoneType):
        number = 0
    return growth if number == UNUSABLE else replace(growth, minimum=number, maximum=number, reason="")


def nearest(value: paths.Object, pointer: str) -> str:
    """The pointer, or its innermost part that exists in the object."""
    while pointer:
        try:
            paths.resolve(value, pointer)
        except LookupError:
            pointer, _, _ = pointer.rpartition("/")
        else:
            break
    return pointer


def object_in(value: paths.Object, key: str) -> Mapping[str, paths.Json]:
    """An object inside the object; empty where it is missing or has a wrong type, which is recorded elsewhere."""
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def with_number(value: paths.Object, pointer: str, number: int) -> paths.Object:
    """The object with another number at a pointer; the same object if it has no place for that field.

    Only the objects on the way are copied. The rest is shared, so callers must change neither object.
    """
    return _replaced(value, paths.split(pointer), number) or value


def _replaced(holder: paths.Json, keys: list[str], number: int) -> paths.Object | None:
    """The changed object; None if an object on the way is missing. Only the field itself may be missing."""
    if not isinstance(holder, dict) or not keys:
        return None
    key, *rest = keys
    if not rest:
        return {**holder, key: number}
    inner = _replaced(holder.get(key), rest, number)
    return None if inner is None else {**holder, key: inner}
