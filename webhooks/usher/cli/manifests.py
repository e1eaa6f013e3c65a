"""`usher manifests` and `usher uninstall`: prints what to apply to a cluster, and removes gpu-usher from one."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import click

from usher import errors, paths
from usher.cli import given_policies, inputs
from usher.install import installed_objects
from usher.install.installed_objects import Api, Part
from usher.install.manifests import audits, conditions, roles
from usher.install.manifests.audits import FLEET_IMAGE, IMAGE, Settings
from usher.install.manifests.webhooks import Calls, Client, configurations
from usher.install.manifests.webhooks import helm_values as values_of
from usher.policy.checks import catalogue as checks_catalogue
from usher.policy.decision import today

QUOTA_DEFINITION: Final = Path(audits.__file__).with_name("gpu-quota-crd.yaml")
"""The definition of GPUQuota. It refuses the same values as `config.pools`.

Limits are one map of units, as in a ResourceQuota. In an object with fields, the API server would drop an unknown field
and its limit; it can refuse an unknown key of a map.
"""

DEFAULT: Final = Settings()

_IN_THE_IMAGE: Final = "s3fs"
"""The library for object stores in the image for fleets (pyproject.toml, `fleet-image`)."""

_DATABASES: Final = ("postgresql://", "postgres://")


@inputs.command("manifests audit", image=IMAGE, fleet_image=FLEET_IMAGE)
def audit(
    *,
    config: Path | None,
    schedule: str,
    once: bool,
    no_role: bool,
    policies: tuple[str, ...],
    verify_key: Path | None,
    **chosen: Any,  # noqa: ANN401 - fields of Settings
) -> None:
    names = tuple(Path(each).name for each in policies)
    settings = Settings(
        schedule="" if once else schedule, policies=names, verifies_policies=verify_key is not None, **chosen
    )
    if settings.is_sharded and not settings.output and not settings.claim:
        raise click.UsageError("the parts of several shards need --output-dir URL or --claim NAME")
    if settings.clusters and settings.report_objects:
        raise click.UsageError("--report-objects writes to its own cluster; leave out --clusters")
    if wrong := "\n".join(audits.refused_settings(settings)):
        raise errors.InputError(wrong)
    _check_arguments(settings.arguments)
    _check_prometheus(settings)
    if settings.verifies_policies and not settings.configuration:
        raise click.UsageError("--verify-key needs --configuration NAME, whose entry policies.pub is the key")
    if not settings.cluster_name and any(scheme in each for each in settings.arguments for scheme in _DATABASES):
        click.echo(
            "usher: each pod calls its cluster the cluster of this pod; where several clusters share a history, name "
            "each with --cluster-name",
            err=True,
        )
    if settings.is_sharded and not settings.image:
        click.echo(f"usher: {_image_note(settings.output)}", err=True)
    inputs.load_config(inputs.find_config(config))
    rules = _rules_of(given_policies.listed_by_bundles(policies, verify_key=verify_key))
    _print_objects(audits.audit_objects(settings, others=_kinds_of_audits(), of_policies=rules, with_role=not no_role))


@inputs.command("manifests audit-role")
def audit_role(*, policies: given_policies.PolicyOptions, helm_values: bool, config: Path | None) -> None:
    if helm_values and not policies.policies:
        raise click.UsageError("--helm-values prints the rules for policies; name them by --policies")
    inputs.load_config(inputs.find_config(config))
    listed = policies.listed()
    printed = audits.helm_values(_rules_of(listed)) if helm_values else roles.audit_role([*_kinds_of_audits(), *listed])
    _print_objects([printed])


def _print_objects(objects: Iterable[paths.Object]) -> None:
    """Prints objects as documents of YAML."""
    import yaml

    click.echo(yaml.safe_dump_all(objects, sort_keys=False, width=120), nl=False)


def _kinds_of_audits() -> Sequence[tuple[str, str]]:
    """Groups and plurals of the kinds that only audits read."""
    from usher.audit.gather.needed_inputs import WANTED

    return [(each.group, each.plural) for each in WANTED]


def _rules_of(listed: Sequence[tuple[str, str]]) -> Sequence[paths.Json]:
    return roles.audit_policy_rules(listed, others=_kinds_of_audits())


def _image_note(output: str) -> str:
    from usher.audit.store import part_stores

    scheme = output.partition("://")[0]
    driver = part_stores.driver(scheme)
    lacks = driver not in ("", _IN_THE_IMAGE)
    missing = f"; it lacks {driver}, which {scheme}:// needs: docs/audit.md says how to add it" if lacks else ""
    return (
        f"parts need the image {FLEET_IMAGE}, which `scripts/image --fleet` builds{missing}; push it to your "
        "registry and name it with --image"
    )


def _check_arguments(arguments: tuple[str, ...]) -> None:
    """Raises UsageError for options that `usher audit` does not have, or that lack their value."""
    from usher.cli.audit import audit as command

    try:
        # click keeps the option for help that a command is first asked for.
        context = click.Context(command, parent=click.get_current_context().find_root())
        command.make_parser(context).parse_args([*arguments])
    except click.UsageError as error:
        raise click.UsageError(f"--argument is for the options of usher audit: {error.format_message()}") from None


def _check_prometheus(settings: Settings) -> None:
    """Raises UsageError or InputError for options that the audit would refuse in each of its runs."""
    from usher.audit.prometheus import endpoint

    given = settings.prometheus_secret, settings.prometheus_headers, settings.prometheus_labels
    if not settings.prometheus and any(given):
        raise click.UsageError("the options --prometheus-... need --prometheus URL")
    if settings.prometheus:
        # The pod does not have the environment variables of this machine.
        endpoint.read_address(settings.prometheus, environment={})
    endpoint.read_headers(settings.prometheus_headers, {})
    # Each shard of --clusters uses the name of its cluster.
    endpoint.read_labels(settings.prometheus_labels, cluster=settings.cluster_name or settings.clusters)


@inputs.command("manifests floor")
def floor(*, static: bool, selected: tuple[str, ...], config: Path | None) -> None:
    from usher.install.manifests import floor as manifests_floor

    site = inputs.load_config(inputs.find_config(config))
    catalogue = checks_catalogue.load().catalogue
    unknown = sorted(set(selected) - manifests_floor.part_names(catalogue))
    if unknown:
        known = ", ".join(sorted(manifests_floor.part_names(catalogue)))
        raise click.UsageError(f"--select {unknown[0]}: the floor has {known}")
    found = manifests_floor.floor_objects(site, catalogue, today=today(), static=static, only=selected)
    if not found:
        click.echo("usher.yaml does not let these checks deny, so the floor is empty", err=True)
    _print_objects(found)


@click.group()
def manifests() -> None:
    """Print the manifests that usher generates."""


manifests.add_command(floor)
manifests.add_command(audit)
manifests.add_command(audit_role)


@inputs.command("manifests webhooks", group=manifests)
def webhooks(
    *,
    ca_bundle: Path | None,
    ca_from_cluster: bool,
    kubeconfig: Path | None,
    context_name: str | None,
    service: str,
    server_namespace: str,
    url: str,
    validate_failure_policy: Literal["Ignore", "Fail"],
    mutate_failure_policy: Literal["Ignore", "Fail"],
    mutate_timeout: int | None,
    validate_timeout: int,
    policies: tuple[str, ...],
    helm_values: bool,
    config: Path | None,
) -> None:
    site = inputs.load_config(inputs.find_config(config))
    closed = "Fail" in (validate_failure_policy, mutate_failure_policy)
    bundle_of_ca = ca_bundle.read_bytes() if ca_bundle else b""
    if ca_from_cluster or kubeconfig is not None or context_name is not None:
        if ca_bundle or url:
            raise click.UsageError("--ca-from-cluster takes the CA from the cluster; leave out --ca-bundle and --url")
        bundle_of_ca = _live_bundle(
            kubeconfig, context_name, namespace=server_namespace, service=service if closed else ""
        )
    client = Client(service=service, namespace=server_namespace, url=url.rstrip("/"), ca_bundle=bundle_of_ca)
    failing = conditions.fail_closed_conditions(site, checks_catalogue.load().catalogue) if closed else ()
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
    _print_objects([values_of(documents)] if helm_values else documents)


def _live_bundle(kubeconfig: Path | None, context_name: str | None, *, namespace: str, service: str) -> bytes:
    """The CA that the server uses now. With a service, one of its servers must be ready."""
    from usher.cluster import connection
    from usher.install import installed_objects

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    if service:
        installed_objects.require_ready_server(api, namespace=namespace, service=service)
    return installed_objects.live_bundle(api, namespace=namespace)


@inputs.command("manifests crds", group=manifests)
def crds() -> None:
    click.echo(QUOTA_DEFINITION.read_text(encoding="utf-8"), nl=False)


@inputs.command("manifests quota-role", group=manifests)
def quota_role(server_namespace: str, *, config: Path | None) -> None:
    inputs.load_config(inputs.find_config(config))
    _print_objects([*roles.quota_roles(namespace=server_namespace), *roles.account_roles(namespace=server_namespace)])


@inputs.command("manifests certificate-role", group=manifests)
def certificate_role(server_namespace: str) -> None:
    _print_objects(roles.certificate_roles(namespace=server_namespace))


@inputs.command("manifests facts-role", group=manifests)
def facts_role(server_namespace: str, *, kueue: bool, config_maps: bool) -> None:
    if kueue and config_maps:
        raise click.UsageError("--kueue and --config-maps print one role each; give one of them")
    made = roles.kueue_role if kueue else roles.config_map_roles if config_maps else roles.facts_roles
    _print_objects(made(namespace=server_namespace))


@inputs.command("manifests fabric-files", group=manifests)
def fabric_files(*, config: Path | None, namespaces: tuple[str, ...], files: tuple[str, ...]) -> None:
    from usher.install.manifests.roles import config_maps

    if not namespaces:
        raise click.UsageError("name the namespaces of the pods with --pod-namespace")
    given = {}
    for entry in files:
        key, is_named, path = entry.partition("=")
        if not is_named or not key or not path:
            raise click.UsageError(f"--fabric-file {entry} is not KEY=PATH")
        given[key] = Path(path)
    _print_objects(config_maps(inputs.load_config(inputs.find_config(config)), files=given, namespaces=namespaces))


@inputs.command("manifests events-role", group=manifests)
def events_role(server_namespace: str, *, config: Path | None) -> None:
    inputs.load_config(inputs.find_config(config))
    _print_objects(roles.events_roles(namespace=server_namespace))


@inputs.command("manifests portal-role", group=manifests)
def portal_role() -> None:
    _print_objects([roles.portal_role()])


@inputs.command("manifests metrics-role", group=manifests)
def metrics_role(server_namespace: str) -> None:
    _print_objects(roles.metrics_roles(namespace=server_namespace))


@inputs.command("uninstall")
def uninstall(
    kubeconfig: Path | None,
    context_name: str | None,
    server_namespace: str,
    *,
    dry_run: bool,
    yes: bool,
    with_quotas: bool,
) -> None:
    from usher.check.formats import wording
    from usher.cluster import connection

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    parts = [
        *installed_objects.parts(server_namespace),
        *([installed_objects.quota_definition_part()] if with_quotas else []),
    ]
    there = [part for part in parts if installed_objects.is_there(api, part.path)]
    click.echo(f"{wording.harmless(wording.printable(api.name))}: {len(there)} objects of gpu-usher")
    for part in there:
        click.echo(f"  {part.title}")
    _tell_about_quotas(api, with_quotas=with_quotas)
    if dry_run or not there:
        return
    if not yes:
        click.confirm("Remove them?", abort=True)
    for part in there:
        _remove(api, part)


def _remove(api: Api, part: Part) -> None:
    label = (installed_objects.PART_OF, "gpu-usher") if part.only_ours else None
    click.echo(f"{installed_objects.remove(api, part.path, label=label)}: {part.title}")


def _tell_about_quotas(api: Api, *, with_quotas: bool) -> None:
    number = installed_objects.count_objects(api, installed_objects.GPU_QUOTAS)
    if number is None:
        return
    word = "GPUQuota" if number == 1 else "GPUQuotas"
    click.echo(
        f"--with-quotas deletes {number} {word}, and no quota holds afterwards"
        if with_quotas
        else f"{number} {word} and their definition stay; --with-quotas would delete them. A later installation counts "
        "what exists before it enforces them"
    )
