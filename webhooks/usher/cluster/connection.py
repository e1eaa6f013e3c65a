"""Where the API server is, how to log in, and requests to it, which are answered with plain JSON."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import orjson
import urllib3
import yaml
from kubernetes import client
from kubernetes.config import config_exception, dateutil, exec_provider, incluster_config, kube_config

from usher import __version__, errors, paths
from usher.cluster import http_clients
from usher.cluster.api import JSON, Answer, parse_json, runs_in_cluster

_LONGEST: Final = 1000
"""Characters of a plugin's output that usher shows; long, because the remedy often comes last."""

_TRY: Final = "log in again, and see that `kubectl auth whoami` works"


class Loader(kube_config.KubeConfigLoader):  # type: ignore[misc]  # no types
    """One context of a kubeconfig.

    After a failed credential plugin, the client would continue as `system:anonymous`, with a log entry or without one.
    """

    def __init__(self, file: str, context: str | None) -> None:
        """Reads the file, or the files between colons.

        Raises:
            ConfigException: the files do not have the context.
            OSError: a file cannot be read.
        """
        merged = kube_config.KubeConfigMerger(file)
        if merged.config is None:
            raise config_exception.ConfigException("it holds no configuration")
        super().__init__(
            config_dict=merged.config,
            config_base_path=None,
            active_context=context,
            config_persister=merged.save_changes,
        )
        found: Any = self._config["contexts"].get_with_name(self.current_context["name"])
        self.file = str(found.path)
        """The file that has the context."""
        self.context = str(found["name"])

    def load(self, configuration: client.Configuration) -> None:
        """Sets the address of the cluster and the credentials of the user.

        Raises:
            ClusterError: the context names an unknown user, or its user gives no credentials.
            ConfigException: the configuration is not usable.
        """
        if self._user_name and self._user is None:
            raise errors.ClusterError(
                f"{self._place}: the kubeconfig does not have this user; write one of `kubectl config get-users` into "
                "the context"
            )
        self.load_and_set(configuration)
        if self._has("auth-provider") and not configuration.api_key and not configuration.cert_file:
            raise errors.ClusterError(f"{self._place}: its auth-provider gives no token that usher can use; {_TRY}")

    @property
    def _user_name(self) -> str:
        """The name of the user; empty for a context without one, with which kubectl is anonymous too."""
        return str(self.current_context["context"].get("user") or "")

    def _has(self, key: str) -> bool:
        return self._user is not None and key in self._user

    @property
    def _place(self) -> str:
        return f"{self.file}: user {self._user_name} of context {self.context}"

    def _load_auth_provider_token(self) -> object:
        """The token of OpenID Connect or Google Cloud, if the user has one; an expired token is renewed."""
        try:
            return super()._load_auth_provider_token()
        except Exception as error:  # noqa: BLE001 - whatever the library of the provider raises
            raise errors.ClusterError(
                f"{self._place}: its auth-provider gives no token: {http_clients.plain_line(str(error))}; {_TRY}"
            ) from None

    def _load_from_exec_plugin(self) -> bool:
        """The credentials of a plugin, if the user has one. The client also calls this when they have expired."""
        if not self._has("exec"):
            return False
        cluster: Any = self._cluster
        base = self._get_base_path(cluster.path)
        status = self._answer_of_plugin(base)
        # https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats
        if status.get("token"):
            self.token = f"Bearer {status['token']}"
        elif status.get("clientCertificateData") and status.get("clientKeyData"):
            self.cert_file = self._as_file(status, "clientCertificateData")
            self.key_file = self._as_file(status, "clientKeyData")
        else:
            raise errors.ClusterError(f"{self._plugin} gives neither a token nor a certificate with its key; {_TRY}")
        if status.get("expirationTimestamp"):
            self.expiry = dateutil.parse_rfc3339(status["expirationTimestamp"])
        return True

    def _answer_of_plugin(self, folder: str) -> Mapping[str, Any]:
        try:
            plugin = exec_provider.ExecProvider(self._exec, folder, self._cluster)
            status = plugin.run()
        except FileNotFoundError:
            hint = self._exec.safe_get("installHint")
            remedy = http_clients.plain_line(str(hint)) if hint else "install it, or add its folder to PATH"
            raise errors.ClusterError(f"{self._plugin} is not found; {remedy}") from None
        except OSError as error:
            raise errors.ClusterError(f"{self._plugin} cannot be run: {error.strerror}") from None
        except config_exception.ConfigException as error:
            words = http_clients.plain_line(str(error).removeprefix("exec: "), longest=_LONGEST)
            raise errors.ClusterError(f"{self._plugin} failed: {words}; {_TRY}") from None
        except AttributeError:
            # On a terminal the plugin writes its errors itself, so the client lacks them and raises another error.
            raise errors.ClusterError(f"{self._plugin} failed, as it says above; {_TRY}") from None
        return status if isinstance(status, dict) else {}

    @property
    def _exec(self) -> Any:  # noqa: ANN401 - a node of the client, which has no types
        return None if self._user is None else self._user["exec"]

    @property
    def _plugin(self) -> str:
        return f"{self._place}: the credential plugin {self._exec.safe_get('command')}"

    def _as_file(self, status: Mapping[str, Any], key: str) -> str:
        found: str = kube_config.FileOrData(
            status, None, data_key_name=key, file_base_path="", base64_file_content=False
        ).as_file()
        return found


def load(*, kubeconfig: Path | None, context: str | None) -> tuple[client.Configuration, str]:
    """The configuration of a cluster, and the name of that cluster in reports.

    Args:
        kubeconfig: file to read instead of $KUBECONFIG or ~/.kube/config.
        context: context to use instead of the current one.

    Raises:
        ClusterError: there is no usable configuration, or its user gives no credentials.
    """
    configuration = client.Configuration()
    # The client has its own rules for variables: it asks for localhost through a proxy, and sends it no password.
    configuration.proxy = configuration.no_proxy = None
    try:
        if kubeconfig is None and context is None and not _has_kubeconfig() and runs_in_cluster():
            incluster_config.load_incluster_config(configuration)
            _choose_proxy(configuration)
            return configuration, f"the cluster of this pod ({configuration.host})"
        file = str(kubeconfig) if kubeconfig is not None else kube_config.KUBE_CONFIG_DEFAULT_LOCATION
        login = Loader(file, context)
        login.load(configuration)
        _choose_proxy(configuration)
    except (config_exception.ConfigException, OSError, ValueError, KeyError, TypeError, yaml.YAMLError) as error:
        raise errors.ClusterError(_unusable(kubeconfig, context, error)) from None
    return configuration, f"cluster of context {login.context} ({configuration.host})"


def context_name(*, kubeconfig: Path | None) -> str:
    """The name of the current context; empty in a pod, and where no context is current."""
    if kubeconfig is None and not _has_kubeconfig():
        return ""
    try:
        file = str(kubeconfig) if kubeconfig is not None else None
        _, active = kube_config.list_kube_config_contexts(file)
        return str(active["name"])
    except (config_exception.ConfigException, OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return ""


def _choose_proxy(configuration: client.Configuration) -> None:
    """Sets the proxy, like kubectl: the `proxy-url` of a kubeconfig wins over variables. Raises ClusterError."""
    try:
        found = (
            http_clients.read_proxy(configuration.proxy, source="proxy-url of the kubeconfig")
            if configuration.proxy
            else http_clients.proxy_of_environment(configuration.host)
        )
    except errors.InputError as error:
        raise errors.ClusterError(str(error)) from None
    if found is not None:
        configuration.proxy = found.url
        configuration.proxy_headers = found.headers
        configuration.proxy_ssl_context = found.context()


def token(*, kubeconfig: Path | None, context: str | None) -> str:
    """The value of the header Authorization for requests to a cluster.

    Raises:
        ClusterError: there is no usable configuration, or it has no bearer token.
    """
    configuration, name = load(kubeconfig=kubeconfig, context=context)
    # The client gets the token from a file, from a command, or from the account of a pod.
    found = configuration.auth_settings().get("BearerToken", {}).get("value")
    if not found:
        raise errors.ClusterError(
            f"{name} knows you by a client certificate, and the portal by a token; use a context with a token, for "
            "example of `kubectl create token`"
        )
    return str(found)


def _has_kubeconfig() -> bool:
    locations = os.environ.get("KUBECONFIG") or kube_config.KUBE_CONFIG_DEFAULT_LOCATION
    return any(Path(location).expanduser().exists() for location in locations.split(os.pathsep) if location)


def _unusable(kubeconfig: Path | None, context: str | None, error: Exception) -> str:
    file = kubeconfig or os.environ.get("KUBECONFIG") or kube_config.KUBE_CONFIG_DEFAULT_LOCATION
    if kubeconfig is not None and not kubeconfig.exists():
        return f"{kubeconfig}: no such file; --kubeconfig names the file that kubectl would use"
    if kubeconfig is None and not _has_kubeconfig():
        return f"there is no cluster to read: {file} does not exist; name a kubeconfig by --kubeconfig, or read files"
    reason = " ".join(str(error).split())
    wanted = f"context {context}" if context else "the current context"
    return f"{file}: {wanted} cannot be used: {reason}; `kubectl config get-contexts` lists the contexts"


_CHUNK: Final = 64 * 2**10
_LONGEST_REFUSAL: Final = 2**20
"""The most bytes of an answer to a refused stream."""


class Stream:
    """A body that is read as it comes in."""

    def __init__(self, response: urllib3.BaseHTTPResponse, *, name: str, path: str) -> None:
        self.refusal: Answer | None = None
        self._response = response
        self._name = name
        if response.status != 200:
            with _readable(name):
                data = response.read(_LONGEST_REFUSAL)
            self.refusal = Answer(status=response.status, value=json_object(data, response, name=name, path=path))

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes in, until the server ends it.

        Raises:
            ClusterError: the connection is lost.
            StalledError: nothing came for too long.
        """
        with _readable(self._name):
            yield from self._response.stream(_CHUNK)

    def hang_up(self) -> None:
        """Wakes the thread that waits for the next bytes."""
        with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
            self._response.shutdown()


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except urllib3.exceptions.ReadTimeoutError:
        raise errors.StalledError(f"{name} has sent nothing for too long") from None
    except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
        # urllib3 raises AttributeError and ValueError where a connection is closed while it is read.
        raise errors.ClusterError(f"{name}: the connection is lost: {http_clients.describe_failure(error)}") from None


def json_object(data: bytes, response: urllib3.BaseHTTPResponse, *, name: str, path: str) -> paths.Object:
    """The JSON object of an answer; an empty one where the request failed without a Status.

    Raises:
        ClusterError: the request succeeded, but the answer is not a JSON object; or the port speaks TLS.
    """
    try:
        value = parse_json(data)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    if http_clients.NEEDS_TLS in data:
        raise errors.ClusterError(
            f"{name}: this port speaks TLS; write https:// into the `server` of the cluster in the kubeconfig"
        )
    if response.status >= 400:
        return {}
    raise errors.ClusterError(f"{name}: the answer to {path} is not a JSON object; is that an API server?")


# urllib3 would log every attempt for every kind while no API server answers. Callers say what got no answer.
logging.getLogger("urllib3").setLevel(logging.ERROR)

_TIMEOUT: Final = urllib3.Timeout(connect=5, read=60)
"""Seconds. A page of 500 large objects takes a busy API server a while."""

_HURRIED: Final = urllib3.Timeout(connect=1, read=1.5)
"""Seconds for a request within a review, which has two seconds in all."""

_BUSY: Final = frozenset({429, 503})

_SEND_ONCE: Final = urllib3.Retry(connect=2, read=0, other=0, status=0, redirect=0, respect_retry_after_header=False)

_CONNECTIONS: Final = 128


class Api:
    """Requests to one API server, tried again while it is busy."""

    def __init__(
        self,
        configuration: client.Configuration,
        *,
        name: str,
        wait: Callable[[float], None] = time.sleep,
        hurried: bool = False,
    ) -> None:
        """Takes address and credentials of the server, its name in messages, and a function that waits.

        With `hurried`, a request ends within about two seconds, and is sent again only over a closed connection.
        """
        # We wait ourselves: urllib3 would honour any Retry-After, however long.
        configuration.retries = urllib3.Retry(
            total=2,
            read=0 if hurried else None,
            status=0,
            redirect=0,
            respect_retry_after_header=False,
            raise_on_status=False,
        )
        self._timeout = _HURRIED if hurried else _TIMEOUT
        self._attempts = 1 if hurried else http_clients.ATTEMPTS
        # One for each watch, and for each charge in progress.
        configuration.connection_pool_maxsize = _CONNECTIONS
        self.name = name
        """The name of the cluster in reports and messages."""
        self._through = f" through the proxy {configuration.proxy}" if configuration.proxy else ""
        self._configuration = configuration
        self._pool = client.ApiClient(configuration).rest_client.pool_manager
        self._wait = wait
        self._lock = threading.Lock()
        self._streams: set[Stream] = set()

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        """The answer to a GET request, whatever its status.

        Raises:
            ClusterError: the server does not answer, answers something other than a JSON object, or rejects the
                credentials.
        """
        return self._ask_patiently(path, lambda: self._request("GET", path, query=query or {}, accept=accept))

    def put(self, path: str, value: paths.Object) -> Answer:
        """The answer to a PUT of an object, whatever its status.

        The status is 409 where the object holds the `resourceVersion` that was read and another client wrote meanwhile.
        A request that may have arrived is sent again only if the server says that it was too busy.

        Raises:
            ClusterError: as for `get`. The server may have stored the object all the same.
        """
        return self._send("PUT", path, value)

    def post(self, path: str, value: paths.Object) -> Answer:
        """The answer to a POST of an object, whatever its status; 409 where an object of that name exists.

        A request that may have arrived is sent again only if the server says that it was too busy.

        Raises:
            ClusterError: as for `get`. The server may have stored the object all the same.
        """
        return self._send("POST", path, value)

    def delete(self, path: str, value: paths.Object) -> Answer:
        """The answer to a DELETE with DeleteOptions, whatever its status; 409 where their preconditions do not hold.

        Raises:
            ClusterError: as for `get`. The server may have deleted the object all the same.
        """
        return self._send("DELETE", path, value)

    def patch(self, path: str, operations: Sequence[paths.Object]) -> Answer:
        """The answer to a PATCH with operations of RFC 6902, whatever its status; 422 where one of its tests fails.

        Raises:
            ClusterError: as for `get`. The server may have stored the object all the same.
        """
        return self._send("PATCH", path, [*operations], content="application/json-patch+json")

    def apply(self, path: str, value: paths.Object) -> Answer:
        """The answer to a server-side apply of an object, whatever its status; it creates what is missing.

        Raises:
            ClusterError: as for `get`. The server may have stored the object all the same.
        """
        # JSON is YAML.
        return self._send("PATCH", f"{path}?fieldManager=gpu-usher", value, content="application/apply-patch+yaml")

    def _send(self, method: str, path: str, value: paths.Json, *, content: str = JSON) -> Answer:
        body = orjson.dumps(value)
        return self._ask_patiently(
            path, lambda: self._request(method, path, query={}, accept=JSON, body=body, content=content)
        )

    @contextlib.contextmanager
    def stream(self, path: str, *, query: Mapping[str, str], silence: float, accept: str = JSON) -> Iterator[Stream]:
        """The answer to a GET request as it comes, until the context is left.

        Args:
            path: of the resource.
            query: its parameters.
            silence: seconds without data after which the connection counts as dead.
            accept: the media type to ask for.

        Raises:
            ClusterError: the server does not answer.
        """
        timeout = urllib3.Timeout(connect=_TIMEOUT.connect_timeout, read=silence)
        response = self._request("GET", path, query=query, accept=accept, timeout=timeout)
        stream = Stream(response, name=self.name, path=path)
        with self._lock:
            self._streams.add(stream)
        try:
            yield stream
        finally:
            with self._lock:
                self._streams.discard(stream)
            # More data may come, so the connection cannot be used again.
            response.close()

    def hang_up(self) -> None:
        """Ends all streams, also those that other threads wait for."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            stream.hang_up()

    def _ask_patiently(self, path: str, request: Callable[[], urllib3.BaseHTTPResponse]) -> Answer:
        for attempt in range(1, self._attempts + 1):
            response = request()
            if response.status not in _BUSY or attempt == self._attempts:
                break
            self._wait(http_clients.wait_for_busy_server(response.headers.get("Retry-After"), attempt=attempt))
        if response.status == 401:
            raise errors.ClusterError(
                f"{self.name} does not accept the credentials (401 Unauthorized); log in again, and see that "
                "`kubectl auth whoami` works"
            )
        value = json_object(response.data, response, name=self.name, path=path)
        return Answer(status=response.status, value=value, date=response.headers.get("Date", ""))

    def _request(  # noqa: PLR0913 - the parts of a request, all named
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str],
        accept: str,
        body: bytes | None = None,
        content: str = "",
        timeout: urllib3.Timeout | None = None,
    ) -> urllib3.BaseHTTPResponse:
        url = f"{self._configuration.host}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            response: urllib3.BaseHTTPResponse = self._pool.request(
                method,
                url,
                body=body,
                headers=self._headers(accept, content=content),
                timeout=timeout or self._timeout,
                retries=_SEND_ONCE if body is not None else None,
                preload_content=timeout is None,
            )
        except urllib3.exceptions.HTTPError as error:
            raise errors.UnavailableError(
                f"{self.name} cannot be reached{self._through}: {http_clients.describe_failure(error)}; see that "
                "`kubectl cluster-info` works"
            ) from None
        except (OSError, ValueError, config_exception.ConfigException) as error:
            raise errors.ClusterError(f"{self.name}: the credentials cannot be used: {error}") from None
        return response

    def _headers(self, accept: str, *, content: str) -> dict[str, str]:
        headers = {"Accept": accept, "User-Agent": f"gpu-usher/{__version__}"}
        if content:
            headers["Content-Type"] = content
        with self._lock:
            # Runs the user's credential plugin and renews a token that has expired.
            bearer = self._configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
        if bearer:
            headers["Authorization"] = bearer
        return headers


def cluster_name(api: "Api", *, kubeconfig: Path | None, context: str | None) -> str:
    """The name of a cluster in reports if no option gives one: its context, without an address."""
    return context or context_name(kubeconfig=kubeconfig) or api.name


def connect(*, kubeconfig: Path | None = None, context: str | None = None, hurried: bool = False) -> Api:
    """The cluster that kubectl would use; inside a pod without a kubeconfig, the cluster of the pod.

    Args:
        kubeconfig: file to read instead of $KUBECONFIG or ~/.kube/config.
        context: context to use instead of the current one.
        hurried: whether an answer is useless after about two seconds.

    Raises:
        ClusterError: there is no usable configuration.
    """
    configuration, name = load(kubeconfig=kubeconfig, context=context)
    return Api(configuration, name=name, hurried=hurried)
