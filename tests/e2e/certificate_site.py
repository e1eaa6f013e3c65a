"""Servers that keep their own certificate before the real API server, with the rights of manifests/base and no others.

The webhooks are of the test's own: they ask about ConfigMaps in one namespace and fail closed, so that every call that
fails is seen.
"""

import base64
import contextlib
import http.client
import signal
import ssl
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509

import builders
import reviews
import server_process
from e2e import accounts
from e2e.balancer import Endpoints, balancing
from e2e.cluster import ApiError, Cluster, Object
from e2e.processes import LOOPBACK
from server_process import JSON, ServerProcess, ask
from usher.cluster import connection
from usher.server.certs import managed
from usher.server.certs.managed import KeptCertificates, ManagedCertificate, Place, SecretName

NAME = "certified"
"""The name of the webhook configurations."""

SECRET = "gpu-usher-certificates"
REGISTRATION = "admissionregistration.k8s.io/v1"
KINDS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
PLACE = Place(
    secret=SecretName(namespace=accounts.NAMESPACE, name=SECRET), configurations=NAME, names=[LOOPBACK, "localhost"]
)
BURST = 50
"""Calls at a time. An API server keeps 25 idle connections to a host, so some of a burst come on new ones."""


@dataclass(kw_only=True)
class Site:
    cluster: Cluster
    account: Path
    """The kubeconfig of the server's account."""
    namespace: str
    """The namespace whose ConfigMaps the webhooks judge."""
    port: int = 0
    """At which the API server asks the servers."""
    opened: int = field(default=0)
    """Connections to the servers that were opened."""

    def managed(self, *, ahead: timedelta = timedelta()) -> ManagedCertificate:
        """A replica without a server: it only keeps the certificate. Its clock may be ahead."""
        api = connection.connect(kubeconfig=self.account, hurried=True)
        return ManagedCertificate(api, PLACE, clock=lambda: now() + ahead)

    def kept(self) -> KeptCertificates:
        """The data of the Secret."""
        data = self.cluster.get("Secret", SECRET, namespace=accounts.NAMESPACE)["data"]
        kept = managed.read_kept({part: base64.b64decode(value) for part, value in data.items()}, source="Secret")
        assert kept is not None
        return kept

    def keep(self, kept: KeptCertificates) -> None:
        """Replaces what the Secret holds, as time would."""
        data = {part: base64.b64encode(value).decode() for part, value in kept.data().items()}
        secret = self.cluster.get("Secret", SECRET, namespace=accounts.NAMESPACE)
        self.cluster.replace({**secret, "data": data})

    def trusted(self) -> list[x509.Certificate]:
        """The CAs of all bundles, which must be equal; empty while they are not or one is empty."""
        found = {
            webhook["clientConfig"].get("caBundle", "")
            for kind in KINDS
            for webhook in self.cluster.get(kind, NAME, api_version=REGISTRATION)["webhooks"]
        }
        bundles = [base64.b64decode(each) for each in found]
        return x509.load_pem_x509_certificates(bundles[0]) if len(bundles) == 1 and bundles[0] else []

    def failures(self, calls: int) -> list[str]:
        """The failures among `count` creations, BURST at a time; each calls both webhooks, and nothing is stored."""

        def create(number: int) -> str:
            value: Object = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"call-{number}", "namespace": self.namespace},
            }
            try:
                self.cluster.create(value, dry_run=True)
            except ApiError as error:
                return error.message
            return ""

        with ThreadPoolExecutor(BURST) as pool:
            return [failure for failure in pool.map(create, range(calls)) if failure]

    def failures_of_new_clients(self, calls: int) -> list[str]:
        """The failures among reviews of clients that trust the present caBundle, each over a new connection."""
        (bundle,) = {
            webhook["clientConfig"]["caBundle"]
            for webhook in self.cluster.get(KINDS[0], NAME, api_version=REGISTRATION)["webhooks"]
        }
        trusted = ssl.create_default_context(cadata=base64.b64decode(bundle).decode())
        body = reviews.body(builders.pod(builders.container()))

        def call(_number: int) -> str:
            connection = http.client.HTTPSConnection(LOOPBACK, self.port, timeout=60, context=trusted)
            try:
                with contextlib.closing(connection):
                    status = ask(connection, "POST", "/validate?timeout=20s", body=body, headers=JSON).status
            except (OSError, http.client.HTTPException) as error:
                return f"{type(error).__name__}: {error}"
            return "" if status == http.client.OK else f"HTTP {status}"

        with ThreadPoolExecutor(BURST // 5) as pool:
            return [failure for failure in pool.map(call, range(calls)) if failure]


def granted(cluster: Cluster) -> list[Object]:
    """Applies the roles and the Secret of servers that keep the certificate of the configurations NAME."""
    applied = accounts.granted(cluster, "base/rbac.yaml", "base/certificate-secret.yaml")
    for each in yaml.safe_load_all((accounts.MANIFESTS / "base" / "certificate-role.yaml").read_text()):
        if each["kind"] == "ClusterRole":
            (rule,) = each["rules"]
            assert rule["resourceNames"] == ["gpu-usher"]
            rule["resourceNames"] = [NAME]
        cluster.apply(each)
        applied.append(each)
    return applied


@contextlib.contextmanager
def site(cluster: Cluster) -> Iterator[Site]:
    """The account and its roles, an empty Secret, and a namespace; afterwards all of it is gone."""
    for name in accounts.NAMESPACES:
        cluster.ensure_namespace(name)
    asked = cluster.create_namespace(prefix="certified-")
    applied = granted(cluster)
    try:
        yield Site(cluster=cluster, account=accounts.kubeconfig(cluster, "certified"), namespace=asked)
    finally:
        for each in applied:
            if "namespace" not in each["metadata"]:
                cluster.delete(each["kind"], each["metadata"]["name"], api_version=each["apiVersion"])
        cluster.delete_namespace(asked, wait=False)
        for name in accounts.NAMESPACES:
            cluster.delete_namespace(name)


@contextlib.contextmanager
def replica(
    site: Site, directory: Path, *, more: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Iterator[ServerProcess]:
    """A server that is ready, with more arguments; `env` are further variables of its environment."""
    directory.mkdir()
    arguments = (
        *("--certificates=self-managed", f"--kubeconfig={site.account}", "--reload-interval=2"),
        *(f"--certificate-secret={accounts.NAMESPACE}/{SECRET}", f"--webhook-configurations={NAME}"),
        *(f"--certificate-name={name}" for name in PLACE.names),
        *more,
    )
    with server_process.running(directory, arguments=arguments, from_files=False, env=env) as server:
        try:
            yield server
        finally:
            with contextlib.suppress(ProcessLookupError):
                server.running.process.send_signal(signal.SIGINT)


@contextlib.contextmanager
def registered(site: Site, replicas: Sequence[ServerProcess] = (), *, idle: float | None = None) -> Iterator[None]:
    """While the context lasts, the API server asks the replicas about ConfigMaps and needs their answer.

    `idle` are the seconds after which their address closes idle connections.
    """

    def opened() -> None:
        site.opened += 1

    with balancing(Endpoints(*(each.port for each in replicas)), opened=opened, idle=idle) as port:
        site.port = port
        for kind, path in zip(KINDS, ("validate", "mutate"), strict=True):
            site.cluster.create(_configuration(kind, f"https://{LOOPBACK}:{port}/{path}", namespace=site.namespace))
        try:
            yield
        finally:
            for kind in KINDS:
                site.cluster.delete(kind, NAME, api_version=REGISTRATION)


def _configuration(kind: str, url: str, *, namespace: str) -> Object:
    webhook: dict[str, Any] = {
        "name": "certified.gpu-usher.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 20,
        "clientConfig": {"url": url},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
    }
    return {"apiVersion": REGISTRATION, "kind": kind, "metadata": {"name": NAME}, "webhooks": [webhook]}


def now() -> datetime:
    return datetime.now(UTC)
