"""The way to the API server: kubectl's own configuration, and GET requests that yield plain JSON."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import orjson
import urllib3
import yaml
from kubernetes import client
from kubernetes.config import config_exception, incluster_config, kube_config

from usher import __version__, errors, paths

_TIMEOUT: Final = urllib3.Timeout(connect=5, read=60)
"""Seconds. A page of 500 large objects takes a busy API server a while."""

_ATTEMPTS: Final = 6
_LONGEST_WAIT: Final = 30.0
"""Seconds to wait at most because the server asks for it; it may ask for hours."""

_BUSY: Final = frozenset({429, 503})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the API server answered; `value` is its JSON object, a Status where the request failed."""

    status: int
    value: paths.Object

    @property
    def message(self) -> str:
        """Why it failed, in the server's words."""
        message = self.value.get("message")
        return message if isinstance(message, str) and message else f"HTTP status {self.status}"


class Api:
    """Asks one API server; retries while it is busy."""

    def __init__(
        self, configuration: client.Configuration, *, name: str, wait: Callable[[float], None] = time.sleep
    ) -> None:
        # Waiting is our own matter: urllib3 would honour any Retry-After, however long.
        configuration.retries = urllib3.Retry(
            total=2, status=0, redirect=0, respect_retry_after_header=False, raise_on_status=False
        )
        self.name = name
        """How the report calls the cluster."""
        self._configuration = configuration
        self._pool = client.ApiClient(configuration).rest_client.pool_manager
        self._wait = wait

    def get(self, path: str, *, query: Mapping[str, str] | None = None) -> Answer:
        """The answer to a GET request, whatever its status.

        Raises:
            ClusterError: there is no answer, none that is a JSON object, or the server does not know who we are.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            response = self._request(path, query or {})
            if response.status not in _BUSY or attempt == _ATTEMPTS:
                break
            self._wait(_wait_before_retry(response.headers.get("Retry-After"), attempt=attempt))
        if response.status == 401:
            raise errors.ClusterError(
                f"{self.name} does not accept the credentials (401 Unauthorized); log in again, and see that "
                "`kubectl auth whoami` works"
            )
        return Answer(status=response.status, value=_object(response, name=self.name, path=path))

    def _request(self, path: str, query: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        url = f"{self._configuration.host}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            headers = {"Accept": "application/json", "User-Agent": f"gpu-usher/{__version__}"}
            # Runs the user's credential plugin and renews a token that has expired.
            bearer = self._configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
            if bearer:
                headers["Authorization"] = bearer
            response: urllib3.BaseHTTPResponse = self._pool.request("GET", url, headers=headers, timeout=_TIMEOUT)
        except urllib3.exceptions.HTTPError as error:
            raise errors.ClusterError(
                f"{self.name} cannot be reached: {_root_cause(error)}; see that `kubectl cluster-info` works"
            ) from None
        except (OSError, ValueError, config_exception.ConfigException) as error:
            raise errors.ClusterError(f"{self.name}: the credentials cannot be used: {error}") from None
        return response


def connect(*, kubeconfig: Path | None = None, context: str | None = None) -> Api:
    """The cluster that kubectl would talk to; inside a pod without a kubeconfig, the cluster that it is in.

    Args:
        kubeconfig: file to read instead of $KUBECONFIG or ~/.kube/config.
        context: context to use instead of the current one.

    Raises:
        ClusterError: there is no configuration, or none that can be used.
    """
    configuration = client.Configuration()
    try:
        if kubeconfig is None and context is None and not _has_kubeconfig() and _in_cluster():
            incluster_config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]  # no types
            return Api(configuration, name=f"the cluster of this pod ({configuration.host})")
        file = str(kubeconfig) if kubeconfig is not None else None
        kube_config.load_kube_config(file, context, configuration)  # type: ignore[no-untyped-call]  # no types
        _, active = kube_config.list_kube_config_contexts(file)  # type: ignore[no-untyped-call]  # no types
    except (config_exception.ConfigException, OSError, ValueError, KeyError, TypeError, yaml.YAMLError) as error:
        raise errors.ClusterError(_unusable(kubeconfig, context, error)) from None
    return Api(configuration, name=f"cluster of context {context or active['name']} ({configuration.host})")


def _has_kubeconfig() -> bool:
    locations = os.environ.get("KUBECONFIG") or kube_config.KUBE_CONFIG_DEFAULT_LOCATION
    return any(Path(location).expanduser().exists() for location in locations.split(os.pathsep) if location)


def _in_cluster() -> bool:
    return incluster_config.SERVICE_HOST_ENV_NAME in os.environ


def _unusable(kubeconfig: Path | None, context: str | None, error: Exception) -> str:
    file = kubeconfig or os.environ.get("KUBECONFIG") or kube_config.KUBE_CONFIG_DEFAULT_LOCATION
    if kubeconfig is not None and not kubeconfig.exists():
        return f"{kubeconfig}: no such file; --kubeconfig names the file that kubectl would use"
    if kubeconfig is None and not _has_kubeconfig():
        return f"no cluster to audit: {file} does not exist; pass --kubeconfig, or a PATH to audit files"
    reason = " ".join(str(error).split())
    wanted = f"context {context}" if context else "the current context"
    return f"{file}: {wanted} cannot be used: {reason}; `kubectl config get-contexts` lists what there is"


def _wait_before_retry(retry_after: str | None, *, attempt: int) -> float:
    """Seconds: what the server asks for, else twice as long each time, from half a second; never very long."""
    asked = float(retry_after) if retry_after is not None and retry_after.isdecimal() else 0.5 * 2 ** (attempt - 1)
    return min(asked, _LONGEST_WAIT)


def _object(response: urllib3.BaseHTTPResponse, *, name: str, path: str) -> paths.Object:
    try:
        value = _loads(response.data)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    if response.status >= 400:
        return {}
    raise errors.ClusterError(f"{name}: the answer to {path} is no JSON object; is that an API server?")


def _loads(data: bytes) -> paths.Json:
    """JSON; what orjson is too strict for (half surrogates, large integers), the slower standard library takes."""
    value: paths.Json
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = json.loads(data)
    return value


def _root_cause(error: BaseException) -> str:
    """urllib3 wraps what happened twice or more; only the innermost text helps."""
    reason = getattr(error, "reason", None)
    while isinstance(reason, BaseException):
        error, reason = reason, getattr(reason, "reason", None)
    text = str(error)
    return text.partition(": ")[2] or text
