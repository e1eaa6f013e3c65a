"""Where `usher serve` gets its certificate: the options, and the source that they select."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import click

from usher.cli import option_groups
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.certs.contexts import Clients
    from usher.certs.serving import Source
    from usher.cluster.connection import Api

SECRET: Final = "gpu-usher-certificates"  # noqa: S105 - its name
CONFIGURATIONS: Final = "gpu-usher"
SERVICE: Final = "gpu-usher"


class Connect(Protocol):
    """Connects to the cluster of the options."""

    def __call__(self, *, hurried: bool = False) -> "Api": ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
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


options = option_groups.as_value(
    "certificate",
    Options,
    click.option(
        "--certificates",
        "certificates_mode",
        type=click.Choice(["self-managed", "files"]),
        default=None,
        help="Keep a CA and a certificate in a Secret, or read files [default: self-managed in a pod with a service "
        "account, unless --certificate is given].",
    ),
    click.option("--certificate", type=click.Path(path_type=Path), help="Serving certificate (PEM)."),
    click.option("--key", type=click.Path(path_type=Path), help="Its private key (PEM)."),
    click.option(
        "--certificate-secret",
        metavar="[NAMESPACE/]NAME",
        default=SECRET,
        show_default=True,
        help="Secret of self-managed certificates, in the namespace of the server.",
    ),
    click.option(
        "--certificate-name",
        "certificate_names",
        metavar="NAME",
        multiple=True,
        help="DNS name or IP address that the certificate must have, repeatable [default: with self-managed those of "
        "the Service gpu-usher].",
    ),
    click.option(
        "--webhook-configurations",
        metavar="NAME",
        default=CONFIGURATIONS,
        show_default=True,
        help="Webhook configurations whose caBundle is kept right.",
    ),
    click.option(
        "--client-ca",
        type=click.Path(path_type=Path),
        help="Refuse clients without a certificate of a CA in this file (PEM).",
    ),
    click.option(
        "--client-name",
        "client_names",
        metavar="NAME",
        multiple=True,
        default=("kube-apiserver",),
        show_default=True,
        help="Common name that the certificate of a client must have, repeatable; with --client-ca.",
    ),
)


def source(chosen: Options, connect: Connect) -> "Callable[[], Source]":
    """Returns a function that makes the source of the certificate.

    Raises:
        UsageError: the options contradict each other, or do not say where the certificate comes from.
    """
    from usher.cluster import kubeconfig as kubeconfigs

    mode = chosen.certificates_mode
    if chosen.certificate or chosen.key:
        if mode == "self-managed":
            raise click.UsageError("--certificates self-managed makes its own; leave out --certificate and --key")
        mode = "files"
    if mode is None and kubeconfigs.has_account():
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


def _files(certificate: Path, key: Path, chosen: Options) -> "Source":
    from usher.certs.serving import Reloader

    return Reloader(certificate, key, client_file=chosen.client_ca, names=chosen.certificate_names)


def _managed(chosen: Options, connect: Connect) -> "Source":
    import structlog

    from usher.certs.authority import service_names
    from usher.certs.managed import ManagedCertificate, Place
    from usher.certs.secret import SecretName
    from usher.cluster import kubeconfig as kubeconfigs

    before, _, name = chosen.certificate_secret.rpartition("/")
    secret = SecretName(namespace=before or kubeconfigs.own_namespace(), name=name)
    names = chosen.certificate_names or service_names(SERVICE, namespace=secret.namespace)
    return ManagedCertificate(
        connect(hurried=True),
        Place(secret=secret, configurations=chosen.webhook_configurations, names=names),
        clients=lambda: _clients(chosen.client_ca),
        report=lambda event, reason: structlog.get_logger().info(event, reason=reason),
    )


def _clients(file: Path | None) -> "Clients | None":
    from usher.certs.contexts import Clients

    return Clients.read(file) if file is not None else None
