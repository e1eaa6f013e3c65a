"""The way to a portal: a URL, or a tunnel of kubectl, with the CAs to trust."""

import base64
import contextlib
import http.client
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from usher import errors
from usher.dataclass import dataclass

_SECONDS: Final = 30.0
_ADMIN_PORT: Final = 8080


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Where to ask, and as whom."""

    url: str
    ca_file: Path | None
    server_namespace: str
    kubeconfig: Path | None
    context_name: str | None
    format_name: str


class Connection(http.client.HTTPSConnection):
    """A connection to an address that is not the name in the certificate, because a tunnel leads to it."""

    def __init__(self, host: str, port: int, *, name: str, tls: ssl.SSLContext) -> None:
        super().__init__(host, port, timeout=_SECONDS, context=tls)
        self._name, self._tls = name, tls

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


@contextlib.contextmanager
def address(asking: Asking) -> Iterator[tuple[str, int, str, ssl.SSLContext]]:
    """Host, port, name in the certificate, and the CAs to trust, as long as the context lasts."""
    if asking.url:
        parts = urlsplit(asking.url)
        if parts.scheme != "https" or not parts.hostname:
            raise errors.InputError(f"--url {asking.url} is not an https URL; the token must not go over plain HTTP")
        yield parts.hostname, parts.port or 443, parts.hostname, ssl.create_default_context(cafile=asking.ca_file)
        return
    tls = ssl.create_default_context(cafile=asking.ca_file, cadata=None if asking.ca_file else _ca_bundle(asking))
    with _forwarded(asking) as port:
        yield "127.0.0.1", port, f"gpu-usher.{asking.server_namespace}.svc", tls


def _ca_bundle(asking: Asking) -> str:
    """The CA that the API server trusts. Raises ClusterError if usher may not read it."""
    from usher.cluster import connection

    api = connection.connect(kubeconfig=asking.kubeconfig, context=asking.context_name)
    answer = api.get("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gpu-usher")
    webhooks: Any = answer.value.get("webhooks") if answer.status == http.client.OK else None
    bundle = webhooks[0].get("clientConfig", {}).get("caBundle") if webhooks else ""
    if not bundle:
        raise errors.ClusterError(
            "the CA of the portal is not known: you may not read the webhook configuration gpu-usher; get the CA from "
            "an administrator and name it with --ca-file"
        )
    return base64.b64decode(bundle).decode()


@contextlib.contextmanager
def _forwarded(asking: Asking) -> Iterator[int]:
    """A local port that leads to the server, as long as the context lasts."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        raise errors.InputError("kubectl is not installed; install it, or name the portal with --url")
    given = (("--kubeconfig", asking.kubeconfig), ("--context", asking.context_name))
    arguments = [f"{name}={value}" for name, value in given if value is not None]
    command = [
        *(kubectl, "port-forward", f"--namespace={asking.server_namespace}", *arguments),
        *("deployment/gpu-usher", f":{_ADMIN_PORT}"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - the user's own kubectl
        try:
            line = process.stdout.readline() if process.stdout is not None else ""
            port = line.partition("127.0.0.1:")[2].partition(" ")[0]
            if not port.isdecimal():
                said = process.stderr.read().strip() if process.stderr is not None else ""
                raise errors.ClusterError(
                    f"kubectl port-forward does not reach the server: {said or 'without a reason'}"
                )
            yield int(port)
        finally:
            process.terminate()
