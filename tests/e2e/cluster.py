"""A cluster as tests use it: objects in and out over HTTPS, and kubectl where the user's view is the point."""

import contextlib
import http.client
import json
import re
import ssl
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

Object = dict[str, Any]
"""A Kubernetes object as JSON."""

T = TypeVar("T")

_FIELD_MANAGER = "gpu-usher-e2e"

_MOST_IDLE = 16
"""Connections that wait for the next request."""

_ENDS_WITHIN = 180.0
"""Seconds for an object to end whose deletion was asked for."""

_END_TOGETHER = 20
"""Namespaces that end together: all kinds are looked at once for all of them."""

_NOT_READY = b"storage is (re)initializing"
"""A refusal (429 or 503) while the API server takes up a new or changed definition: nothing was done."""

_STORAGE_IS_READY_WITHIN = 30.0
"""Seconds."""

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""Asks for all kinds of all groups in one answer."""

_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""Asks for a list without what the objects say."""


class ApiError(Exception):
    """The API server refused: its HTTP `status`, `reason` (`NotFound`, ...), `message` and `warnings` to the user."""

    def __init__(self, message: str, *, status: int, reason: str, warnings: tuple[str, ...] = ()) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.message = message
        self.warnings = warnings
        self.status = status
        self.reason = reason


class KubectlError(Exception):
    """kubectl failed; `stderr` is what a user reads."""

    def __init__(self, stderr: str, *, arguments: tuple[str, ...], exit_code: int) -> None:
        super().__init__(f"kubectl {' '.join(arguments)}: exit code {exit_code}: {stderr}")
        self.stderr = stderr
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer of the API server; `warnings` are those that kubectl prints as `Warning: ...`."""

    body: Object
    warnings: tuple[str, ...]


def _close_all(connections: list[http.client.HTTPSConnection]) -> None:
    for each in connections:
        each.close()


class Connections:
    """Connections to a server that wait for the next request. A new one costs both sides a TLS handshake."""

    def __init__(self) -> None:
        self._idle: list[http.client.HTTPSConnection] = []
        # The reference keeps the sockets out of a circle that Python takes apart in any order.
        weakref.finalize(self, _close_all, self._idle)

    def take(self) -> http.client.HTTPSConnection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def keep(self, connection: http.client.HTTPSConnection) -> None:
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A running API server, with an administrator's rights.

    Methods that reach the server raise `ApiError` when it refuses and `OSError` when it does not answer. They may be
    called from several threads at once.
    """

    server: str
    ca_file: Path
    kubeconfig: Path
    kubectl_file: Path
    directory: Path
    token: str = field(repr=False)
    tls: ssl.SSLContext = field(repr=False)
    _resources: dict[tuple[str, str], Object] = field(default_factory=dict, init=False, repr=False)
    _connections: Connections = field(default_factory=Connections, init=False, repr=False)

    def create(self, manifest: Object, *, dry_run: bool = False, strict: bool = False) -> Object:
        """The object as stored. With `dry_run`, as it would be stored: admission runs, nothing is kept.

        With `strict` a field that the API server does not know is refused, not dropped.
        """
        return self.answer_to_creation(manifest, dry_run=dry_run, strict=strict).body

    def answer_to_creation(self, manifest: Object, *, dry_run: bool = False, strict: bool = False) -> Response:
        """As `create`, with the warnings that a user sees."""
        query = _options(dry_run=dry_run, strict=strict)
        return self.request("POST", self._path_of(manifest, named=False), body=manifest, query=query)

    def apply(self, manifest: Object, *, dry_run: bool = False, strict: bool = False) -> Object:
        """The object as stored, after server-side apply; `dry_run` and `strict` as in `create`."""
        query = {"fieldManager": _FIELD_MANAGER, "force": "true", **_options(dry_run=dry_run, strict=strict)}
        return self.request(
            "PATCH", self._path_of(manifest), body=manifest, query=query, content="apply-patch+yaml"
        ).body

    def merge(self, value: Object, change: Object, *, subresource: str = "") -> Object:
        """The object as stored, after a merge patch of it or of a subresource."""
        path = "/".join(filter(None, (self._path_of(value), subresource)))
        return self.request("PATCH", path, body=change, content="merge-patch+json").body

    def replace(self, value: Object, *, user: str = "") -> Object:
        """The object as stored instead of what was there; as `user`, who may do everything."""
        return self.request("PUT", self._path_of(value), body=value, user=user).body

    def get(self, kind: str, name: str, *, namespace: str = "default", api_version: str = "v1") -> Object:
        return self.request("GET", self._path(kind, namespace=namespace, api_version=api_version, name=name)).body

    def exists(self, kind: str, name: str, *, namespace: str = "default", api_version: str = "v1") -> bool:
        try:
            self.get(kind, name, namespace=namespace, api_version=api_version)
        except ApiError as error:
            if error.status != http.HTTPStatus.NOT_FOUND:
                raise
            return False
        return True

    def objects(
        self, kind: str, *, namespace: str = "", api_version: str = "v1", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """All of a kind that have all `labels`; from every namespace when `namespace` is empty."""
        query = {"labelSelector": ",".join(f"{key}={value}" for key, value in (labels or {}).items())}
        path = self._path(kind, namespace=namespace, api_version=api_version)
        items: list[Object] = self.request("GET", path, query=query).body["items"]
        return items

    def delete(self, kind: str, name: str, *, namespace: str = "default", api_version: str = "v1") -> None:
        """Asks for deletion, of what it owns as well, and does not wait for its end."""
        path = self._path(kind, namespace=namespace, api_version=api_version, name=name)
        # Without it the pods of a Job would be left, without an owner.
        self.request("DELETE", path, query={"propagationPolicy": "Background"})

    def create_namespace(self, name: str = "", *, prefix: str = "e2e-") -> str:
        """The name of a new namespace in which pods can be created; without `name` a unique one is made up."""
        metadata = {"name": name} if name else {"generateName": prefix}
        namespace = self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        created: str = namespace["metadata"]["name"]
        self.wait_for_service_account(created)
        return created

    def ensure_namespace(self, name: str) -> None:
        """Makes a namespace in which pods can be created, unless it is there. One that is ending ends first."""
        if self.exists("Namespace", name):
            if "deletionTimestamp" not in self.get("Namespace", name)["metadata"]:
                return
            self.wait_until_gone("Namespace", name)
        self.create_namespace(name)

    def delete_namespace(self, name: str, *, wait: bool = True) -> None:
        """Deletes a namespace, and its pods at once; `wait` for its end, else it ends later, together with others."""
        self.delete("Namespace", name)
        # As nothing new can be made there any more, what the pods held is free from now on.
        self.request("DELETE", f"/api/v1/namespaces/{name}/pods")
        if wait:
            self.wait_until_gone("Namespace", name)
        elif len(self._ending()) >= _END_TOGETHER:
            self.end_namespaces()

    def wait_until_gone(self, kind: str, name: str, *, api_version: str = "v1") -> None:
        """Waits for the end of an object without a namespace whose deletion was asked for."""
        gone = f"{kind} {name} is gone"

        def is_gone() -> bool:
            if kind == "Namespace":
                self.end_namespaces()
            return not self.exists(kind, name, api_version=api_version)

        wait_until(is_gone, description=gone, timeout=_ENDS_WITHIN)

    def _ending(self) -> dict[str, Object]:
        """The namespaces whose deletion was asked for, by name."""
        return {
            each["metadata"]["name"]: each
            for each in self.objects("Namespace")
            if "deletionTimestamp" in each["metadata"]
        }

    def end_namespaces(self) -> None:
        """Empties all namespaces whose deletion was asked for, and ends those in which nothing is left.

        No controller does it (components.py): it would ask about each kind in each namespace, and wait for five
        seconds, so that other API servers hear of the deletion.
        """
        ending = self._ending()
        held: set[str] = set()
        for place in self._places() if ending else []:
            prefix, plural = place
            found = self._namespaces_of(place) & ending.keys()
            for name in found:
                path = f"{prefix}/namespaces/{name}/{plural}"
                self.request("DELETE", path, query={"gracePeriodSeconds": "0"})
            # Nothing new can be made in these namespaces, so an empty one stays empty.
            if found:
                held |= self._namespaces_of(place) & found
        for name in ending.keys() - held:
            ended = {**ending[name], "spec": {"finalizers": []}}
            self.request("PUT", f"/api/v1/namespaces/{name}/finalize", body=ended)

    @contextlib.contextmanager
    def with_ending_namespaces(self) -> Iterator[None]:
        """While the context lasts, namespaces end as by their controller: for a command that waits for that."""
        done = threading.Event()

        def end() -> None:
            while not done.wait(0.5):
                self.end_namespaces()

        with ThreadPoolExecutor(1) as other:
            ending = other.submit(end)
            try:
                yield
            finally:
                done.set()
            ending.result()

    def _places(self) -> list[tuple[str, str]]:
        """The prefix and the plural of each kind with a namespace whose objects can be deleted together."""
        found = []
        for path in ("/api", "/apis"):
            for group in self.request("GET", path, accept=DISCOVERY).body["items"]:
                # The preferred one is the first.
                version = group["versions"][0]
                prefix = "/".join(filter(None, (path, group["metadata"].get("name"), version["version"])))
                found += [
                    (prefix, each["resource"])
                    for each in version.get("resources", [])
                    if each["scope"] == "Namespaced" and "deletecollection" in each["verbs"]
                ]
        return found

    def _namespaces_of(self, place: tuple[str, str]) -> set[str]:
        """The namespaces with objects of a kind."""
        found = self.request("GET", "/".join(place), accept=_METADATA).body["items"]
        return {each["metadata"]["namespace"] for each in found or []}

    def account_token(self, account: str, *, namespace: str) -> str:
        """A new token of a ServiceAccount, which outlives the longest test."""
        spec: Object = {"expirationSeconds": 86_400}
        asked: Object = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = f"{self._path('ServiceAccount', api_version='v1', namespace=namespace, name=account)}/token"
        token: str = self.request("POST", path, body=asked).body["status"]["token"]
        return token

    def wait_for_service_account(self, namespace: str) -> None:
        """Until then admission refuses every pod there."""
        wait_until(
            lambda: self.get("ServiceAccount", "default", namespace=namespace),
            description=f"the default service account of namespace {namespace} exists",
        )

    def kubectl(self, *arguments: str, stdin: str = "", with_warnings: bool = False) -> str:
        """The output of kubectl; `with_warnings` puts its standard error (`Warning: ...`) in front, as on a terminal.

        Raises:
            KubectlError: it failed.
        """
        done = subprocess.run(
            [self.kubectl_file, f"--kubeconfig={self.kubeconfig}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            # kubectl keeps a discovery cache at home, and a user's own settings must not change what tests see.
            env={"HOME": str(self.directory)},
        )
        if done.returncode:
            raise KubectlError(done.stderr.strip(), arguments=arguments, exit_code=done.returncode)
        return done.stderr + done.stdout if with_warnings else done.stdout

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Object | str | None = None,
        query: Mapping[str, str] | None = None,
        content: str = "json",
        accept: str = "application/json",
        user: str = "",
    ) -> Response:
        """One call of the API, for what the other methods do not cover.

        `content` is the subtype of `application/` that `body` is in; a body of text is sent as it is. `accept` names
        the form of the answer, which has to be JSON. `user` asks in place of the administrator, with an
        administrator's rights.
        """
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": f"application/{content}",
            "Accept": accept,
        }
        if user:
            headers |= {"Impersonate-User": user, "Impersonate-Group": "system:masters"}
        url = f"{path}?{urlencode(query)}" if query else path
        text = body if isinstance(body, str | None) else json.dumps(body)
        sent = text and text.encode()
        answer, payload = self._exchange(method, url, sent, headers)
        until = time.monotonic() + _STORAGE_IS_READY_WITHIN
        while answer.status in {429, 503} and _NOT_READY in payload and time.monotonic() < until:
            time.sleep(0.2)
            answer, payload = self._exchange(method, url, sent, headers)
        warnings = _warnings(answer.headers.get_all("Warning", []))
        if answer.status >= 400:
            raise _refusal(answer.status, payload, warnings)
        return Response(body=json.loads(payload), warnings=warnings)

    def _exchange(
        self, method: str, url: str, body: bytes | str | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """An answer with its body, over a connection that is open already if there is one."""
        open_one = self._connections.take()
        connection = open_one or self._new_connection()
        try:
            connection.request(method, url, body=body, headers=dict(headers))
            answer = connection.getresponse()
            payload = answer.read()
        except BaseException as error:
            connection.close()
            closed = isinstance(error, OSError | http.client.HTTPException) and not isinstance(error, TimeoutError)
            if open_one is not None and closed:
                # The server has ended since: what waits is of no use any more.
                return self._exchange(method, url, body, headers)
            raise
        self._connections.keep(connection)
        return answer, payload

    def _new_connection(self) -> http.client.HTTPSConnection:
        address = urlsplit(self.server)
        return http.client.HTTPSConnection(address.hostname or "", address.port, timeout=60, context=self.tls)

    def _path_of(self, manifest: Object, *, named: bool = True) -> str:
        metadata = manifest["metadata"]
        return self._path(
            manifest["kind"],
            api_version=manifest["apiVersion"],
            namespace=metadata.get("namespace", "default"),
            name=metadata["name"] if named else "",
        )

    def _path(self, kind: str, *, api_version: str, namespace: str, name: str = "") -> str:
        prefix = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
        if (prefix, kind) not in self._resources:
            served = self.request("GET", prefix).body["resources"]
            # A subresource may have a kind of its own, for example pods/eviction.
            self._resources.update({(prefix, each["kind"]): each for each in served if "/" not in each["name"]})
        if (prefix, kind) not in self._resources:
            raise ApiError(f"no kind {kind} in {api_version}", status=404, reason="NotFound")
        resource = self._resources[prefix, kind]
        place = f"/namespaces/{namespace}" if resource["namespaced"] and namespace else ""
        return "/".join(filter(None, (f"{prefix}{place}/{resource['name']}", name)))


def wait_until(predicate: Callable[[], T | None], *, description: str, timeout: float = 60) -> T:
    """The first truthy value of `predicate`. An object that does not exist yet (404) counts as not yet.

    Raises:
        TimeoutError: it took longer than `timeout` seconds; names `description` and what was seen last.
    """
    began = time.monotonic()
    while True:
        seen: object
        try:
            seen = value = predicate()
        except ApiError as error:
            if error.status != http.HTTPStatus.NOT_FOUND:
                raise
            seen, value = error, None
        if value:
            return value
        waited = time.monotonic() - began
        if waited > timeout:
            raise TimeoutError(f"not within {timeout:g} s: {description}; seen last: {seen}")
        # Each look costs both sides some work, so it is rare where the wait is long already.
        time.sleep(min(max(waited / 10, 0.05), 0.5))


def create_pods(cluster: Cluster, job: Object, *, namespace: str) -> int:
    """Creates the pods of a Job without its controller, and returns how many they are."""
    template, pods = job["spec"]["template"], int(job["spec"]["parallelism"])
    for index in range(pods):
        metadata = {**template["metadata"], "name": f"pod-{index}", "namespace": namespace}
        cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
    return pods


def condition(of: Object, name: str) -> Object:
    """The condition of that type in an object's status; empty while the status lacks it."""
    conditions = of.get("status", {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == name), {})


def _options(*, dry_run: bool, strict: bool) -> dict[str, str]:
    return {**({"dryRun": "All"} if dry_run else {}), **({"fieldValidation": "Strict"} if strict else {})}


def _refusal(status: int, payload: bytes, warnings: tuple[str, ...]) -> ApiError:
    try:
        answer = json.loads(payload)
        return ApiError(answer["message"], status=status, reason=answer.get("reason", ""), warnings=warnings)
    except (ValueError, KeyError, TypeError):
        return ApiError(payload.decode(errors="replace"), status=status, reason=http.HTTPStatus(status).phrase)


def _warnings(headers: list[str]) -> tuple[str, ...]:
    """The texts of `299 - "text"` (RFC 7234, section 5.5)."""
    quoted = (re.search(r'"(.*)"', header, re.DOTALL) for header in headers)
    return tuple(re.sub(r"\\(.)", r"\1", text[1]) for text in quoted if text)
