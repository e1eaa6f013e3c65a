"""One object of an API server, read by its name."""

import re
from typing import Final

from usher import errors, paths
from usher.cluster.api import Lists, root
from usher.dataclass import dataclass

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
"""The names that may be part of a request's path: they come from owner references, which may hold any text."""

_VERSION: Final = re.compile(r"v[0-9a-z]{1,62}", re.ASCII)

_UNSEEN: Final = (403, 404)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPath:
    """The place of a namespaced object at the API server."""

    group: str
    version: str
    plural: str
    namespace: str
    name: str


def read(api: Lists, at: ObjectPath, *, uid: paths.Json = None) -> paths.Object | None:
    """The current object.

    Args:
        api: the API server.
        at: where to read it.
        uid: the expected uid; None accepts any.

    Returns:
        None if the object is missing, has another uid, or may not be read.

    Raises:
        ClusterError: the API server does not answer, or cannot.
    """
    if not (_NAME.fullmatch(at.namespace) and _NAME.fullmatch(at.name) and _VERSION.fullmatch(at.version)):
        return None
    answer = api.get(f"{root(at.group, at.version)}/namespaces/{at.namespace}/{at.plural}/{at.name}")
    if answer.status in _UNSEEN:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{at.plural} {at.namespace}/{at.name} cannot be read: {answer.message}")
    metadata = answer.value.get("metadata")
    same = isinstance(metadata, dict) and uid in (None, metadata.get("uid"))
    return {**answer.value} if same else None
