"""Where the API server is and how to log in: kubectl's own configuration, or the account of this pod."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from kubernetes import client
from kubernetes.config import config_exception, dateutil, exec_provider, incluster_config, kube_config

from usher import errors
from usher.cluster import http_clients

_LONGEST: Final = 1000
"""Characters of a plugin's output that usher shows; long, because the remedy often comes last."""

_TRY: Final = "log in again, and see that `kubectl auth whoami` works"


class Loader(kube_config.KubeConfigLoader):
    """One context of a kubeconfig.

    After a failed credential plugin, the client would continue as `system:anonymous`, with a log entry or without one.
    """

    def __init__(self, file: str, context: str | None) -> None:
        """Reads the file, or the files between colons.

        Raises:
            ConfigException: the files do not have the context.
            OSError: a file cannot be read.
        """
        merged = kube_config.KubeConfigMerger(file)  # type: ignore[no-untyped-call]  # no types
        if merged.config is None:
            raise config_exception.ConfigException("it holds no configuration")
        super().__init__(  # type: ignore[no-untyped-call]  # no types
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
        self.load_and_set(configuration)  # type: ignore[no-untyped-call]  # no types
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
            return super()._load_auth_provider_token()  # type: ignore[no-untyped-call]  # no types
        except Exception as error:  # noqa: BLE001 - whatever the library of the provider raises
            raise errors.ClusterError(
                f"{self._place}: its auth-provider gives no token: {http_clients.plain_line(str(error))}; {_TRY}"
            ) from None

    def _load_from_exec_plugin(self) -> bool:
        """The credentials of a plugin, if the user has one. The client also calls this when they have expired."""
        if not self._has("exec"):
            return False
        cluster: Any = self._cluster
        base = self._get_base_path(cluster.path)  # type: ignore[no-untyped-call]  # no types
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
            self.expiry = dateutil.parse_rfc3339(status["expirationTimestamp"])  # type: ignore[no-untyped-call]  # no types
        return True

    def _answer_of_plugin(self, folder: str) -> Mapping[str, Any]:
        try:
            plugin = exec_provider.ExecProvider(self._exec, folder, self._cluster)  # type: ignore[no-untyped-call]  # no types
            status = plugin.run()  # type: ignore[no-untyped-call]  # no types
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
        ).as_file()  # type: ignore[no-untyped-call]  # no types
        return found


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
        if kubeconfig is None and context is None and not _has_kubeconfig() and _runs_in_cluster():
            incluster_config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]  # no types
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
        _, active = kube_config.list_kube_config_contexts(file)  # type: ignore[no-untyped-call]  # no types
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


def has_account() -> bool:
    """Whether this is a pod with the token of a service account."""
    return _runs_in_cluster() and Path(incluster_config.SERVICE_TOKEN_FILENAME).exists()


def own_namespace() -> str:
    """The namespace of this pod; outside of a cluster the namespace of our manifests."""
    file = Path(incluster_config.SERVICE_TOKEN_FILENAME).with_name("namespace")
    with contextlib.suppress(OSError):
        return file.read_text(encoding="utf-8").strip() or _NAMESPACE
    return _NAMESPACE


def _runs_in_cluster() -> bool:
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
