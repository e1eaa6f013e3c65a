"""Reads the fields that all kinds of autoscalers have: a reference to a target, and how many replicas it may have."""

from dataclasses import replace

from usher import paths
from usher.dataclass import dataclass
from usher.reading import lookup
from usher.reading.growth import UNUSABLE, Growth, nearest, object_in
from usher.reading.values import Reading

_TARGET = "/spec/scaleTargetRef"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The field names that one kind has for its bounds, and its defaults for missing fields."""

    minimum: str
    maximum: str
    default_minimum: int
    default_maximum: int | None
    """None where the kind requires a maximum."""
    default_api_version: str = ""
    default_kind: str = ""


def of_autoscaler(value: paths.Object, growth: Growth, reading: Reading, names: Fields) -> Growth:
    """The growth with the target and the bounds of `spec`."""
    if isinstance(value.get("spec"), dict):
        return _with_bounds(value, _with_target(value, growth, reading, names), reading, names)
    if value.get("spec") is None:
        reading.unknown(nearest(value, "/spec"), "has no spec")
    else:
        reading.mapping(value["spec"], "/spec")
    return growth


def _with_target(value: paths.Object, growth: Growth, reading: Reading, names: Fields) -> Growth:
    """The growth with its target; without a target if any part of the reference is invalid.

    No API group means the core group, in which only a ReplicationController can be scaled.
    """
    growth = replace(growth, target_path=nearest(value, _TARGET))
    before = len(reading.unknowns)
    reference = reading.mapping(object_in(value, "spec").get("scaleTargetRef"), _TARGET)
    api_version = reading.text(reference.get("apiVersion"), _TARGET + "/apiVersion") or names.default_api_version
    kind = reading.text(reference.get("kind"), _TARGET + "/kind") or names.default_kind
    name = reading.text(reference.get("name"), _TARGET + "/name")
    if len(reading.unknowns) > before:
        return growth
    if not (kind and name):
        reading.unknown(growth.target_path, "scaleTargetRef must give the kind and the name of the object to scale")
        return growth
    group = api_version.rpartition("/")[0]
    if not group and kind != "ReplicationController":
        path = nearest(value, _TARGET + "/apiVersion")
        reading.unknown(path, f"apiVersion must give the API group of {kind}: without one it is not found")
        return growth
    return replace(
        growth, target=lookup.Reference(group=group, kind=kind, name=name, namespace=growth.source.namespace)
    )


def _with_bounds(value: paths.Object, growth: Growth, reading: Reading, names: Fields) -> Growth:
    """The growth with its minimum and its maximum. Autoscalers do not allow a maximum of 0."""
    spec = object_in(value, "spec")
    path = f"/spec/{names.maximum}"
    growth = replace(growth, maximum_path=nearest(value, path))
    given = spec.get(names.maximum)
    maximum = reading.count(given, path, default=UNUSABLE)
    if given is None and names.default_maximum is not None:
        growth = replace(growth, maximum=names.default_maximum, reason=f"the default of {names.maximum}")
    elif given is None:
        reading.unknown(growth.maximum_path, f"{names.maximum} is required")
    elif maximum == 0:
        reading.unknown(path, "must be at least 1")
    elif maximum != UNUSABLE:
        growth = replace(growth, maximum=maximum, reason="")
    return replace(growth, minimum=_minimum(spec.get(names.minimum), growth.maximum, reading, names))


def _minimum(given: paths.Json, maximum: int | None, reading: Reading, names: Fields) -> int:
    """The minimum: 0 if it is invalid, and at most the maximum."""
    if given is None:
        return names.default_minimum
    path = f"/spec/{names.minimum}"
    minimum = reading.count(given, path, default=0)
    if maximum is None or minimum <= maximum:
        return minimum
    reading.unknown(path, f"is more than the maximum of {maximum}")
    return maximum
