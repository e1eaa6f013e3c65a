"""All points of a preflight, from the data of a cluster."""

from collections.abc import Iterator
from datetime import datetime

from usher.config.models import EXEMPTION_LABEL
from usher.manifests.calls import Client
from usher.preflight import other_webhooks, ours, point
from usher.preflight.cluster import NAME, Cluster


def points(cluster: Cluster, *, namespace: str, refusal: str | None, now: datetime) -> Iterator[point.Point]:
    """The points in the order of display.

    Args:
        cluster: the data of the cluster.
        namespace: the namespace of our server.
        refusal: why our server did not answer a review, from `why_server_refuses`.
        now: the time at which certificates must be valid.
    """
    yield ours.of_the_api_server(cluster.version)
    for reason in cluster.not_read:
        yield point.not_known("api-server", f"not shown: {reason}")
    endpoints = cluster.ready.get((namespace, NAME))
    yield from ours.of_the_server(cluster.deployment, endpoints=endpoints, refusal=refusal)
    own = [each for each in cluster.webhooks if each.configuration == NAME]
    yield from ours.of_webhooks(own, client=Client(namespace=namespace), now=now)
    others = [each for each in cluster.webhooks if each.configuration != NAME]
    yield from other_webhooks.judge(others, own=own, namespaces=cluster.namespaces, ready=cluster.ready)
    yield from ours.of_exemptions(cluster.namespaces, label=EXEMPTION_LABEL)
