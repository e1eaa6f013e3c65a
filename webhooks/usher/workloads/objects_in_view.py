"""What rules read of an object beside its pods, and objects without pods that rules read."""

from collections.abc import Mapping
from typing import Any

from usher import model, paths
from usher.kinds import view_registry
from usher.kinds.kubeflow_pipelines.compiled import group_version_kind
from usher.reading import shapes as reading_shapes
from usher.reading.values import Reading


def view(value: paths.Object, group: str, kind: str, reading: Reading) -> Mapping[str, Any]:
    """The shape of an object below the key of its kind; empty for a kind of which rules read nothing else."""
    known = view_registry.BY_GROUP_AND_KIND.get((group, kind))
    if known is None:
        return {}
    return {known.key: reading_shapes.read(known.shape, value, paths.ROOT, reading.also_unknown)}


def read(value: paths.Object, *, namespace: str) -> model.Workload:
    """An object without pods, of a kind that has a shape."""
    group, version, kind = group_version_kind(value)
    known = view_registry.BY_GROUP_AND_KIND[group, kind]
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    if version not in known.versions:
        versions = " and ".join(known.versions)
        reading.unknown("/apiVersion", f"{kind} is known in {versions}, not in {version or 'none'}: not judged")
    named = reading.text(metadata.get("name"), "/metadata/name")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace
    if (group, kind) == ("", "Namespace"):
        within = named  # usher.yaml says of a namespace what it says of the objects in it
    elif known.cluster_scoped:
        within = ""
    return model.Workload(
        group=group,
        version=version,
        kind=kind,
        namespace=within,
        name=named or reading.text(metadata.get("generateName"), "/metadata/generateName"),
        labels=reading.strings(metadata.get("labels"), "/metadata/labels"),
        annotations=reading.strings(metadata.get("annotations"), "/metadata/annotations"),
        role=model.Role.UNKNOWN,
        owner=None,
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        suspended=False,
        pod_sets=(),
        gang=model.Gang(wanted=False),
        view=view(value, group, kind, reading) if version in known.versions else {},
        makes_pods=False,
        unknowns=reading.found(),
    )
