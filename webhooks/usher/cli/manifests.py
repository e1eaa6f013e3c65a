"""`usher manifests`: what to apply to a cluster."""

from pathlib import Path
from typing import Literal

import click


@click.group()
def manifests() -> None:
    """Print manifests that are derived from what usher knows."""


@manifests.command()
@click.option(
    "--ca-bundle",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="CA that signed the certificate (PEM).",
)
@click.option("--service", default="gpu-usher", show_default=True, help="Service in front of the webhook server.")
@click.option("--namespace", default="gpu-usher", show_default=True, help="Its namespace.")
@click.option("--url", default="", help="Base URL to call instead of the Service, such as https://127.0.0.1:8443.")
@click.option(
    "--validate-failure-policy",
    type=click.Choice(["Ignore", "Fail"]),
    default="Ignore",
    show_default=True,
    help="What happens to workloads while no server answers; begin with Ignore.",
)
def webhooks(
    ca_bundle: Path | None,
    service: str,
    namespace: str,
    url: str,
    validate_failure_policy: Literal["Ignore", "Fail"],
) -> None:
    """Print the webhook configurations for every kind of workload that usher knows.

    \b
    usher manifests webhooks --ca-bundle ca.crt | kubectl apply -f -
    """
    import yaml

    from usher.manifests.webhooks import Client, configurations

    client = Client(
        service=service,
        namespace=namespace,
        url=url.rstrip("/"),
        ca_bundle=ca_bundle.read_bytes() if ca_bundle else b"",
    )
    documents = configurations(client=client, validate_failure_policy=validate_failure_policy)
    click.echo(yaml.safe_dump_all(documents, sort_keys=False, width=120), nl=False)


@manifests.command(name="audit-role")
def audit_role() -> None:
    """Print the ClusterRole that `usher audit` needs: to list every kind of workload that usher knows."""
    import yaml

    from usher.manifests.audit_role import role

    click.echo(yaml.safe_dump(role(), sort_keys=False, width=120), nl=False)
