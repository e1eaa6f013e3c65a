"""The objects of an audited cluster, and the way to reach it."""

from collections.abc import Iterable

from kubernetes import client

import builders
from integration.api_server import ApiServer
from usher import paths
from usher.check import batches
from usher.cluster import connection


def connected(api: ApiServer, *, waits: list[float] | None = None) -> connection.Api:
    configuration = client.Configuration()
    configuration.host = api.url
    return connection.Api(configuration, name="the test cluster", wait=(waits if waits is not None else []).append)


def names(found: Iterable[batches.Batch]) -> list[str]:
    return [str(paths.resolve(item.value, "/metadata/name")) for batch in found for item in batch.items]


def gpu_pod(name: str, *, namespace: str = "ml-research") -> paths.Object:
    return builders.pod(builders.container(gpus=1), name=name, namespace=namespace)


def wrong_job(name: str = "wrong") -> paths.Object:
    container = builders.container(requests={builders.GPU: 8}, limits={builders.GPU: 4})
    return builders.pytorch_job(builders.template(container), workers=2, name=name)
