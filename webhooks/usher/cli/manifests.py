"""`usher manifests`: prints what to apply to a cluster."""

from pathlib import Path
from typing import Literal

import click

from usher.cli import given_policies, inputs
from usher.cli.audit_manifests import audit, audit_role
from usher.cli.floor import floor


@click.group()
def manifests() -> None:
    """Print the manifests that usher generates."""


manifests.add_command(floor)
manifests.add_command(audit)
manifests.add_command(audit_role)


@manifests.command()
@click.option(
    "--ca-bundle",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="CA that signed the certificate (PEM).",
)
@click.option("--service", default="gpu-usher", show_default=True, help="Service in front of the webhook server.")
@click.option("--namespace", default="gpu-usher", show_default=True, help="Its namespace.")
@click.option("--url", default="", help="Base URL to call instead of the Service, like https://127.0.0.1:8443.")
@click.option(
    "--validate-failure-policy",
    type=click.Choice(["Ignore", "Fail"]),
    default="Ignore",
    show_default=True,
    help="Whether objects with accelerators are let in (Ignore) or refused (Fail) while no server answers; everything "
    "else is let in. Begin with Ignore.",
)
@click.option(
    "--mutate-failure-policy",
    type=click.Choice(["Ignore", "Fail"]),
    default="Ignore",
    show_default=True,
    help="Whether objects with accelerators come in without changes (Ignore) or not at all (Fail) while no server "
    "answers; everything else comes in.",
)
@click.option(
    "--mutate-timeout",
    type=click.IntRange(1, 30),
    default=1,
    show_default=True,
    help="Seconds that the API server waits for the changes of a workload.",
)
@click.option(
    "--validate-timeout",
    type=click.IntRange(1, 30),
    default=3,
    show_default=True,
    help="Seconds that the API server waits for the verdict on a workload.",
)
@click.option(
    "--policies",
    multiple=True,
    metavar="BUNDLE",
    help="The bundles of `usher serve --policies`: one more webhook asks about the kinds that only their constraints "
    "match. Repeatable.",
)
@click.option(
    "--helm-values", is_flag=True, help="With --policies: print that webhook alone, as values of the Helm chart."
)
@inputs.config_option
def webhooks(
    ca_bundle: Path | None,
    service: str,
    namespace: str,
    url: str,
    validate_failure_policy: Literal["Ignore", "Fail"],
    mutate_failure_policy: Literal["Ignore", "Fail"],
    mutate_timeout: int,
    validate_timeout: int,
    policies: tuple[str, ...],
    helm_values: bool,
    config: Path | None,
) -> None:
    """Print the webhook configurations, with a rule for every kind of workload that usher knows.

    \b
    usher manifests webhooks --ca-bundle ca.crt | kubectl apply -f -
    usher manifests webhooks --policies policies.bundle | kubectl apply -f -
    """
    import yaml

    from usher.install.manifests import conditions
    from usher.install.manifests.webhooks import Calls, Client, configurations
    from usher.install.manifests.webhooks import helm_values as values_of
    from usher.policy.checks import bundle

    client = Client(
        service=service,
        namespace=namespace,
        url=url.rstrip("/"),
        ca_bundle=ca_bundle.read_bytes() if ca_bundle else b"",
    )
    site = inputs.load_config(inputs.find_config(config))
    closed = "Fail" in (validate_failure_policy, mutate_failure_policy)
    failing = conditions.fail_closed_conditions(site, bundle.load().catalogue) if closed else ()
    calls = Calls(
        mutate_failure_policy=mutate_failure_policy,
        validate_failure_policy=validate_failure_policy,
        mutate_timeout=mutate_timeout,
        validate_timeout=validate_timeout,
    )
    if helm_values and not policies:
        raise click.UsageError(
            "--helm-values prints the webhook for the kinds of constraints; name bundles by --policies"
        )
    kinds = given_policies.matched_kinds(policies)
    documents = configurations(client=client, config=site, calls=calls, failing=failing, kinds=kinds)
    if helm_values:
        documents = [values_of(documents)]
    click.echo(yaml.safe_dump_all(documents, sort_keys=False, width=120), nl=False)


@manifests.command()
def crds() -> None:
    """Print the CustomResourceDefinition of GPUQuota.

    \b
    usher manifests crds | kubectl apply -f -
    """
    import yaml

    from usher.install.manifests.quota_definition import definition

    class Plain(yaml.SafeDumper):
        """Writes repeated values in full, because YAML aliases are hard to read in a manifest."""

        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature is PyYAML's
            return True

    click.echo(yaml.dump(definition(), Dumper=Plain, sort_keys=False, width=120), nl=False)


@manifests.command(name="quota-role")
@click.option("--namespace", default="gpu-usher", show_default=True, help="Namespace of the server's service account.")
def quota_role(namespace: str) -> None:
    """Print the roles for GPUQuotas: the server reads what makes pods, and writes the status of quotas."""
    import yaml

    from usher.install.manifests import roles

    documents = [*roles.quota_roles(namespace=namespace), *roles.account_roles(namespace=namespace)]
    click.echo(yaml.safe_dump_all(documents, sort_keys=False, width=120), nl=False)


@manifests.command(name="certificate-role")
@click.option("--namespace", default="gpu-usher", show_default=True, help="Namespace of the server's service account.")
def certificate_role(namespace: str) -> None:
    """Print the roles for self-managed certificates: one Secret, and our webhook configurations."""
    import yaml

    from usher.install.manifests import roles

    documents = roles.certificate_roles(namespace=namespace)
    click.echo(yaml.safe_dump_all(documents, sort_keys=False, width=120), nl=False)


@manifests.command(name="facts-role")
@click.option("--namespace", default="gpu-usher", show_default=True, help="Namespace of the server's service account.")
@click.option("--kueue", is_flag=True, help="Print instead the Role for Kueue's own configuration.")
@click.option("--config-maps", is_flag=True, help="Print instead the role for the names of ConfigMaps.")
def facts_role(namespace: str, *, kueue: bool, config_maps: bool) -> None:
    """Print the role for facts: the server reads every kind that decisions rest on, except ConfigMaps.

    \b
    usher manifests facts-role | kubectl apply -f -
    """
    import yaml

    from usher.install.manifests import roles

    if kueue and config_maps:
        raise click.UsageError("--kueue and --config-maps print one role each; give one of them")
    made = roles.kueue_role if kueue else roles.config_map_roles if config_maps else roles.facts_roles
    documents = made(namespace=namespace)
    click.echo(yaml.safe_dump_all(documents, sort_keys=False, width=120), nl=False)


@manifests.command(name="fabric-files")
@inputs.config_option
@click.option("-n", "--namespace", "namespaces", multiple=True, required=True, help="Where pods need them. Repeatable.")
@click.option("--file", "files", multiple=True, metavar="KEY=PATH", help="The file of a key. Repeatable.")
def fabric_files(*, config: Path | None, namespaces: tuple[str, ...], files: tuple[str, ...]) -> None:
    """Print the ConfigMaps that the fabrics of usher.yaml mount: NCCL topologies, and nccl.conf.

    A pod can mount a ConfigMap of its own namespace alone, and the webhook makes no objects.

    \b
    usher manifests fabric-files -n research --file nccl.conf=nccl.conf | kubectl apply -f -
    """
    import yaml

    from usher.install.manifests.fabric_files import config_maps

    given = {}
    for entry in files:
        key, is_named, path = entry.partition("=")
        if not is_named or not key or not path:
            raise click.UsageError(f"--file {entry} is not KEY=PATH")
        given[key] = Path(path)
    found = config_maps(inputs.load_config(inputs.find_config(config)), files=given, namespaces=namespaces)
    click.echo(yaml.safe_dump_all(found, sort_keys=False, width=120), nl=False)


@manifests.command(name="events-role")
@click.option("--namespace", default="gpu-usher", show_default=True, help="Namespace of the server's service account.")
def events_role(namespace: str) -> None:
    """Print the role to write Events on the controllers of denied pods."""
    import yaml

    from usher.install.manifests import roles

    click.echo(yaml.safe_dump_all(roles.events_roles(namespace=namespace), sort_keys=False, width=120), nl=False)


@manifests.command(name="portal-role")
def portal_role() -> None:
    """Print the role for those who ask the portal (`usher serve --portal`); bind it in their namespaces."""
    import yaml

    from usher.install.manifests import roles

    click.echo(yaml.safe_dump(roles.portal_role(), sort_keys=False, width=120), nl=False)


@manifests.command(name="metrics-role")
@click.option("--namespace", default="gpu-usher", show_default=True, help="Namespace of the server's service account.")
def metrics_role(namespace: str) -> None:
    """Print the roles for metrics behind a token: one for the server, and one to bind to those who read them."""
    import yaml

    from usher.install.manifests import roles

    click.echo(yaml.safe_dump_all(roles.metrics_roles(namespace=namespace), sort_keys=False, width=120), nl=False)
