"""The login of a kubeconfig, as the client of Kubernetes reads it, but with an error if it fails."""

from typing import TYPE_CHECKING, Any, Final

from kubernetes import client
from kubernetes.config import config_exception, dateutil, exec_provider, kube_config

from usher import errors
from usher.http_clients import failures

if TYPE_CHECKING:
    from collections.abc import Mapping

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
                f"{self._place}: its auth-provider gives no token: {failures.plain(str(error))}; {_TRY}"
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

    def _answer_of_plugin(self, folder: str) -> "Mapping[str, Any]":
        try:
            plugin = exec_provider.ExecProvider(self._exec, folder, self._cluster)  # type: ignore[no-untyped-call]  # no types
            status = plugin.run()  # type: ignore[no-untyped-call]  # no types
        except FileNotFoundError:
            hint = self._exec.safe_get("installHint")
            remedy = failures.plain(str(hint)) if hint else "install it, or add its folder to PATH"
            raise errors.ClusterError(f"{self._plugin} is not found; {remedy}") from None
        except OSError as error:
            raise errors.ClusterError(f"{self._plugin} cannot be run: {error.strerror}") from None
        except config_exception.ConfigException as error:
            words = failures.plain(str(error).removeprefix("exec: "), longest=_LONGEST)
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

    def _as_file(self, status: "Mapping[str, Any]", key: str) -> str:
        found: str = kube_config.FileOrData(
            status, None, data_key_name=key, file_base_path="", base64_file_content=False
        ).as_file()  # type: ignore[no-untyped-call]  # no types
        return found
