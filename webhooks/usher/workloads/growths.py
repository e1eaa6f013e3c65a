"""Reads how many replicas an autoscaler or a scale allows another object. Pure, never raises."""

from dataclasses import replace

from usher import paths
from usher.kinds import registry
from usher.kinds.kubeflow_pipelines.compiled import group_version_kind
from usher.reading import lookup
from usher.reading.growth import Growth
from usher.reading.values import Reading


def growth_of(value: paths.Object, *, namespace: str = "") -> Growth | None:
    """The growth that an object allows; None for a kind that does not scale others.

    Args:
        value: the object as JSON, with `apiVersion` and `kind`.
        namespace: the namespace of an object without one.
    """
    group, version, kind = group_version_kind(value)
    known = registry.BY_KEY.get((group, kind))
    if known is None or known.autoscaler is None:
        return None
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    name = reading.text(metadata.get("name"), "/metadata/name")
    prefix = reading.text(metadata.get("generateName"), "/metadata/generateName")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace
    growth = Growth(
        source=lookup.Reference(group=group, kind=kind, name=name or (prefix and f"{prefix}*"), namespace=within),
        version=version,
        target=lookup.Reference(group="", kind="", name="", namespace=within),
        minimum=0,
        maximum=None,
        reason="its maximum could not be read",
    )
    if version in known.versions:
        growth = known.autoscaler(value, growth, reading)
    else:
        here = f"in {version}" if version else "without a version"
        reading.unknown("/apiVersion", f"{kind} is known in {' and '.join(known.versions)}, not {here}: not judged")
    return replace(growth, unknowns=reading.found())
