"""Where the API server is and how to log in: kubectl's own configuration, or the account of this pod."""

import contextlib
import os
from pathlib import Path
from typing import Final

import yaml
from kubernetes import client
from kubernetes.config import config_exception, incluster_config, kube_config

from usher import errors
from usher.cluster import logins
from usher.http_clients import proxies

_NAMESPACE: Final = "gpu-usher"


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
        if kubeconfig is None and context is None and not _has_kubeconfig() and _in_cluster():
            incluster_config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]  # no types
            _choose_proxy(configuration)
            return configuration, f"the cluster of this pod ({configuration.host})"
        file = str(kubeconfig) if kubeconfig is not None else kube_config.KUBE_CONFIG_DEFAULT_LOCATION
        login = logins.Loader(file, context)
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
        _, active = kube_config.list_kube_config_contexts(file)  # type: ignore[no-untyped-call]  # no types
        return str(active["name"])
    except (config_exception.ConfigException, OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return ""


def _choose_proxy(configuration: client.Configuration) -> None:
    """Sets the proxy, like kubectl: the `proxy-url` of a kubeconfig wins over variables. Raises ClusterError."""
    try:
        found = (
            proxies.read(configuration.proxy, source="proxy-url of the kubeconfig")
            if configuration.proxy
            else proxies.of_environment(configuration.host)
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


def has_account() -> bool:
    """Whether this is a pod with the token of a service account."""
    return _in_cluster() and Path(incluster_config.SERVICE_TOKEN_FILENAME).exists()


def own_namespace() -> str:
    """The namespace of this pod; outside of a cluster the namespace of our manifests."""
    file = Path(incluster_config.SERVICE_TOKEN_FILENAME).with_name("namespace")
    with contextlib.suppress(OSError):
        return file.read_text(encoding="utf-8").strip() or _NAMESPACE
    return _NAMESPACE


def _in_cluster() -> bool:
    return incluster_config.SERVICE_HOST_ENV_NAME in os.environ


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
