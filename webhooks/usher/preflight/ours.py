"""Judges our own installation: webhooks, certificate, server, version."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509

from usher import __version__, paths
from usher.manifests import webhooks as made
from usher.manifests.calls import Client
from usher.preflight import point
from usher.preflight.registered import Webhook, read

MINIMUM: Final = (1, 30)
"""The first Kubernetes version whose webhooks always have matchConditions."""

SOON: Final = timedelta(days=21)


def of_the_api_server(version: paths.Object) -> point.Point:
    """The point about the version of Kubernetes, from the answer at `/version`."""
    try:
        major, minor = int(str(version["major"])), int(str(version["minor"]).rstrip("+"))
    except (KeyError, ValueError):
        return point.not_known("api-server", "the API server does not tell its version")
    text = f"Kubernetes {major}.{minor}"
    if (major, minor) < MINIMUM:
        return point.attention("api-server", text, f"usher needs {MINIMUM[0]}.{MINIMUM[1]} or newer: matchConditions")
    return point.good("api-server", text)


def of_webhooks(installed: Sequence[Webhook], *, client: Client, now: datetime) -> Iterator[point.Point]:
    """The points about our webhooks, compared with the webhooks that this version prints."""
    if not installed:
        remedy = "once a server answers: usher manifests webhooks | kubectl apply -f -"
        yield point.attention("webhooks", "usher's webhooks are not registered, so admission judges nothing", remedy)
        return
    yield from _differences(installed, client)
    closed = [webhook.name for webhook in installed if webhook.fails_closed]
    yield point.good("webhooks", f"{len(installed)} are registered; these fail closed: {', '.join(closed) or 'none'}")
    yield _bundles(installed, now)


def _differences(installed: Sequence[Webhook], client: Client) -> Iterator[point.Point]:
    mutating, validating = made.configurations(client=client)
    expected = [*read([mutating], mutating=True), *read([validating], mutating=False)]
    missing = sorted({each.name for each in expected} - {each.name for each in installed})
    kinds = sorted(_resources(expected) - _resources(installed))
    remedy = "print them again with this version and your usher.yaml: usher manifests webhooks"
    if missing:
        yield point.attention("webhooks", f"not registered: {', '.join(missing)}", remedy)
    if kinds:
        some = ", ".join(kinds[:5]) + (" and others" if len(kinds) > 5 else "")
        yield point.attention("webhooks", f"usher is not asked about {len(kinds)} kinds: {some}", remedy)


def _resources(webhooks: Sequence[Webhook]) -> set[str]:
    found = set()
    for webhook in webhooks:
        rules = webhook.value.get("rules")
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, dict):
                groups, resources = rule.get("apiGroups"), rule.get("resources")
                found |= {
                    f"{resource}.{group}" if group else str(resource)
                    for group in (groups if isinstance(groups, list) else ())
                    for resource in (resources if isinstance(resources, list) else ())
                }
    return found


def _bundles(installed: Sequence[Webhook], now: datetime) -> point.Point:
    """Whether each webhook trusts a valid CA certificate."""
    topic = "certificate"
    ends = []
    for webhook in installed:
        try:
            certificates = x509.load_pem_x509_certificates(base64.b64decode(webhook.bundle, validate=True))
        except ValueError:
            remedy = "let cert-manager or usher fill it in, or print it: usher manifests webhooks --ca-bundle ca.crt"
            return point.attention(topic, f"{webhook.name} has no readable caBundle, so every call of it fails", remedy)
        ends.append(max(each.not_valid_after_utc for each in certificates))
    first = min(ends)
    text = f"the CA certificates of all webhooks are valid until {first:%Y-%m-%d}"
    if first <= now:
        text = f"the CA certificate of a webhook ended on {first:%Y-%m-%d}, so its calls fail"
        return point.attention(topic, text, "renew it; docs/operations.md says how")
    return point.attention(topic, text, "renew it now") if first - now < SOON else point.good(topic, text)


def of_the_server(
    deployment: paths.Object | None, *, endpoints: int | None, refusal: str | None
) -> Iterator[point.Point]:
    """The points about the server.

    Args:
        deployment: our Deployment; None if there is none.
        endpoints: the number of ready endpoints of our Service; None if unknown.
        refusal: why our server did not answer a review through the API server; empty if it did, None if unknown.
    """
    topic = "server"
    if deployment is None:
        yield point.attention(topic, "usher has no Deployment in this namespace", "install it; see docs/operations.md")
        return
    images = sorted(_images(deployment))
    if not any(image.rpartition(":")[2] == __version__ for image in images):
        text = f"the Deployment runs {', '.join(images) or 'no image'}, and this command is {__version__}"
        yield point.attention(topic, text, "run the preflight with the version of the server")
    if endpoints is None:
        yield point.not_known(topic, "the endpoints of the Service cannot be listed")
    elif endpoints < 2:
        text = f"the Service has {endpoints} ready endpoints"
        yield point.attention(topic, text, "run two replicas or more, on different nodes, before anything fails closed")
    else:
        yield point.good(topic, f"the Service has {endpoints} ready endpoints")
    if refusal is None:
        yield point.not_known(topic, "you may not ask the server through the API server (services/proxy)")
    elif refusal:
        text = f"the server does not answer a review through the API server: {refusal}"
        yield point.attention(topic, text, "look at firewalls between the control plane and nodes, and NetworkPolicies")
    else:
        yield point.good(topic, "the server answers a review through the API server")


def _images(deployment: paths.Object) -> Iterator[str]:
    spec = deployment.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    pod = template.get("spec") if isinstance(template, dict) else None
    containers = pod.get("containers") if isinstance(pod, dict) else None
    for container in containers if isinstance(containers, list) else ():
        if isinstance(container, dict):
            yield str(container.get("image", ""))


def of_exemptions(namespaces: Mapping[str, Mapping[str, str]], *, label: str) -> Iterator[point.Point]:
    """The namespaces that a label exempts from our webhooks."""
    exempt = sorted(name for name, labels in namespaces.items() if labels.get(label) == "true")
    if exempt:
        text = f"the label {label} exempts {len(exempt)} namespaces: {', '.join(exempt[:10])}"
        yield point.attention("exemptions", text, "remove the label where nobody needs it any more")
    else:
        yield point.good("exemptions", "no namespace has the label that exempts it")


def today() -> datetime:
    return datetime.now(UTC)
