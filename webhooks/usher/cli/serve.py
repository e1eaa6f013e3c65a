"""`usher serve`: runs the admission webhooks."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher.cli import certificates, given_policies, inputs, record_options, serve_cluster, serve_ports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from usher.policy.checks.catalogue import OwnChecks
    from usher.policy.evaluator import Evaluator
    from usher.server.live_cluster import ClusterParts

_OWN_DEADLINE = 0.25
"""Seconds for own checks of the site and one object: small reviews run in the event loop, where all others wait."""


@click.command()
@certificates.options
@click.option("--dev", is_flag=True, help="Make a local CA and certificate in .usher/certs, and print requests to try.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="usher.yaml. Default: safe defaults.")
@serve_cluster.options
@serve_ports.options
@given_policies.bundle_options
@record_options.options
@click.option("--engine", type=click.Choice(["wasm", "opa"]), default="wasm", show_default=True, help="Policy engine.")
@click.option(
    "--opa-url", default="http://127.0.0.1:8181", show_default=True, help="The OPA server, with --engine opa."
)
@click.option("--reload-interval", default=10.0, hidden=True, help="Seconds between checks of the files.")
def serve(
    *,
    certificate: certificates.Options,
    dev: bool,
    config_file: Path | None,
    cluster: serve_cluster.Options,
    ports: serve_ports.Options,
    policies: given_policies.BundleOptions,
    record: record_options.Options,
    engine: str,
    opa_url: str,
    reload_interval: float,
) -> None:
    """Answer admission reviews over TLS: POST /mutate, /validate and /configuration.

    \b
    usher serve --dev                                  try it on this machine
    usher serve                                        in a cluster, with a certificate that it makes and renews
    usher serve --certificate tls.crt --key tls.key    with files that something else renews
    """
    from usher.cli import development
    from usher.policy.checks import bundle
    from usher.server import logs
    from usher.server.serve import Settings, run

    certified = certificate.certificates_mode == "self-managed"
    if dev:
        certificate = development.certificate(certificate)
    source = certificates.source(certificate, cluster.connect)
    watched = cluster.watched(certified=certified)
    if ports.portal and watched is None:
        raise click.UsageError("--portal needs a cluster, which says who may ask: add --live")
    settings = Settings(
        webhook=ports.webhook(dev=dev),
        admin=ports.admin(dev=dev),
        certificate=source,
        clients=certificate.clients,
        reload_interval=reload_interval,
        configuration=config_file,
        metrics_access=cluster.access() if ports.metrics_access == "token" else None,
        portal=serve_ports.portal(cluster.access()) if ports.portal else None,
        record=record.settings(),
        policies=policies.bundles(),
    )
    logs.configure()

    make = partial(_evaluator, config_file, cluster, watched, engine=engine, opa_url=opa_url)
    started = development.hints if dev else lambda _webhook, _admin: None
    run(settings, make, revision=bundle.load().revision, started=started, cluster=watched)


def _evaluator(
    config_file: Path | None,
    cluster: serve_cluster.Options,
    watched: "ClusterParts | None",
    own: "Sequence[OwnChecks]",
    *,
    engine: str,
    opa_url: str,
) -> "Evaluator":
    """The evaluator for the current usher.yaml. Logs its warnings."""
    import structlog

    from usher.policy import assembly

    made = inputs.assembled(
        config_file,
        engine=engine,
        opa_url=opa_url,
        facts=cluster.facts,
        known=watched.facts.store if watched is not None else None,
        own=own,
        own_deadline=_OWN_DEADLINE,
    )
    for warning in assembly.warnings(made, file=config_file):
        structlog.get_logger().warning("configuration_warning", reason=warning)
    return made
