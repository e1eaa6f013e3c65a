"""`usher serve`: runs the admission webhooks."""

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import click
import msgspec
import orjson
import structlog
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.authorities.gpu_quota.definitions import namespace_of_accounts
from usher.authorities.gpu_quota.live import account_store
from usher.authorities.gpu_quota.live.account_store import Meter
from usher.authorities.gpu_quota.live.service import ChargingService
from usher.authorities.knowledge import Knowledge
from usher.cli import given_policies, inputs
from usher.cluster import api, http_clients
from usher.cluster.watching import LiveFacts, StreamingApi
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.evaluator import Evaluator
from usher.server import logs
from usher.server.certs import issue
from usher.server.certs.certificates import service_names
from usher.server.certs.serving import CertificateSource, ClientAuthorities, Reloader
from usher.server.live_cluster import ClusterParts, Events
from usher.server.ports import Address
from usher.server.reloading import Bundles
from usher.server.serve import Access, Portal, Settings, run

SECRET: Final = "gpu-usher-certificates"  # noqa: S105 - its name
NAME: Final = "gpu-usher"
"""The webhook configurations and the Service of the server."""


class Api(account_store.Api, StreamingApi, http_clients.Api, Protocol):
    """All requests of a server to its API server. Their client is imported where there is a cluster."""


class Connect(Protocol):
    """Connects to the cluster of the options."""

    def __call__(self, *, hurried: bool = False) -> Api: ...


class CertificateOptions(Struct, frozen=True, kw_only=True):
    """The values of the options."""

    certificates_mode: str | None
    certificate: Path | None
    key: Path | None
    certificate_secret: str
    certificate_names: tuple[str, ...]
    webhook_configurations: str
    client_ca: Path | None
    client_names: tuple[str, ...]

    @property
    def clients(self) -> frozenset[str]:
        """Allowed common names of client certificates; empty if any client may call."""
        return frozenset(self.client_names if self.client_ca is not None else ())


def certificate_source(chosen: CertificateOptions, connect: Connect) -> Callable[[], CertificateSource]:
    """Returns a function that makes the source of the certificate.

    Raises:
        UsageError: the options contradict each other, or do not say where the certificate comes from.
    """
    mode = chosen.certificates_mode
    if chosen.certificate or chosen.key:
        if mode == "self-managed":
            raise click.UsageError("--certificates self-managed makes its own; leave out --certificate and --key")
        mode = "files"
    if mode is None and api.has_account():
        mode = "self-managed"
    if mode == "self-managed":
        return lambda: _managed(chosen, connect)
    certificate, key = chosen.certificate, chosen.key
    if certificate is None or key is None:
        raise click.UsageError(
            "give --certificate and --key, or --certificates self-managed with a cluster, or --dev to try it on this "
            "machine"
        )
    return lambda: _files(certificate, key, chosen)


def _files(certificate: Path, key: Path, chosen: CertificateOptions) -> CertificateSource:
    return Reloader(certificate, key, client_file=chosen.client_ca, names=chosen.certificate_names)


def _managed(chosen: CertificateOptions, connect: Connect) -> CertificateSource:
    from usher.server.certs.managed import ManagedCertificate, Place, SecretName

    before, _, name = chosen.certificate_secret.rpartition("/")
    secret = SecretName(namespace=before or api.own_namespace(), name=name)
    names = chosen.certificate_names or service_names(NAME, namespace=secret.namespace)
    return ManagedCertificate(
        connect(hurried=True),
        Place(secret=secret, configurations=chosen.webhook_configurations, names=names),
        clients=lambda: ClientAuthorities.read(chosen.client_ca) if chosen.client_ca is not None else None,
        report=lambda event, reason: structlog.get_logger().info(event, reason=reason),
    )


DEVELOPMENT_DIRECTORY: Final = Path(".usher/certs")
_NAMES: Final = ("localhost", "127.0.0.1", "::1", "gpu-usher.gpu-usher.svc")

_PATCH: Final = (
    'python3 -c \'import base64, json, sys; patch = base64.b64decode(json.load(sys.stdin)["response"]["patch"]); '
    "print(json.dumps(json.loads(patch), indent=2))'"
)
_SHOWN: Final = {"mutate": _PATCH, "validate": "python3 -m json.tool"}
"""Commands that show the answer of each endpoint; a patch comes in base64."""


def development_certificate(chosen: CertificateOptions) -> CertificateOptions:
    """The options with a certificate and its key, made or renewed as needed.

    Raises:
        CertificateError: the directory cannot be written.
        UsageError: the options name a certificate.
    """
    if chosen.certificate or chosen.key:
        raise click.UsageError("--dev makes its own certificate; leave out --certificate and --key")
    issue.ensure(DEVELOPMENT_DIRECTORY, names=_NAMES)
    return replace(
        chosen,
        certificates_mode="files",
        certificate=DEVELOPMENT_DIRECTORY / "tls.crt",
        key=DEVELOPMENT_DIRECTORY / "tls.key",
    )


class _Sample(Struct, frozen=True, forbid_unknown_fields=True):
    endpoint: str
    about: str
    object: dict[str, Any]


def _samples() -> dict[str, _Sample]:
    file = Path(__file__).with_name("sample_reviews.yaml")
    return msgspec.yaml.decode(file.read_bytes(), type=dict[str, _Sample])


def print_hints(webhook: Address, admin: Address) -> None:
    """Writes sample reviews and prints how to send them."""
    reviews = DEVELOPMENT_DIRECTORY / "reviews"
    reviews.mkdir(exist_ok=True)
    base = f"https://{webhook}"
    lines = [f"usher answers at {base}, probes and metrics at http://{admin}", ""]
    for name, sample in _samples().items():
        file = reviews / f"{name}.json"
        file.write_bytes(orjson.dumps(_review(sample.object), option=orjson.OPT_INDENT_2))
        curl = f"curl -s --cacert {DEVELOPMENT_DIRECTORY / 'ca.crt'} -H 'Content-Type: application/json' --data @{file}"
        lines += [f"# {sample.about}", f"{curl} {base}/{sample.endpoint} | {_SHOWN[sample.endpoint]}", ""]
    click.echo("\n".join([*lines, "Stop with Ctrl-C. The log below has one line for each review."]))


def _review(value: paths.Object) -> paths.Object:
    group, _, version = str(value["apiVersion"]).rpartition("/")
    metadata = paths.metadata(value)
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "8f1c2e3a-0000-4000-8000-000000000001",
            "kind": {"group": group, "version": version, "kind": value["kind"]},
            "resource": {"group": group, "version": version, "resource": f"{value['kind']}s".lower()},
            "operation": "CREATE",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "object": value,
            "oldObject": None,
        },
    }


_SHORTEST_KEY: Final = 16
"""The fewest bytes of a key, so that it cannot be guessed."""

_LARGEST_KEY: Final = 4096


class RecordOptions(Struct, frozen=True, kw_only=True):
    """The values of the options."""

    record_file: Path | None
    record_size: int
    """Size in MiB."""
    record_anonymised: bool
    record_key: Path | None

    def settings(self) -> logs.RecordSettings | None:
        """The settings of the record; None to record nothing.

        Raises:
            InputError: the key cannot be read, or is too short.
            UsageError: an option misses the one that it belongs to.
        """
        if self.record_file is None:
            if self.record_anonymised or self.record_key is not None:
                raise click.UsageError("--record-anonymised and --record-key need --record FILE")
            return None
        if self.record_key is not None and not self.record_anonymised:
            raise click.UsageError("--record-key needs --record-anonymised")
        key = None
        if self.record_anonymised:
            key = secrets.token_bytes(32) if self.record_key is None else _key(self.record_key)
        return logs.RecordSettings(file=self.record_file, size=self.record_size * logs.MEBIBYTE, key=key)


def _key(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            key = stream.read(_LARGEST_KEY).strip()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise errors.InputError(f"--record-key: {file} cannot be read: {reason}") from None
    if len(key) < _SHORTEST_KEY:
        raise errors.InputError(
            f"--record-key: {file} holds {len(key)} bytes; a key needs {_SHORTEST_KEY} or more, "
            "for example of `openssl rand -hex 32`"
        )
    return key


class ClusterOptions(Struct, frozen=True, kw_only=True):
    """The values of the options."""

    facts: tuple[str, ...]
    """Files with the facts, instead of the cluster; or `live`."""
    live: bool | None
    kubeconfig: Path | None
    context_name: str | None
    events: bool

    def connect(self, *, hurried: bool = False) -> Api:
        """A connection to the API server; with `hurried` for calls that a review waits for.

        Raises:
            ClusterError: there is no configuration of a cluster that can be used.
        """
        from usher.cluster import connection

        return connection.connect(kubeconfig=self.kubeconfig, context=self.context_name, hurried=hurried)

    def access(self) -> Access:
        """Who may ask the admin port. Without a cluster the server still decides, but no client may ask."""
        try:
            return Access(self.connect(hurried=True))
        except errors.ClusterError:
            return Access(None)

    @property
    def files(self) -> tuple[str, ...]:
        """The files with facts, which the server reads instead of a cluster."""
        return tuple(each for each in self.facts if each not in inputs.NO_FILES)

    def watched(self, *, certified: bool) -> ClusterParts | None:
        """The cluster to watch; None where no cluster is watched.

        Args:
            certified: whether the cluster also keeps the certificate.

        Raises:
            ClusterError: there is no configuration of a cluster that can be used.
        """
        live = True if inputs.LIVE in self.facts else self.live
        if inputs.NONE in self.facts:
            if live or self.files:
                raise click.UsageError("with `--facts none`, the server reads no facts; leave out the other options")
            live = False
        if live and self.files:
            raise click.UsageError("a cluster and files are two sources of the same facts; choose one for --facts")
        named = self.kubeconfig is not None or self.context_name is not None
        if named and not live and not certified:
            raise click.UsageError("--kubeconfig and --context need --facts live or --certificates self-managed")
        if live is False or self.files:
            return None
        # A pod may run without a service account token: then decisions use only the reviews.
        return self._parts() if live or api.has_account() else None

    def _parts(self) -> ClusterParts:
        facts = LiveFacts(self.connect())
        return ClusterParts(facts=facts, charging=self._charging, events=self._events if self.events else None)

    def _charging(self, knowledge: Callable[[], Knowledge], meter: Meter) -> ChargingService:
        hurried, namespace = self.connect(hurried=True), namespace_of_accounts(api.own_namespace())
        return ChargingService(hurried, self.connect, knowledge, namespace=namespace, meter=meter)

    def _events(self, count: Callable[[str], None]) -> Events:
        return Events(self.connect(hurried=True), count=count)


class PortOptions(Struct, frozen=True, kw_only=True):
    """The values of the options."""

    host: str | None
    port: int
    admin_host: str | None
    admin_port: int
    metrics_access: str
    portal: bool

    def webhook(self, *, dev: bool) -> Address:
        """Where the webhook port listens; with `dev` only this machine reaches it."""
        return Address(host=self._host(dev=dev), port=self.port)

    def admin(self, *, dev: bool) -> Address:
        """Where the admin port listens."""
        return Address(host=self.admin_host or self._host(dev=dev), port=self.admin_port)

    def _host(self, *, dev: bool) -> str:
        return self.host or ("127.0.0.1" if dev else "0.0.0.0")  # noqa: S104 - a webhook must be reachable from the API server


def portal_application(access: Access) -> Portal:
    """Returns a function that makes the application for questions of clients."""
    from usher.server import portal as server_portal

    return lambda evaluator, count: server_portal.application(server_portal.Portal(evaluator, access, count))


_OWN_DEADLINE = 0.25
"""Seconds for own checks of the site and one object: small reviews run in the event loop, where all others wait."""


@inputs.command("serve")
def serve(
    *,
    certificate: CertificateOptions,
    dev: bool,
    config_file: Path | None,
    cluster: ClusterOptions,
    ports: PortOptions,
    policies: given_policies.BundleOptions,
    record: RecordOptions,
    engine: str,
    opa_url: str | None,
    reload_interval: float,
) -> None:
    certified = certificate.certificates_mode == "self-managed"
    if dev:
        certificate = development_certificate(certificate)
    policies.check()
    source = certificate_source(certificate, cluster.connect)
    watched = cluster.watched(certified=certified)
    if ports.portal and watched is None:
        raise click.UsageError("--portal needs a cluster, which says who may ask: add --facts live")
    settings = Settings(
        webhook=ports.webhook(dev=dev),
        admin=ports.admin(dev=dev),
        certificate=source,
        clients=certificate.clients,
        reload_interval=reload_interval,
        configuration=config_file,
        metrics_access=cluster.access() if ports.metrics_access == "token" else None,
        portal=portal_application(cluster.access()) if ports.portal else None,
        record=record.settings(),
        policies=Bundles(policies.policies, verify_key=policies.verify_key) if policies.policies else None,
    )
    logs.configure()
    logs.take_over_process()

    make = partial(_evaluator, config_file, cluster, watched, engine=engine, opa_url=opa_url)
    started = print_hints if dev else lambda _webhook, _admin: None
    run(settings, make, revision=catalogue.load().revision, started=started, cluster=watched)


def _evaluator(
    config_file: Path | None,
    cluster: ClusterOptions,
    watched: ClusterParts | None,
    own: Sequence[OwnChecks],
    *,
    engine: str,
    opa_url: str | None,
) -> Evaluator:
    """The evaluator for the current usher.yaml. Logs its warnings."""
    from usher.policy import assembly

    made = inputs.assembled(
        config_file,
        engine=engine,
        opa_url=opa_url,
        facts=cluster.files,
        known=watched.facts.store if watched is not None else None,
        own=own,
        own_deadline=_OWN_DEADLINE,
    )
    for warning in assembly.warnings(made, file=config_file):
        structlog.get_logger().warning("configuration_warning", reason=warning)
    return made
