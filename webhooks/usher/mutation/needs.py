"""What must be in the cluster before something is given: a pod that mounts a missing ConfigMap never starts."""

from collections.abc import Iterable, Mapping

from usher import model, paths
from usher.workloads.lookup import Absence, Lookup, Reference


def missing(needs: Iterable[model.Need], objects: Lookup) -> str:
    """Which of the needs is known to be unmet; empty where all are met, or nobody knows."""
    for need in needs:
        reference = Reference(group=need.group, kind=need.kind, name=need.name, namespace=need.namespace)
        found = objects.find(reference)
        if found is Absence.MISSING:
            return f"{reference} is not there"
        if isinstance(found, dict):
            for key, values in need.labels.items():
                value = _label(found, key)
                if value not in values:
                    return f"{reference} has the label {key}={value}"
    return ""


def _label(value: Mapping[str, paths.Json], key: str) -> str:
    metadata = value.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    found = labels.get(key) if isinstance(labels, dict) else None
    return found if isinstance(found, str) else ""
