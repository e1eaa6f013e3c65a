"""The labels of a namespace."""

from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.facts.store import Store
from usher.reading.lookup import Absence, Reference

_NAME: Final = "kubernetes.io/metadata.name"


def labels(name: str, facts: Store) -> Mapping[str, str] | None:
    """The labels of a namespace, with the one that the API server adds to all; None where a label is unknown."""
    found = facts.find(Reference(group="", kind="Namespace", name=name))
    if isinstance(found, Absence):
        return None
    written = paths.metadata(found).get("labels")
    result = {_NAME: name}
    if written is None:
        return result
    if not isinstance(written, dict):
        return None
    for key, value in written.items():
        if not isinstance(value, str | None):
            return None
        result[key] = value or ""
    return result
