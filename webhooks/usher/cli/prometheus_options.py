"""The options of commands for Prometheus: where it is, how to sign in, and whose series to read."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from usher.cli import option_groups
from usher.cli.option_groups import Command
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.prometheus.promql_source import PrometheusSource

_FILE: Final = click.Path(dir_okay=False, path_type=Path)

_OPTIONS: Final = (
    click.option(
        "--prometheus",
        metavar="URL",
        envvar="USHER_PROMETHEUS",
        help="Prometheus, Thanos, Mimir or VictoriaMetrics with the metrics of GPUs: "
        "http://prometheus.monitoring:9090. With user:password@ before the host for basic authentication. "
        "Without it no usage is measured.",
    ),
    click.option(
        "--prometheus-token-file",
        type=_FILE,
        help="File with a bearer token for Prometheus; else $USHER_PROMETHEUS_TOKEN, if it is set.",
    ),
    click.option(
        "--prometheus-secret",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Folder of a mounted Secret with some of token, ca.crt, tls.crt and tls.key, instead of an option for "
        "each.",
    ),
    click.option(
        "--prometheus-header",
        multiple=True,
        metavar="NAME=VALUE",
        help="Send this header with each query, like X-Scope-OrgID=team-a for Mimir. Repeatable. For secrets, "
        "set $USHER_PROMETHEUS_HEADERS with one NAME=VALUE on each line.",
    ),
    click.option(
        "--prometheus-label",
        multiple=True,
        metavar="NAME=VALUE",
        help="Read only series with this label, where one Prometheus has the series of several clusters: "
        "cluster=prod-1. {cluster} in the value is the name of the audited cluster. Repeatable.",
    ),
    click.option(
        "--prometheus-ca",
        type=_FILE,
        help="CA certificates in PEM that Prometheus is trusted by, instead of those of the system.",
    ),
    click.option(
        "--prometheus-cert",
        type=_FILE,
        help="Client certificate in PEM, for a Prometheus that asks for one (mutual TLS).",
    ),
    click.option(
        "--prometheus-key", type=_FILE, help="Key of --prometheus-cert in PEM, if it is not in the same file."
    ),
)
"""In the order of the help page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """A Prometheus, by the options of a command. Files are read when it is asked."""

    url: str
    folder: Path | None = None
    """The folder of a mounted Secret; other options win over its files."""
    token_file: Path | None = None
    ca_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    headers: tuple[str, ...] = ()
    """NAME=VALUE."""
    labels: tuple[str, ...] = ()
    """NAME=VALUE; in a value, {cluster} is the name of the cluster."""

    def source(self, *, cluster: str) -> "PrometheusSource":
        """The series of this Prometheus.

        Args:
            cluster: the name that stands for {cluster} in labels.

        Raises:
            InputError: the URL, a file, a header or a label of the options cannot be used.
        """
        from usher.audit.prometheus import endpoint, query_client
        from usher.audit.prometheus.promql_source import PrometheusSource

        files = endpoint.mounted_files(self.folder) if self.folder else endpoint.MountedFiles()
        found = endpoint.read_address(
            self.url,
            token_file=self.token_file or files.token,
            ca_file=self.ca_file or files.ca,
            certificate=self.certificate or files.certificate,
            key=self.key if self.certificate else files.key,
            given_headers=self.headers,
        )
        return PrometheusSource(query_client.Client(found), only=endpoint.read_labels(self.labels, cluster=cluster))


def options(command: Command) -> Command:
    """Adds the options to a command, which gets them as `prometheus`; None without a URL."""

    @functools.wraps(command)
    def run(*arguments: object, prometheus: str | None, **values: Any) -> object:  # noqa: ANN401 - click passes values of all options
        names = [name for name in values if name.startswith("prometheus_")]
        given = _given(prometheus, **{name: values.pop(name) for name in names})
        return command(*arguments, prometheus=given, **values)

    return option_groups.added(run, *_OPTIONS)


def _given(
    url: str | None,
    *,
    prometheus_secret: Path | None,
    prometheus_token_file: Path | None,
    prometheus_header: tuple[str, ...],
    prometheus_label: tuple[str, ...],
    prometheus_ca: Path | None,
    prometheus_cert: Path | None,
    prometheus_key: Path | None,
) -> Prometheus | None:
    """The Prometheus of the options; None without a URL.

    Raises:
        UsageError: an option misses the one that it belongs to.
    """
    files = (prometheus_secret, prometheus_token_file, prometheus_ca, prometheus_cert, prometheus_key)
    if url is None and any((*files, prometheus_header, prometheus_label)):
        raise click.UsageError("the options --prometheus-... need --prometheus URL")
    if prometheus_key and not prometheus_cert:
        raise click.UsageError("--prometheus-key belongs to a certificate; give it with --prometheus-cert FILE")
    if url is None:
        return None
    return Prometheus(
        url=url,
        folder=prometheus_secret,
        token_file=prometheus_token_file,
        ca_file=prometheus_ca,
        certificate=prometheus_cert,
        key=prometheus_key,
        headers=prometheus_header,
        labels=prometheus_label,
    )
