"""The Secret that holds the certificate of all replicas: one write wins, and the other replicas use it."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final, Protocol

from usher import errors, paths
from usher.cluster.api import Answer, Lists
from usher.dataclass import dataclass

_CONFLICTS: Final = (404, 409)


class Writes(Lists, Protocol):
    """An API that writes objects. Each method raises ClusterError without an answer."""

    def put(self, path: str, value: paths.Object) -> Answer:
        """The answer to a PUT of an object, with any status."""
        ...

    def apply(self, path: str, value: paths.Object) -> Answer:
        """The answer to a server-side apply of an object, with any status."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretName:
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"Secret {self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/secrets/{self.name}"


def read(api: Lists, secret: SecretName) -> paths.Object | None:
    """The Secret; None if it does not exist.

    Raises:
        ClusterError: the API server does not answer, or does not allow it.
    """
    answer = api.get(secret.path)
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{secret} cannot be read: {answer.message}")
    return answer.value


def make_empty(api: Writes, secret: SecretName) -> None:
    """Makes the Secret without data, if it does not exist; an existing Secret stays unchanged.

    Server-side apply names the object that it creates, so RBAC can allow the creation of this one Secret.

    Raises:
        ClusterError: the API server does not answer, or does not allow it.
    """
    value: paths.Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret.name, "namespace": secret.namespace},
        "type": "Opaque",
    }
    answer = api.apply(secret.path, value)
    if answer.status not in (200, 201, 409):
        raise errors.ClusterError(f"{secret} is missing and cannot be made: {answer.message}")


def write(api: Writes, secret: SecretName, found: paths.Object, data: Mapping[str, bytes]) -> bool:
    """Replaces the data of the Secret as it was read; False if another client wrote or deleted it meanwhile.

    Raises:
        ClusterError: the API server does not answer, or does not allow it.
    """
    encoded: paths.Object = {part: base64.b64encode(content).decode() for part, content in data.items()}
    answer = api.put(secret.path, {**found, "data": encoded})
    if answer.status in _CONFLICTS:
        return False
    if answer.status != 200:
        raise errors.ClusterError(f"{secret} cannot be written: {answer.message}")
    return True


def data(found: paths.Object) -> Mapping[str, bytes]:
    """The parts of a Secret; one that is not base64 is empty."""
    parts = found.get("data")
    return {part: _decoded(value) for part, value in parts.items()} if isinstance(parts, dict) else {}


def _decoded(value: paths.Json) -> bytes:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except binascii.Error:
        return b""
