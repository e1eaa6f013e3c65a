"""`usher serve`: runs the admission webhooks."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher.cli import certificates, given_policies, inputs, record_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from usher.authorities.gpu_quota.live.metering import Meter
    from usher.authorities.knowledge import Knowledge
    from usher.policy.checks.own import OwnChecks
    from usher.policy.evaluator import Evaluator
    from usher.server.access import Access
    from usher.server.live_cluster import ClusterParts
    from usher.server.serve import Portal

_OWN_DEADLINE = 0.25
"""Seconds for own checks of the site and one object: small reviews run in the event loop, where all others wait."""


@click.command()
@certificates.options
@click.option("--dev", is_flag=True, help="Make a local CA and certificate in .usher/certs, and print requests to try.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="usher.yaml. Default: safe defaults.")
@inputs.facts_option
@click.option(
    "--live/--no-live",
    default=None,
    help="Watch the facts of the cluster [default: only in a pod with a service account and without --facts].",
)
@inputs.cluster_options
@click.option(
    "--events/--no-events",
    default=True,
    show_default=True,
    help="With --live: write an Event on the controller whose pods are denied.",
)
@click.option("--host", default=None, help="Address of the webhook port [default: 0.0.0.0; with --dev 127.0.0.1].")
@click.option("--port", default=8443, show_default=True, type=click.IntRange(0, 65535), help="The webhook port (TLS).")
@click.option("--admin-host", default=None, help="Address of the admin port [default: the one of --host].")
@click.option(
    "--admin-port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="Probes and metrics (HTTP)."
)
@click.option(
    "--metrics-access",
    type=click.Choice(["open", "token"]),
    default="open",
    show_default=True,
    help="Who may read the metrics: everybody, or with a token whose owner may `get` the URL /metrics in the cluster. "
    "With token the admin port speaks TLS.",
)
@click.option(
    "--portal/--no-portal",
    default=False,
    show_default=True,
    help="Answer questions of clients with a token on the admin port, over TLS (docs/portal.md). Needs a cluster.",
)
@given_policies.bundle_options
@record_options.options
@click.option("--engine", type=click.Choice(["wasm", "opa"]), default="wasm", show_default=True, help="Policy engine.")
@click.option(
    "--opa-url", default="http://127.0.0.1:8181", show_default=True, help="The OPA server, with --engine opa."
)
@click.option("--reload-interval", default=10.0, hidden=True, help="Seconds between checks of the files.")
def serve(
    certificates_mode: str | None,
    certificate: Path | None,
    key: Path | None,
    certificate_secret: str,
    certificate_names: tuple[str, ...],
    webhook_configurations: str,
    client_ca: Path | None,
    client_names: tuple[str, ...],
    dev: bool,
    config_file: Path | None,
    facts: tuple[str, ...],
    live: bool | None,
    kubeconfig: Path | None,
    context_name: str | None,
    events: bool,
    host: str | None,
    port: int,
    admin_host: str | None,
    admin_port: int,
    metrics_access: str,
    portal: bool,
    policies: tuple[str, ...],
    verify_key: Path | None,
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
    import structlog

    from usher.cli import development
    from usher.policy import assembly
    from usher.policy.checks import bundle
    from usher.server import logs
    from usher.server.ports import Address
    from usher.server.serve import Settings, run

    if dev:
        if certificate or key:
            raise click.UsageError("--dev makes its own certificate; leave out --certificate and --key")
        certificate, key = development.certificate()
    source = certificates.source(
        certificates.Options(
            mode="files" if dev else certificates_mode,
            certificate=certificate,
            key=key,
            secret=certificate_secret,
            configurations=webhook_configurations,
            names=certificate_names,
            client_ca=client_ca,
            kubeconfig=kubeconfig,
            context=context_name,
        )
    )
    host = host or ("127.0.0.1" if dev else "0.0.0.0")  # noqa: S104 - a webhook must be reachable from the API server

    watched = _watched(
        facts,
        live=live,
        kubeconfig=kubeconfig,
        context=context_name,
        certified=certificates_mode == "self-managed",
        events=events,
    )
    if portal and watched is None:
        raise click.UsageError("--portal needs a cluster, which says who may ask: add --live")
    known = watched.facts.store if watched is not None else None

    def make(own: "Sequence[OwnChecks]") -> "Evaluator":
        made = inputs.assembled(
            config_file, engine=engine, opa_url=opa_url, facts=facts, known=known, own=own, own_deadline=_OWN_DEADLINE
        )
        for warning in assembly.warnings(made, file=config_file):
            structlog.get_logger().warning("configuration_warning", reason=warning)
        return made

    settings = Settings(
        webhook=Address(host=host, port=port),
        admin=Address(host=admin_host or host, port=admin_port),
        certificate=source,
        clients=frozenset(client_names if client_ca is not None else ()),
        reload_interval=reload_interval,
        configuration=config_file,
        metrics_access=_access(kubeconfig, context_name) if metrics_access == "token" else None,
        portal=_portal(_access(kubeconfig, context_name)) if portal else None,
        record=record.settings(),
        policies=given_policies.bundles(policies, verify_key=verify_key),
    )
    logs.configure()

    def started(webhook: Address, admin: Address) -> None:
        if dev:
            development.hints(webhook, admin)

    run(
        settings,
        make,
        revision=bundle.load().revision,
        started=started,
        cluster=watched,
    )


def _portal(access: "Access") -> "Portal":
    from usher.portal import routes

    return lambda evaluator, count: routes.router(routes.Portal(evaluator, access, count))


def _access(kubeconfig: Path | None, context: str | None) -> "Access":
    """Without a cluster to ask, the server decides all the same, and no client reads its metrics or asks questions."""
    from usher import errors
    from usher.cluster import connection
    from usher.server.access import Access

    try:
        return Access(connection.connect(kubeconfig=kubeconfig, context=context, hurried=True))
    except errors.ClusterError:
        return Access(None)


def _watched(
    files: tuple[str, ...],
    *,
    live: bool | None,
    kubeconfig: Path | None,
    context: str | None,
    certified: bool,
    events: bool,
) -> "ClusterParts | None":
    """The cluster to watch; None where no cluster is watched.

    Raises:
        ClusterError: there is no configuration of a cluster that can be used.
    """
    named = kubeconfig is not None or context is not None
    if named and not live and not certified:
        raise click.UsageError("--kubeconfig and --context need --live or --certificates self-managed")
    if live and files:
        raise click.UsageError("--live and --facts are two sources of the same facts; choose one")
    if live is False or files:
        return None
    from usher.authorities.gpu_quota.definitions import namespace_of_accounts
    from usher.authorities.gpu_quota.live.service import ChargingService
    from usher.cluster import connection
    from usher.cluster import kubeconfig as kubeconfigs
    from usher.cluster.live import LiveFacts
    from usher.server.events import Events
    from usher.server.live_cluster import ClusterParts

    # A pod may run without a service account token: then decisions rest on the reviews alone.
    if not live and not kubeconfigs.has_account():
        return None

    def connect(*, hurried: bool = False) -> connection.Api:
        return connection.connect(kubeconfig=kubeconfig, context=context, hurried=hurried)

    facts = LiveFacts(connect())

    def charging(knowledge: "Callable[[], Knowledge]", meter: "Meter") -> ChargingService:
        api, namespace = connect(hurried=True), namespace_of_accounts(kubeconfigs.own_namespace())
        return ChargingService(api, connect, knowledge, namespace=namespace, meter=meter)

    def made(count: "Callable[[str], None]") -> Events:
        return Events(connect(hurried=True), count=count)

    return ClusterParts(facts=facts, charging=charging, events=made if events else None)
