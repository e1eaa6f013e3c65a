"""Judges webhooks of others: timeouts that add up, and webhooks that block the objects that they need to restart.

The API server calls mutating webhooks one after the other and validating ones in parallel; the whole request has 60
seconds (docs/domain/webhooks.md#failures).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from usher.preflight import point
from usher.preflight.registered import Webhook

TOPIC: Final = "other-webhooks"
REQUEST: Final = 60
"""Seconds that the API server gives a request, by default."""

_VITAL: Final = (("", "nodes", ""), ("coordination.k8s.io", "leases", "kube-node-lease"))
"""Group, resource and namespace of objects that nodes need to come back. No namespaceSelector spares a Node."""


def judge(
    webhooks: Sequence[Webhook],
    *,
    own: Sequence[Webhook],
    namespaces: Mapping[str, Mapping[str, str]],
    ready: Mapping[tuple[str, str], int],
) -> Iterator[point.Point]:
    """The points about the webhooks of others.

    Args:
        webhooks: the webhooks of others.
        own: our webhooks, which take their part of the time of a request.
        namespaces: the labels of each namespace, by name.
        ready: the number of ready endpoints of each Service of a webhook, by namespace and name, without unknown ones.
    """
    yield slowest([*webhooks, *own])
    before = 0
    for webhook in webhooks:
        if not webhook.fails_closed:
            continue
        for problem in problems(webhook, namespaces, ready):
            before += 1
            yield problem
    if not before:
        yield point.good(TOPIC, "no other webhook fails closed on the pods of its own server, on nodes or on leases")


def slowest(webhooks: Sequence[Webhook]) -> point.Point:
    """How long the creation of a Pod may take if every webhook fails to answer."""
    asked = [webhook for webhook in webhooks if webhook.creates("", "pods")]
    mutating = [webhook.timeout for webhook in asked if webhook.mutating]
    longest = max((webhook.timeout for webhook in asked if not webhook.mutating), default=0)
    total = sum(mutating) + longest
    if not asked:
        return point.good(TOPIC, "no webhook is asked about the creation of a Pod")
    text = f"{len(mutating)} mutating webhooks are asked about a Pod, {sum(mutating)} s one after the other; with the "
    text += f"slowest of the others, {total} s of the {REQUEST} s of a request"
    if total < REQUEST:
        return point.good(TOPIC, text)
    return point.attention(TOPIC, text, "shorten their timeoutSeconds, the longest first, or narrow their rules")


def problems(
    webhook: Webhook, namespaces: Mapping[str, Mapping[str, str]], ready: Mapping[tuple[str, str], int]
) -> Iterator[point.Point]:
    """The points about a webhook that fails closed and so keeps a cluster from recovering; arguments as for `judge`."""
    service = webhook.service
    if service is not None and ready.get(service) == 0:
        yield point.attention(
            TOPIC,
            f"{webhook.title} fails closed, and its Service {service[0]}/{service[1]} has no ready endpoint",
            "mend its server now: the API server refuses what it asks this webhook about",
        )
    if webhook.chooses:
        return
    if service is not None and service[0] in namespaces and webhook.creates("", "pods"):
        own = webhook.selects(namespaces[service[0]])
        if own:
            yield point.attention(
                TOPIC,
                f"{webhook.title} fails closed on the pods of its own server in namespace {service[0]}",
                f"exclude the namespace {service[0]} by its namespaceSelector",
            )
        elif own is None:
            yield point.not_known(TOPIC, f"{webhook.title} has a namespaceSelector that usher cannot read")
    for group, resource, namespace in _VITAL:
        if webhook.creates(group, resource) and (not namespace or webhook.selects(namespaces.get(namespace, {}))):
            yield point.attention(
                TOPIC,
                f"{webhook.title} fails closed on {resource}, which nodes need to come back",
                "let it fail open, or take this resource out of its rules",
            )
