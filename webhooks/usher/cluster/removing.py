"""Removes objects from a cluster, one by one."""

from enum import StrEnum
from typing import Protocol

from usher import errors, paths
from usher.cluster.api import Answer, Lists


class Outcome(StrEnum):
    """The result for an object."""

    DELETED = "deleted"
    ABSENT = "not there"
    KEPT = "kept, because gpu-usher did not make it"


class Api(Lists, Protocol):
    """An API that deletes. Each method raises ClusterError without an answer."""

    def delete(self, path: str, value: paths.Object) -> Answer:
        """The answer to a DELETE request with DeleteOptions, with any status."""
        ...


def is_there(api: Lists, path: str) -> bool:
    """Whether an object exists and is not being deleted.

    Raises:
        ClusterError: the API server does not say.
    """
    return _read(api, path) is not None


def remove(api: Api, path: str, *, label: tuple[str, str] | None = None) -> Outcome:
    """Deletes an object, and its dependents in the background.

    Args:
        api: the API server.
        path: the path of the object.
        label: the label that it must have; None to delete it with any labels.

    Raises:
        ClusterError: it cannot be deleted, or the API server does not answer.
    """
    found = _read(api, path)
    if found is None:
        return Outcome.ABSENT
    metadata = found.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    if label is not None and (not isinstance(labels, dict) or labels.get(label[0]) != label[1]):
        return Outcome.KEPT
    options: paths.Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    answer = api.delete(path, options)
    if answer.status == 404:
        return Outcome.ABSENT
    if answer.status not in (200, 202):
        raise errors.ClusterError(f"{path} cannot be deleted: {answer.message}")
    return Outcome.DELETED


def count(api: Lists, path: str) -> int | None:
    """The number of objects of a kind; None if the kind is not installed.

    Raises:
        ClusterError: the API server does not list them.
    """
    answer = api.get(path, query={"limit": "1"})
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{path} cannot be listed: {answer.message}")
    items, metadata = answer.value.get("items"), answer.value.get("metadata")
    more = metadata.get("remainingItemCount") if isinstance(metadata, dict) else None
    return (len(items) if isinstance(items, list) else 0) + (more if isinstance(more, int) else 0)


def _read(api: Lists, path: str) -> paths.Object | None:
    answer = api.get(path)
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
    metadata = answer.value.get("metadata")
    ends = isinstance(metadata, dict) and metadata.get("deletionTimestamp") is not None
    return None if ends else {**answer.value}
