"""A cluster with only known objects, so that any other object is missing."""

from collections.abc import Mapping

from usher import paths
from usher.kinds.reading.values import Absence, Objects, Reference


class Cluster:
    def __init__(self, *values: paths.Object) -> None:
        self._objects = Objects(values)

    def find(self, reference: Reference) -> paths.Object | Absence:
        found = self._objects.find(reference)
        return Absence.MISSING if found is Absence.NOT_KNOWN else found

    def listed(self, group: str, kind: str, namespace: str | None) -> Mapping[str, paths.Object]:
        return self._objects.listed(group, kind, namespace)


def named(api_version: str, kind: str, name: str, namespace: str | None = None) -> paths.Object:
    """An object that only has to exist."""
    metadata: paths.Object = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
