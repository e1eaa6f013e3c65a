"""Reads the data of a preflight from an API server. Data that usher may not read is unknown."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from usher import errors, paths
from usher.cluster.api import Answer, Lists
from usher.dataclass import dataclass
from usher.preflight.registered import Webhook, read

_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_SERVICES: Final = 100
"""The most Services of webhooks whose endpoints it counts."""

NAME: Final = "gpu-usher"


class Api(Lists, Protocol):
    """An API server that passes requests on to Services."""

    def post(self, path: str, value: paths.Object) -> Answer:
        """The answer to a POST request, with any status. Raises ClusterError if there is no answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The data of a preflight about a cluster."""

    version: paths.Object
    webhooks: tuple[Webhook, ...]
    namespaces: Mapping[str, Mapping[str, str]]
    """The labels of each namespace, by name."""
    ready: Mapping[tuple[str, str], int]
    """Ready endpoints of the Services of webhooks, by namespace and name, without Services that usher may not read."""
    deployment: paths.Object | None
    not_read: tuple[str, ...]
    """Data that the API server refuses, with its messages."""


def look(api: Lists, *, namespace: str) -> Cluster:
    """Reads a cluster; `namespace` is the namespace of our server.

    Raises:
        ClusterError: the API server does not answer.
    """
    not_read: list[str] = []
    webhooks = (
        *read(_items(api, f"{_ADMISSION}/mutatingwebhookconfigurations", not_read), mutating=True),
        *read(_items(api, f"{_ADMISSION}/validatingwebhookconfigurations", not_read), mutating=False),
    )
    found = _items(api, "/api/v1/namespaces", not_read)
    services = {each.service for each in webhooks if each.service is not None} | {(namespace, NAME)}
    deployment = api.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{NAME}")
    if deployment.status not in (200, 404):
        not_read.append(f"the Deployment: {deployment.message}")
    return Cluster(
        version=api.get("/version").value,
        webhooks=webhooks,
        namespaces={name: labels for name, labels in map(_labelled, found) if name},
        ready=dict(_ready(api, sorted(services)[:_SERVICES])),
        deployment=deployment.value if deployment.status == 200 else None,
        not_read=tuple(not_read),
    )


def refusal(api: Api, *, namespace: str) -> str | None:
    """Why our server did not answer a review through the API server; empty if it did, None if usher may not try."""
    path = f"/api/v1/namespaces/{namespace}/services/https:{NAME}:443/proxy/validate"
    try:
        answer = api.post(path, _REVIEW)
    except errors.ClusterError as error:
        return str(error)
    if answer.status == 403:
        return None
    return "" if answer.status == 200 and answer.value.get("kind") == "AdmissionReview" else answer.message


_REVIEW: Final[paths.Object] = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "preflight",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "name": "preflight",
        "namespace": "default",
        "userInfo": {"username": "usher preflight", "groups": []},
        "dryRun": True,
        "object": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "preflight", "namespace": "default"},
            "spec": {"containers": [{"name": "preflight", "image": "preflight"}]},
        },
    },
}


def _items(api: Lists, path: str, not_read: list[str]) -> list[paths.Object]:
    answer = api.get(path)
    items = answer.value.get("items")
    if answer.status != 200 or not isinstance(items, list):
        not_read.append(f"{path.rpartition('/')[2]}: {answer.message}")
        return []
    return [item for item in items if isinstance(item, dict)]


def _labelled(value: paths.Object) -> tuple[str, Mapping[str, str]]:
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return "", {}
    labels = metadata.get("labels")
    kept = labels if isinstance(labels, dict) else {}
    return str(metadata.get("name", "")), {key: text for key, text in kept.items() if isinstance(text, str)}


def _ready(api: Lists, services: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], int]]:
    for namespace, name in services:
        path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        answer = api.get(path, query={"labelSelector": f"kubernetes.io/service-name={name}"})
        slices = answer.value.get("items")
        if answer.status == 200 and isinstance(slices, list):
            yield (namespace, name), sum(_ready_of(each) for each in slices)


def _ready_of(value: paths.Json) -> int:
    endpoints = value.get("endpoints") if isinstance(value, dict) else None
    return sum(_is_ready(each) for each in endpoints) if isinstance(endpoints, list) else 0


def _is_ready(endpoint: paths.Json) -> bool:
    """Whether an endpoint is ready. One without the field is ready, as the Service sees it."""
    conditions = endpoint.get("conditions") if isinstance(endpoint, dict) else None
    return not isinstance(conditions, dict) or conditions.get("ready") is not False
