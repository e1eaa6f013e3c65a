"""Tasks, pipelines and step actions that Tekton's objects name, and what differs between the versions of its API."""

from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.reading import layers
from usher.reading.lookup import Reference
from usher.reading.templates import NOWHERE, Place
from usher.reading.values import Reading

GROUP: Final = "tekton.dev"

PARAMETER: Final = "$("
"""The start of a text that is known only when a run starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """How a version of the API names the fields that differ."""

    resources: str
    step_specs: str
    sidecar_specs: str


V1: Final = Version(resources="computeResources", step_specs="stepSpecs", sidecar_specs="sidecarSpecs")
V1BETA1: Final = Version(resources="resources", step_specs="stepOverrides", sidecar_specs="sidecarOverrides")


def version_of(value: Mapping[str, paths.Json]) -> Version:
    """The version of a whole object."""
    return V1BETA1 if value.get("apiVersion") == f"{GROUP}/v1beta1" else V1


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A TaskSpec, from the object or from a reference."""

    spec: Place
    version: Version
    is_own: bool
    """Whether it stands in the object itself."""
    is_known: bool = True
    """False for a reference to a task that cannot be found."""
    metadata: Place = NOWHERE


def referenced(
    ref: Place, kind: str, *, consequence: str, reading: Reading, namespace: str | None = None
) -> Place | None:
    """The object that a reference names, with paths below the name; None if it cannot be found.

    Args:
        ref: an object with `name`, or with `resolver` or `bundle`, which say where on the network to look.
        kind: of the object.
        consequence: the facts that are unknown without it, for the message.
        reading: looks it up.
        namespace: of the object; None for the namespace of the referring object.
    """
    value, path = reading.mapping(*ref), ref.path
    name = reading.text(value.get("name"), path + "/name")
    for field in ("resolver", "bundle"):
        if reading.text(value.get(field), f"{path}/{field}"):
            reading.unknown(f"{path}/{field}", f"the {kind} is fetched only when it runs: {consequence}")
            return None
    if not name:
        return None
    if PARAMETER in name:
        reading.unknown(path + "/name", f"which {kind} it is, is known only when it runs: {consequence}")
        return None
    within = reading.context.namespace if namespace is None else namespace
    reference = Reference(group=GROUP, kind=kind, name=name, namespace=within)
    found = reading.look_up(reference, path + "/name", consequence=consequence)
    if found is None:
        return None
    reading.record_reference(path + "/name", reference)
    return Place(found, path + "/name")


def task_of_reference(ref: Place, reading: Reading) -> Task:
    """The task that a `taskRef` names."""
    value = reading.mapping(*ref)
    kind = reading.text(value.get("kind"), ref.path + "/kind") or "Task"
    namespace = "" if kind == "ClusterTask" else None
    found = referenced(ref, kind, consequence="its steps are not judged", reading=reading, namespace=namespace)
    if found is None:
        return Task(spec=Place(None, ref.path), version=V1, is_own=False, is_known=False)
    (spec,), (metadata,) = layers.field((found,), "spec"), layers.field((found,), "metadata")
    return Task(spec=spec, version=version_of(reading.mapping(*found)), is_own=False, metadata=metadata)
