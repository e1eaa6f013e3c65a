"""Checks whether a cluster is ready for enforcement by usher, and predicts the effects. It changes nothing.

The API server calls mutating webhooks one after the other and validating ones in parallel; the whole request has 60
seconds (docs/domain/webhooks.md#failures).
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

from cryptography import x509
from msgspec import Struct

from usher import __version__, errors, paths
from usher.cluster.api import Answer, Lists
from usher.config.models import EXEMPTION_LABEL
from usher.install.installed_objects import ADMISSION_PATH, Webhook, read_webhooks, ready_endpoints
from usher.install.manifests import webhooks as made
from usher.install.manifests.webhooks import Client

_SERVICES: Final = 100
"""The most Services of webhooks whose endpoints it counts."""

SERVER_NAME: Final = "gpu-usher"


class Api(Lists, Protocol):
    """An API server that passes requests on to Services."""

    def post(self, path: str, value: paths.Object) -> Answer:
        """The answer to a POST request, with any status. Raises ClusterError if there is no answer."""
        ...


class Cluster(Struct, frozen=True, kw_only=True):
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


def read_cluster(api: Lists, *, namespace: str) -> Cluster:
    """Reads a cluster; `namespace` is the namespace of our server.

    Raises:
        ClusterError: the API server does not answer.
    """
    not_read: list[str] = []
    webhooks = (
        *read_webhooks(_items(api, f"{ADMISSION_PATH}/mutatingwebhookconfigurations", not_read), mutating=True),
        *read_webhooks(_items(api, f"{ADMISSION_PATH}/validatingwebhookconfigurations", not_read), mutating=False),
    )
    found = _items(api, "/api/v1/namespaces", not_read)
    services = {each.service for each in webhooks if each.service is not None} | {(namespace, SERVER_NAME)}
    deployment = api.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{SERVER_NAME}")
    if deployment.status not in (200, 404):
        not_read.append(f"the Deployment: {deployment.message}")
    return Cluster(
        version=api.get("/version").value,
        webhooks=webhooks,
        namespaces={name: labels for name, labels in map(_labelled, found) if name},
        ready=dict(ready_endpoints(api, sorted(services)[:_SERVICES])),
        deployment=deployment.value if deployment.status == 200 else None,
        not_read=tuple(not_read),
    )


def why_server_refuses(api: Api, *, namespace: str) -> str | None:
    """Why our server did not answer a review through the API server; empty if it did, None if usher may not try."""
    path = f"/api/v1/namespaces/{namespace}/services/https:{SERVER_NAME}:443/proxy/validate"
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
    metadata = paths.metadata(value)
    labels = paths.mapping(metadata.get("labels"))
    return str(metadata.get("name", "")), {key: text for key, text in labels.items() if isinstance(text, str)}


class PointState(StrEnum):
    GOOD = "good"
    ATTENTION = "attention"
    """An administrator should act before enforcement."""
    NOT_KNOWN = "not known"
    """usher could not find it out, which is neither good nor bad."""


class Point(Struct, frozen=True, kw_only=True):
    topic: str
    """A word of the list of topics: `api-server`, `webhooks`, `certificate`, `server`, `other-webhooks`, ..."""
    state: PointState
    text: str
    remedy: str = ""


def good_point(topic: str, text: str) -> Point:
    return Point(topic=topic, state=PointState.GOOD, text=text)


def attention_point(topic: str, text: str, remedy: str) -> Point:
    return Point(topic=topic, state=PointState.ATTENTION, text=text, remedy=remedy)


def unknown_point(topic: str, text: str) -> Point:
    return Point(topic=topic, state=PointState.NOT_KNOWN, text=text)


OLDEST_VERSION: Final = (1, 30)
"""The first Kubernetes version whose webhooks always have matchConditions."""

EXPIRES_SOON: Final = timedelta(days=21)


def point_of_api_server(version: paths.Object) -> Point:
    """The point about the version of Kubernetes, from the answer at `/version`."""
    try:
        major, minor = int(str(version["major"])), int(str(version["minor"]).rstrip("+"))
    except (KeyError, ValueError):
        return unknown_point("api-server", "the API server does not tell its version")
    text = f"Kubernetes {major}.{minor}"
    if (major, minor) < OLDEST_VERSION:
        return attention_point(
            "api-server", text, f"usher needs {OLDEST_VERSION[0]}.{OLDEST_VERSION[1]} or newer: matchConditions"
        )
    return good_point("api-server", text)


def points_of_webhooks(installed: Sequence[Webhook], *, client: Client, now: datetime) -> Iterator[Point]:
    """The points about our webhooks, compared with the webhooks that this version prints."""
    if not installed:
        remedy = "once a server answers: usher manifests webhooks | kubectl apply -f -"
        yield attention_point("webhooks", "usher's webhooks are not registered, so admission judges nothing", remedy)
        return
    yield from _differences(installed, client)
    closed = [webhook.name for webhook in installed if webhook.fails_closed]
    yield good_point("webhooks", f"{len(installed)} are registered; these fail closed: {', '.join(closed) or 'none'}")
    yield _bundles(installed, now)


def _differences(installed: Sequence[Webhook], client: Client) -> Iterator[Point]:
    mutating, validating = made.configurations(client=client)
    expected = [*read_webhooks([mutating], mutating=True), *read_webhooks([validating], mutating=False)]
    missing = sorted({each.name for each in expected} - {each.name for each in installed})
    kinds = sorted(_resources(expected) - _resources(installed))
    remedy = "print them again with this version and your usher.yaml: usher manifests webhooks"
    if missing:
        yield attention_point("webhooks", f"not registered: {', '.join(missing)}", remedy)
    if kinds:
        some = ", ".join(kinds[:5]) + (" and others" if len(kinds) > 5 else "")
        yield attention_point("webhooks", f"usher is not asked about {len(kinds)} kinds: {some}", remedy)


def _resources(webhooks: Sequence[Webhook]) -> set[str]:
    found = set()
    for webhook in webhooks:
        for rule in map(paths.mapping, paths.elements(webhook.value.get("rules"))):
            found |= {
                f"{resource}.{group}" if group else str(resource)
                for group in paths.elements(rule.get("apiGroups"))
                for resource in paths.elements(rule.get("resources"))
            }
    return found


def _bundles(installed: Sequence[Webhook], now: datetime) -> Point:
    """Whether each webhook trusts a valid CA certificate."""
    topic = "certificate"
    ends = []
    for webhook in installed:
        try:
            certificates = x509.load_pem_x509_certificates(base64.b64decode(webhook.bundle, validate=True))
        except ValueError:
            remedy = "let cert-manager or usher fill it in, or print it: usher manifests webhooks --ca-bundle ca.crt"
            return attention_point(topic, f"{webhook.name} has no readable caBundle, so every call of it fails", remedy)
        ends.append(max(each.not_valid_after_utc for each in certificates))
    first = min(ends)
    text = f"the CA certificates of all webhooks are valid until {first:%Y-%m-%d}"
    if first <= now:
        text = f"the CA certificate of a webhook ended on {first:%Y-%m-%d}, so its calls fail"
        return attention_point(topic, text, "renew it; docs/operations.md says how")
    return attention_point(topic, text, "renew it now") if first - now < EXPIRES_SOON else good_point(topic, text)


def points_of_server(deployment: paths.Object | None, *, endpoints: int | None, refusal: str | None) -> Iterator[Point]:
    """The points about the server.

    Args:
        deployment: our Deployment; None if it does not exist.
        endpoints: the number of ready endpoints of our Service; None if unknown.
        refusal: why our server did not answer a review through the API server; empty if it did, None if unknown.
    """
    topic = "server"
    if deployment is None:
        yield attention_point(topic, "usher has no Deployment in this namespace", "install it; see docs/operations.md")
        return
    images = sorted(_images(deployment))
    if not any(image.rpartition(":")[2] == __version__ for image in images):
        text = f"the Deployment runs {', '.join(images) or 'no image'}, and this command is {__version__}"
        yield attention_point(topic, text, "run the preflight with the version of the server")
    if endpoints is None:
        yield unknown_point(topic, "the endpoints of the Service cannot be listed")
    elif endpoints < 2:
        text = f"the Service has {endpoints} ready endpoints"
        yield attention_point(topic, text, "run two replicas or more, on different nodes, before anything fails closed")
    else:
        yield good_point(topic, f"the Service has {endpoints} ready endpoints")
    if refusal is None:
        yield unknown_point(topic, "you may not ask the server through the API server (services/proxy)")
    elif refusal:
        text = f"the server does not answer a review through the API server: {refusal}"
        yield attention_point(topic, text, "look at firewalls between the control plane and nodes, and NetworkPolicies")
    else:
        yield good_point(topic, "the server answers a review through the API server")


def _images(deployment: paths.Object) -> Iterator[str]:
    template = paths.mapping(paths.mapping(deployment.get("spec")).get("template"))
    for container in paths.elements(paths.mapping(template.get("spec")).get("containers")):
        if isinstance(container, dict):
            yield str(container.get("image", ""))


def points_of_exemptions(namespaces: Mapping[str, Mapping[str, str]], *, label: str) -> Iterator[Point]:
    """The namespaces that a label exempts from our webhooks."""
    exempt = sorted(name for name, labels in namespaces.items() if labels.get(label) == "true")
    if exempt:
        text = f"the label {label} exempts {len(exempt)} namespaces: {', '.join(exempt[:10])}"
        yield attention_point("exemptions", text, "remove the label where nobody needs it any more")
    else:
        yield good_point("exemptions", "no namespace has the label that exempts it")


def today() -> datetime:
    return datetime.now(UTC)


OTHER_WEBHOOKS_TOPIC: Final = "other-webhooks"
REQUEST_SECONDS: Final = 60
"""Seconds that the API server gives a request, by default."""

_VITAL: Final = (("", "nodes", ""), ("coordination.k8s.io", "leases", "kube-node-lease"))
"""Group, resource and namespace of objects that nodes need to come back. No namespaceSelector spares a Node."""


def points_of_other_webhooks(
    webhooks: Sequence[Webhook],
    *,
    own: Sequence[Webhook],
    namespaces: Mapping[str, Mapping[str, str]],
    ready: Mapping[tuple[str, str], int],
) -> Iterator[Point]:
    """The points about the webhooks of others.

    Args:
        webhooks: the webhooks of others.
        own: our webhooks, which take their part of the time of a request.
        namespaces: the labels of each namespace, by name.
        ready: the number of ready endpoints of each Service of a webhook, by namespace and name, without unknown ones.
    """
    yield slowest_creation([*webhooks, *own])
    before = 0
    for webhook in webhooks:
        if not webhook.fails_closed:
            continue
        for problem in points_of_blocking_webhook(webhook, namespaces, ready):
            before += 1
            yield problem
    if not before:
        yield good_point(
            OTHER_WEBHOOKS_TOPIC, "no other webhook fails closed on the pods of its own server, on nodes or on leases"
        )


def slowest_creation(webhooks: Sequence[Webhook]) -> Point:
    """How long the creation of a Pod may take if every webhook fails to answer."""
    asked = [webhook for webhook in webhooks if webhook.creates("", "pods")]
    mutating = [webhook.timeout for webhook in asked if webhook.mutating]
    longest = max((webhook.timeout for webhook in asked if not webhook.mutating), default=0)
    total = sum(mutating) + longest
    if not asked:
        return good_point(OTHER_WEBHOOKS_TOPIC, "no webhook is asked about the creation of a Pod")
    text = f"{len(mutating)} mutating webhooks are asked about a Pod, {sum(mutating)} s one after the other; with the "
    text += f"slowest of the others, {total} s of the {REQUEST_SECONDS} s of a request"
    if total < REQUEST_SECONDS:
        return good_point(OTHER_WEBHOOKS_TOPIC, text)
    return attention_point(
        OTHER_WEBHOOKS_TOPIC, text, "shorten their timeoutSeconds, the longest first, or narrow their rules"
    )


def points_of_blocking_webhook(
    webhook: Webhook, namespaces: Mapping[str, Mapping[str, str]], ready: Mapping[tuple[str, str], int]
) -> Iterator[Point]:
    """The points about a webhook that fails closed and so keeps a cluster from recovering; arguments as for `judge`."""
    service = webhook.service
    if service is not None and ready.get(service) == 0:
        yield attention_point(
            OTHER_WEBHOOKS_TOPIC,
            f"{webhook.title} fails closed, and its Service {service[0]}/{service[1]} has no ready endpoint",
            "mend its server now: the API server refuses what it asks this webhook about",
        )
    if webhook.chooses:
        return
    own = None
    if service is not None and service[0] in namespaces and webhook.creates("", "pods"):
        own = webhook.selects(namespaces[service[0]])
        if own is None:
            yield unknown_point(OTHER_WEBHOOKS_TOPIC, f"{webhook.title} has a namespaceSelector that usher cannot read")
    everywhere = list(_points_of_pods_everywhere(webhook, namespaces))
    yield from everywhere
    if own and service is not None and not everywhere:
        yield attention_point(
            OTHER_WEBHOOKS_TOPIC,
            f"{webhook.title} fails closed on the pods of its own server in namespace {service[0]}",
            f"exclude the namespace {service[0]} by its namespaceSelector",
        )
    for group, resource, namespace in _VITAL:
        if webhook.creates(group, resource) and (not namespace or webhook.selects(namespaces.get(namespace, {}))):
            yield attention_point(
                OTHER_WEBHOOKS_TOPIC,
                f"{webhook.title} fails closed on {resource}, which nodes need to come back",
                "let it fail open, or take this resource out of its rules",
            )


def _points_of_pods_everywhere(webhook: Webhook, namespaces: Mapping[str, Mapping[str, str]]) -> Iterator[Point]:
    """The point about a webhook that fails closed on what pods of any namespace need to start."""
    if webhook.selects({paths.NAMESPACE_NAME_LABEL: "a-namespace-made-tomorrow"}) is not True:
        return
    own = webhook.service[0] if webhook.service is not None else ""
    for resource, stops in (("pods", "no pod is made"), ("pods/binding", "no pod gets a node")):
        if not webhook.creates("", resource):
            continue
        spared = [name for name in (own, _SYSTEM) if name and webhook.selects(_labels(name, namespaces)) is False]
        where = f"every namespace but {' and '.join(dict.fromkeys(spared))}" if spared else "every namespace"
        mends = f", and exclude the namespace {own} of its own server" if own and own not in spared else ""
        yield attention_point(
            OTHER_WEBHOOKS_TOPIC,
            f"{webhook.title} fails closed on {resource} of {where}: while its server is away, {stops} there",
            "let it fail open, or ask only about the namespaces that need it, by a namespaceSelector or objectSelector"
            + mends,
        )


_SYSTEM: Final = "kube-system"


def _labels(name: str, namespaces: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    return {paths.NAMESPACE_NAME_LABEL: name, **namespaces.get(name, {})}


def preflight_points(cluster: Cluster, *, namespace: str, refusal: str | None, now: datetime) -> Iterator[Point]:
    """The points in the order of display.

    Args:
        namespace: the namespace of our server.
        refusal: why our server did not answer a review, from `why_server_refuses`.
        now: the time at which certificates must be valid.
    """
    yield point_of_api_server(cluster.version)
    for reason in cluster.not_read:
        yield unknown_point("api-server", f"not shown: {reason}")
    endpoints = cluster.ready.get((namespace, SERVER_NAME))
    yield from points_of_server(cluster.deployment, endpoints=endpoints, refusal=refusal)
    own = [each for each in cluster.webhooks if each.configuration == SERVER_NAME]
    yield from points_of_webhooks(own, client=Client(namespace=namespace), now=now)
    others = [each for each in cluster.webhooks if each.configuration != SERVER_NAME]
    yield from points_of_other_webhooks(others, own=own, namespaces=cluster.namespaces, ready=cluster.ready)
    yield from points_of_exemptions(cluster.namespaces, label=EXEMPTION_LABEL)
