"""Requests to an API server, single objects and lists. Tests put an API server of their own behind these protocols."""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

import orjson
from msgspec import Struct

from usher import errors, memo, paths
from usher.kinds.kind import FactKind

JSON: Final = "application/json"


class Answer(Struct, frozen=True, kw_only=True):
    """The answer of the API server; `value` is its JSON object, a Status if the request failed."""

    status: int
    value: paths.Object
    date: str = ""
    """The header Date: when the server answered, by its own clock; empty where the header is missing."""

    @property
    def message(self) -> str:
        """The reason of a failure, in the server's words."""
        message = self.value.get("message")
        return message if isinstance(message, str) and message else f"HTTP status {self.status}"


_TEMPORARY: Final = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses of an API server that is busy, or that another process hides for a moment."""


def failure(answer: Answer, text: str) -> errors.ClusterError:
    """The error for a refusal: `text` and the reason; an UnavailableError if a later try may succeed."""
    kind = errors.UnavailableError if answer.status in _TEMPORARY else errors.ClusterError
    return kind(f"{text}: {answer.message}")


class Stream(Protocol):
    """An answer whose body arrives over time, until the server ends it."""

    @property
    def refusal(self) -> Answer | None:
        """The whole answer if the server refused the request; None otherwise."""
        ...

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes in, until the server ends it.

        Raises:
            ClusterError: the connection is lost.
            StalledError: nothing came for too long.
        """
        ...


class Lists(Protocol):
    """Requests that are answered as a whole."""

    @property
    def name(self) -> str:
        """The name of the cluster in messages."""
        ...

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        """The answer to a GET request, whatever its status. Raises ClusterError where the server does not answer."""
        ...


class Api(Lists, Protocol):
    """Requests that are answered as a whole or as a stream."""

    def stream(
        self, path: str, *, query: Mapping[str, str], silence: float, accept: str = JSON
    ) -> AbstractContextManager[Stream]:
        """The answer to a GET request as it comes; `silence` is the longest pause in seconds.

        Raises ClusterError where the server does not answer.
        """
        ...


_OURS: Final = "gpu-usher"
_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def runs_in_cluster() -> bool:
    """Whether this process runs in a pod."""
    return "KUBERNETES_SERVICE_HOST" in os.environ


def has_account() -> bool:
    """Whether this is a pod with the token of a service account."""
    return runs_in_cluster() and (_ACCOUNT / "token").exists()


def own_namespace() -> str:
    """The namespace of this pod; outside of a cluster the namespace of our manifests."""
    with contextlib.suppress(OSError):
        return (_ACCOUNT / "namespace").read_text(encoding="utf-8").strip() or _OURS
    return _OURS


def group_path(group: str, version: str) -> str:
    """The path of a version of a group."""
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def parse_json(data: bytes) -> paths.Json:
    """The value of JSON. Where orjson is too strict (half surrogates, large integers), the slower standard library
    reads it.

    Raises:
        ValueError: it is not JSON, or is nested too deeply.
    """
    value: paths.Json
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(data)
        except RecursionError:
            raise ValueError("nested too deeply") from None
    return value


LONGEST_LINE: Final = 16 * 2**20
"""Bytes of a line. An object in etcd has at most 1.5 MiB, and its JSON a few times as much."""


class CutShortError(ValueError):
    """The stream ended within a line."""


class TooLongError(ValueError):
    """A line is longer than any object can be."""


def stream_lines(chunks: Iterable[bytes], *, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """The lines of a stream, each as soon as it is complete; empty ones are left out.

    Raises:
        CutShortError: the stream ended within a line.
        TooLongError: a line has more than `longest` bytes; at most one chunk more was kept in memory.
    """
    rest = bytearray()
    for chunk in chunks:
        *complete_lines, last = chunk.split(b"\n")
        for part in complete_lines:
            rest += part
            if len(rest) > longest:
                raise TooLongError
            if rest:
                yield bytes(rest)
            rest.clear()
        rest += last
        if len(rest) > longest:
            raise TooLongError
    if rest:
        raise CutShortError


_NAME: Final = memo.pattern(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
"""The names that may be part of a request's path: they come from owner references, which may hold any text."""

_VERSION: Final = memo.pattern(r"v[0-9a-z]{1,62}", re.ASCII)

_UNSEEN: Final = (403, 404)


class ObjectPath(Struct, frozen=True, kw_only=True):
    """The place of a namespaced object at the API server."""

    group: str
    version: str
    plural: str
    namespace: str
    name: str


def read_object(api: Lists, at: ObjectPath, *, uid: paths.Json = None) -> paths.Object | None:
    """The current object.

    Args:
        uid: the expected uid; None accepts any.

    Returns:
        None if the object is missing, has another uid, or may not be read.

    Raises:
        ClusterError: the API server does not answer, or cannot.
    """
    if not (_NAME.fullmatch(at.namespace) and _NAME.fullmatch(at.name) and _VERSION.fullmatch(at.version)):
        return None
    answer = api.get(f"{group_path(at.group, at.version)}/namespaces/{at.namespace}/{at.plural}/{at.name}")
    if answer.status in _UNSEEN:
        return None
    if answer.status != 200:
        raise failure(answer, f"{at.plural} {at.namespace}/{at.name} cannot be read")
    metadata = answer.value.get("metadata")
    same = isinstance(metadata, dict) and uid in (None, metadata.get("uid"))
    return {**answer.value} if same else None


PAGE_SIZE: Final = 200
"""Objects per request.

A whole page is in memory at a time, and a node of 14 kB takes ten times that once it is read.
"""

NAMES: Final = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""The media type of a list without contents."""

ANONYMOUS: Final = "system:anonymous"
"""The user of a request without credentials, for the API server."""

_USER: Final = memo.pattern(r'User "([^"]*)" cannot (?:list|get path)')
"""k8s.io/apiserver, endpoints/handlers/responsewriters/errors.go (`forbiddenMessage`)."""

_NAMESPACE: Final = memo.pattern(r'in the namespace "([^"]*)"')

_CAUSE: Final = memo.pattern(r"\b(RBAC: .*)", re.DOTALL)
"""The end of a message about roles that a binding names and the cluster lacks."""

_METADATA_OF_ONE: Final = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


class Target(Struct, frozen=True, kw_only=True):
    """All objects of a kind, or one of them by its name, to list and watch."""

    kind: FactKind
    namespace: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """The name in messages and metrics."""
        return f"{self.kind.resource}/{self.name}" if self.name else self.kind.resource

    @property
    def query(self) -> Mapping[str, str]:
        # For RBAC, the API server treats this form as a request about that one name.
        return {"fieldSelector": f"metadata.name={self.name}"} if self.name else {}

    def path(self, version: str) -> str:
        within = f"namespaces/{self.namespace}/" if self.namespace else ""
        return f"{group_path(self.kind.group, version)}/{within}{self.kind.plural}"

    def accept(self, *, watch: bool) -> str:
        """The media type to request. If usher needs only names, contents never leave the API server."""
        if not self.kind.presence_only or self.name:
            return JSON
        return _METADATA_OF_ONE if watch else NAMES

    def kept(self, value: paths.Object, version: str) -> paths.Object:
        """The kept fields of an object, with its kind and version, which items of a list may lack."""
        api_version = f"{self.kind.group}/{version}" if self.kind.group else version
        return self.kind.keep({**value, "apiVersion": api_version, "kind": self.kind.kind})


class Page(Struct, frozen=True, kw_only=True):
    """Some of the objects of a list."""

    items: Sequence[paths.Object]
    resource_version: str


class Listed(Struct, frozen=True, kw_only=True):
    """All objects of a target, in a version that the API server serves, as of a resource version."""

    version: str
    resource_version: str
    values: list[paths.Object]


class NotServed(Struct, frozen=True, kw_only=True):
    """The API server does not know the kind."""


class Refused(Struct, frozen=True, kw_only=True):
    """The API server does not list the kind, or not all of it."""

    status: int
    reason: str

    @property
    def forbidden(self) -> bool:
        return self.status == 403

    @property
    def user(self) -> str:
        """The user that the API server refuses, if its answer has the words of its authorizers; else empty."""
        found = _USER.search(self.reason)
        return found[1] if found else ""

    @property
    def explained(self) -> str:
        """The reason for people. A missing right has the same words for all kinds, so that reports can join them."""
        if not self.forbidden:
            return self.reason
        words = f"user {self.user} may not list them" if self.user else self.reason
        namespace, cause = _NAMESPACE.search(self.reason), _CAUSE.search(self.reason)
        where = f" in namespace {namespace[1]}" if self.user and namespace else ""
        because = f" ({cause[1]})" if self.user and cause else ""
        return f"{words}{where}{because}; bind the ClusterRole of `usher manifests audit-role`"


def list_pages(  # noqa: PLR0913 - the parts of a list request, all named
    api: Lists,
    path: str,
    *,
    size: int,
    query: Mapping[str, str] | None = None,
    accept: str = JSON,
    resume: bool = False,
) -> Iterator[Page | Refused]:
    """The pages of a list; a refusal is the last.

    Args:
        size: the most objects of a page.
        query: more parameters.
        accept: the media type to request.
        resume: whether the rest may be of a later state. A continue token lives some minutes. After it has expired
            (410), the server may offer a token that continues from the same name in the current state. Without this
            offer the list begins again, once, and objects come a second time.

    Raises:
        ClusterError: the API server does not answer.
    """
    token, restarted = "", False
    while True:
        asked = {"limit": str(size), **(query or {}), **({"continue": token} if token else {})}
        answer = api.get(path, query=asked, accept=accept)
        metadata = paths.metadata(answer.value)
        following = paths.text(metadata.get("continue"))
        if answer.status == 410 and token and resume and (following or not restarted):
            restarted = restarted or not following
            token = following
            continue
        found = _read_page(answer)
        del answer, metadata  # frees the page before the next one comes
        yield found
        token = following
        if isinstance(found, Refused) or not token:
            return
        del found


def _read_page(answer: Answer) -> Page | Refused:
    if answer.status != 200:
        return Refused(status=answer.status, reason=answer.message)
    items = answer.value.get("items")
    if items is not None and not isinstance(items, list):
        return Refused(status=200, reason="the answer is not a list")
    objects = [item for item in items or () if isinstance(item, dict)]
    return Page(items=objects, resource_version=resource_version(answer.value))


def list_objects(api: Lists, target: Target) -> Listed | NotServed | Refused:
    """Lists a target in the first version that is served.

    All pages have the state of the first one. The request names no resource version, so that an API server with
    outdated state cannot answer from it. If the state expires before the last page (410), the list is refused.

    Raises:
        ClusterError: the API server does not answer.
    """
    for version in target.kind.versions:
        found = _list_version(api, target, version)
        if not isinstance(found, Refused) or found.status != 404:
            return found
    return NotServed()


def _list_version(api: Lists, target: Target, version: str) -> Listed | Refused:
    values: list[paths.Object] = []
    resource_version = ""
    accept = target.accept(watch=False)
    for page in list_pages(api, target.path(version), size=PAGE_SIZE, query=target.query, accept=accept):
        if isinstance(page, Refused):
            return page
        values += (target.kept(item, version) for item in page.items if object_has_name(item))
        resource_version = page.resource_version
    return Listed(version=version, resource_version=resource_version, values=values)


def object_has_name(value: paths.Object) -> bool:
    return bool(paths.text(paths.metadata(value).get("name")))


def resource_version(value: paths.Object) -> str:
    """The resource version of an object; empty where the field is missing."""
    return paths.text(paths.metadata(value).get("resourceVersion"))
