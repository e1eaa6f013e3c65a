"""Where a kind has the fields that mutations of the object set: its gang, its end, its controller."""

from functools import lru_cache
from typing import NotRequired  # pydantic reads the standard one only from Python 3.12 on

from typing_extensions import TypedDict

from usher import model


class GangPlaces(TypedDict):
    """Where the kind says what makes its pods a gang, as JSON Pointers; absent where it has no place for it."""

    queue: NotRequired[str]
    minimum: NotRequired[str]
    priorityClass: NotRequired[str]
    scheduler: NotRequired[str]
    onTemplates: bool
    """Whether every template must name the scheduler as well."""
    countedByOperator: bool


class Lifecycle(TypedDict):
    """Fields that end the object or hand it over, as JSON Pointers; absent where the kind lacks the field."""

    ttl: NotRequired[str]
    deadline: NotRequired[str]
    managedBy: NotRequired[str]


@lru_cache(maxsize=64)
def gang_places(places: model.GangPlaces) -> GangPlaces:
    """The fields of a gang; remembered, because a kind has the same in all objects."""
    result: GangPlaces = {"onTemplates": places.on_templates, "countedByOperator": places.counted_by_operator}
    if places.queue is not None:
        result["queue"] = places.queue
    if places.minimum is not None:
        result["minimum"] = places.minimum
    if places.priority_class is not None:
        result["priorityClass"] = places.priority_class
    if places.scheduler is not None:
        result["scheduler"] = places.scheduler
    return result


@lru_cache(maxsize=64)
def lifecycle(places: model.LifecyclePlaces) -> Lifecycle:
    """The fields that end an object or hand it over; remembered as well."""
    result: Lifecycle = {}
    if places.ttl is not None:
        result["ttl"] = places.ttl
    if places.deadline is not None:
        result["deadline"] = places.deadline
    if places.managed_by is not None:
        result["managedBy"] = places.managed_by
    return result
