"""All objects of one kind, a page at a time, each trimmed to what is kept of it as it comes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

from usher import paths
from usher.cluster.api import JSON, Lists, root
from usher.kinds.kept_fields import FactKind

PAGE: Final = 200
"""Objects per request, and so whole in memory at a time, for each kind that is listed: nodes of 14 kB are ten times as
large once they are read."""

_METADATA_OF_MANY: Final = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_METADATA_OF_ONE: Final = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is listed and watched: all objects of a kind, or one of them by its name."""

    kind: FactKind
    namespace: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """As people and metrics call it."""
        return f"{self.kind.resource}/{self.name}" if self.name else self.kind.resource

    @property
    def query(self) -> Mapping[str, str]:
        # The API server knows this form, and takes it for a request about that name when it asks RBAC.
        return {"fieldSelector": f"metadata.name={self.name}"} if self.name else {}

    def path(self, version: str) -> str:
        within = f"namespaces/{self.namespace}/" if self.namespace else ""
        return f"{root(self.kind.group, version)}/{within}{self.kind.plural}"

    def accept(self, *, watch: bool) -> str:
        """The media type to ask for; contents that nobody may read never leave the API server."""
        if not self.kind.presence_only or self.name:
            return JSON
        return _METADATA_OF_ONE if watch else _METADATA_OF_MANY

    def kept(self, value: paths.Object, version: str) -> paths.Object:
        """What is kept of an object, which says itself what it is: items of a list need not."""
        api_version = f"{self.kind.group}/{version}" if self.kind.group else version
        return self.kind.keep({**value, "apiVersion": api_version, "kind": self.kind.kind})


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """All objects that there are, in a version that the API server serves, as of a resource version."""

    version: str
    resource_version: str
    values: list[paths.Object]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotServed:
    """The API server does not know the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """It knows the kind and does not list it."""

    status: int
    reason: str

    @property
    def forbidden(self) -> bool:
        return self.status == 403


def read(api: Lists, target: Target) -> Listed | NotServed | Refused:
    """Lists a target in the first version that is served.

    The state is that of the moment of the first page (no resource version is asked for), so that one API server of
    several that lags behind cannot take us back in time, and pages keep what is in memory at once small.

    Raises:
        ClusterError: the API server does not answer.
    """
    for version in target.kind.versions:
        found = _read(api, target, version)
        if not isinstance(found, NotServed):
            return found
    return NotServed()


def _read(api: Lists, target: Target, version: str) -> Listed | NotServed | Refused:
    values: list[paths.Object] = []
    token = ""
    while True:
        query = {"limit": str(PAGE), **target.query, **({"continue": token} if token else {})}
        answer = api.get(target.path(version), query=query, accept=target.accept(watch=False))
        if answer.status == 404:
            return NotServed()
        if answer.status != 200:
            # 410: the state of the first page is gone. Whoever asked begins again, after a while.
            return Refused(status=answer.status, reason=answer.message)
        items = answer.value.get("items")
        if items is not None and not isinstance(items, list):
            return Refused(status=200, reason="the answer is no list")
        values += (target.kept(item, version) for item in items or () if is_named(item))
        metadata = _metadata(answer.value)
        token = _text(metadata.get("continue"))
        if not token:
            resource_version = _text(metadata.get("resourceVersion"))
            return Listed(version=version, resource_version=resource_version, values=values)


def is_named(value: paths.Json) -> TypeGuard[paths.Object]:
    """Whether something is an object that can be told from others."""
    return isinstance(value, dict) and bool(_text(_metadata(value).get("name")))


def resource_version(value: paths.Object) -> str:
    """That of an object; empty where it has none."""
    return _text(_metadata(value).get("resourceVersion"))


def _metadata(value: paths.Object) -> Mapping[str, paths.Json]:
    metadata = value.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _text(value: paths.Json) -> str:
    return value if isinstance(value, str) else ""
