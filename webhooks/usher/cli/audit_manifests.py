"""`usher manifests audit`: the audit as a CronJob or a Job, with its rights."""

from typing import Any, Final

import click

from usher.manifests.audits.settings import Settings

_DEFAULT: Final = Settings()


@click.command(name="audit")
@click.option("--namespace", default=_DEFAULT.namespace, show_default=True, help="Namespace of the audit.")
@click.option("--cluster-name", default="", metavar="NAME", help="Name of the cluster in reports.")
@click.option("--image", default=_DEFAULT.image, show_default=True, help="The image of gpu-usher.")
@click.option(
    "--schedule",
    default=_DEFAULT.schedule,
    show_default=True,
    metavar="CRON",
    help="When audits begin, in UTC, in the five fields of cron.",
)
@click.option("--once", is_flag=True, help="Print a Job that runs once, instead of a CronJob.")
@click.option(
    "--shards",
    type=click.IntRange(1, 10_000),
    default=_DEFAULT.shards,
    show_default=True,
    help="Share the namespaces, or the clusters of --clusters, among this many pods of an Indexed Job. They write "
    "parts for `usher report merge`, to --output-dir or --claim.",
)
@click.option(
    "--parallel",
    type=click.IntRange(1, 1000),
    default=_DEFAULT.parallel,
    show_default=True,
    help="How many of these pods run at a time.",
)
@click.option(
    "--output-dir", "output", default="", metavar="URL", help="Folder of an object store, like s3://audits/a."
)
@click.option("--claim", default="", help="PersistentVolumeClaim for the reports; ReadWriteMany for several shards.")
@click.option(
    "--credentials",
    default="",
    help="Secret whose entries become variables of the pods: for --output-dir and --prometheus.",
)
@click.option("--clusters", default="", help="Secret with clusters.yaml and kubeconfigs: audit these clusters instead.")
@click.option("--configuration", default=_DEFAULT.configuration, show_default=True, help="ConfigMap with usher.yaml.")
@click.option("--report-objects", is_flag=True, help="Write findings as report objects, and print the role for that.")
@click.option("--prometheus", default="", metavar="URL", help="Where usage is measured.")
@click.option(
    "--prometheus-namespace",
    default=_DEFAULT.prometheus_namespace,
    show_default=True,
    help="Its namespace, for the NetworkPolicy.",
)
@click.option(
    "--prometheus-header",
    "prometheus_headers",
    multiple=True,
    metavar="NAME=VALUE",
    help="Sent with each query, like X-Scope-OrgID=team-a; it is seen in the object. For a secret, give --credentials "
    "with USHER_PROMETHEUS_TOKEN or USHER_PROMETHEUS_HEADERS in it. Repeatable.",
)
@click.option(
    "--prometheus-label",
    "prometheus_labels",
    multiple=True,
    metavar="NAME=VALUE",
    help="Read only series with this label, like cluster=prod-1. Repeatable.",
)
@click.option("--api-server", "api_servers", multiple=True, metavar="CIDR", help="Only these API servers. Repeatable.")
@click.option("--argument", "arguments", multiple=True, help="A further argument of `usher audit`. Repeatable.")
@click.option("--no-role", is_flag=True, help="Leave out the ClusterRole gpu-usher-audit, which manifests/base has.")
def audit(*, schedule: str, once: bool, no_role: bool, **chosen: Any) -> None:  # noqa: ANN401 - fields of Settings
    """Print the objects of an audit in the cluster: schedule, account, read-only rights, NetworkPolicy.

    Without --claim and --output-dir the report goes to the log of the pod.

    \b
    usher manifests audit --claim audits | kubectl apply -f -
    usher manifests audit --shards 10 --output-dir s3://audits/prod --once | kubectl apply -f -
    """
    import yaml

    from usher.audit.wanted import merged
    from usher.manifests.audits import documents

    settings = Settings(schedule="" if once else schedule, **chosen)
    if settings.is_sharded and not settings.output and not settings.claim:
        raise click.UsageError("the parts of several shards need --output-dir URL or --claim NAME")
    if settings.clusters and settings.report_objects:
        raise click.UsageError("--report-objects writes to its own cluster; leave out --clusters")
    _check_prometheus(settings)
    others = [(each.group, each.plural) for each in merged()]
    found = documents.of(settings, others=others, with_role=not no_role)
    click.echo(yaml.safe_dump_all(found, sort_keys=False, width=120), nl=False)


def _check_prometheus(settings: Settings) -> None:
    """Raises UsageError or InputError for options that the audit would refuse in each of its runs."""
    from usher.prometheus import headers, selection

    if not settings.prometheus and (settings.prometheus_headers or settings.prometheus_labels):
        raise click.UsageError("--prometheus-header and --prometheus-label need --prometheus URL")
    headers.read(settings.prometheus_headers, {})
    # Each shard of --clusters knows its name.
    selection.read(settings.prometheus_labels, cluster=settings.cluster_name or settings.clusters)
