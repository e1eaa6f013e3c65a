"""The webhook configurations, with a rule for every kind in the registry.

Choices and their sources: docs/domain/webhooks.md#configuration. Mutation fails open, because the validating webhook
sees the final object. Both leave out the namespaces that a cluster needs for its own repair. The only side effect is
the charge of a quota.
"""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from usher import paths
from usher.config.models import DEFAULT_EXEMPT_NAMESPACES, DEFAULT_IDENTITIES, EXEMPTION_LABEL
from usher.kinds.kind import Kind
from usher.kinds.registry import OBJECTS, SCALES, WORKLOADS
from usher.review.scaling import SUB_RESOURCE

NAME: Final = "gpu-usher"
Scope = Literal["Namespaced", "Cluster"]
FailurePolicy = Literal["Ignore", "Fail"]

MUTATE_TIMEOUT: Final = 1
VALIDATE_TIMEOUT: Final = 3
"""Seconds, as for Gatekeeper; a healthy review takes less than a thousandth of that."""


_NO_SCHEDULER: Final = "!(" + " || ".join(
    f"request.userInfo.username == '{user}'"
    if "*" not in user
    else f"request.userInfo.username.startsWith('{user.rstrip('*')}')"
    for user in DEFAULT_IDENTITIES["schedulers"].users
) + ")"  # fmt: skip

_NO_POD_OF_THE_SAME_SPEC: Final = (
    "request.operation != 'UPDATE' || request.resource.group != '' || request.resource.resource != 'pods' "
    "|| object.spec != oldObject.spec"
)

_EXEMPT: Final = (
    f"has({{0}}.metadata.labels) && '{EXEMPTION_LABEL}' in {{0}}.metadata.labels "
    f"&& {{0}}.metadata.labels['{EXEMPTION_LABEL}'] == 'true'"
)
_NEWLY_EXEMPT: Final = f"{_EXEMPT.format('object')} && !(oldObject != null && {_EXEMPT.format('oldObject')})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """How the API server reaches usher: by a Service, or in development by a URL."""

    service: str = "gpu-usher"
    namespace: str = "gpu-usher"
    url: str = ""
    ca_bundle: bytes = b""
    """PEM; empty where another controller fills it in (cert-manager)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """How long the API server waits for the webhooks of workloads, and what it does without an answer."""

    mutate_failure_policy: FailurePolicy = "Ignore"
    validate_failure_policy: FailurePolicy = "Ignore"
    mutate_timeout: int = MUTATE_TIMEOUT
    validate_timeout: int = VALIDATE_TIMEOUT
    """Seconds, from 1 to 30."""


def configurations(*, client: Client, calls: Calls | None = None) -> list[paths.Object]:
    """The mutating and the validating configuration, in the order to apply them."""
    calls = calls or Calls()
    validating = (
        _workloads(client, calls),
        _other_objects(client),
        _namespaces(client),
        _exemptions(client),
        _bindings(client),
    )
    return [_configuration("Mutating", _mutation(client, calls)), _configuration("Validating", *validating)]


def _mutation(client: Client, calls: Calls) -> paths.Object:
    """The webhook that changes workloads."""
    return {
        **_webhook("mutate", client, timeout=calls.mutate_timeout, failure_policy=calls.mutate_failure_policy),
        "reinvocationPolicy": "IfNeeded",
        # Pods are updated all the time, but rarely in their spec, which is nearly immutable.
        "matchConditions": [{"name": "no-pod-of-the-same-spec", "expression": _NO_POD_OF_THE_SAME_SPEC}],
        "rules": [
            # On UPDATE an object may lose the values of mutations: `kubectl apply` replaces whole lists.
            *_rules(WORKLOADS.values(), operations=["CREATE", "UPDATE"]),
            # Debug containers may see all devices, and no other rule covers them.
            _rule("", ["v1"], ["pods/ephemeralcontainers"], operations=["UPDATE"]),
        ],
    }


def _workloads(client: Client, calls: Calls) -> paths.Object:
    """The webhook that judges workloads, and charges quotas for them."""
    return {
        **_webhook("validate", client, timeout=calls.validate_timeout, failure_policy=calls.validate_failure_policy),
        "rules": [
            *_rules(WORKLOADS.values(), operations=["CREATE", "UPDATE"]),
            # Debug containers have a subresource of their own, and fields that are forbidden elsewhere; a resize
            # changes values that were judged.
            _rule("", ["v1"], ["pods/ephemeralcontainers", "pods/resize"], operations=["UPDATE"]),
            # A scale makes any number of pods from a template that the request does not hold.
            *_scale_rules(),
        ],
        # It charges quotas, except in a dry run.
        "sideEffects": "NoneOnDryRun",
    }


def _other_objects(client: Client) -> paths.Object:
    """The webhook that judges objects without pods."""
    return {
        # Always Ignore: queues and autoscalers must keep working while usher does not.
        **_webhook("validate", client, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="objects"),
        "rules": _rules(_objects(), operations=["CREATE", "UPDATE"]),
    }


def _namespaces(client: Client) -> paths.Object:
    """The webhook that judges namespaces."""
    return {
        **_webhook("validate", client, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="namespaces"),
        # Without a selector, which would read the labels of the Namespace itself: an exemption would exempt itself.
        "namespaceSelector": {},
        "rules": [_rule("", ["v1"], ["namespaces"], operations=["CREATE", "UPDATE"], scope="Cluster")],
    }


def _exemptions(client: Client) -> paths.Object:
    """The webhook that guards the label by which a namespace is exempt."""
    return {
        # Always Fail: otherwise every tenant could exempt a namespace for good while usher is away. Other requests
        # do not match.
        **_webhook("validate", client, timeout=VALIDATE_TIMEOUT, failure_policy="Fail", name="exemptions"),
        "namespaceSelector": {},
        "matchConditions": [{"name": "newly-exempt", "expression": _NEWLY_EXEMPT}],
        "rules": [_rule("", ["v1"], ["namespaces"], operations=["CREATE", "UPDATE"], scope="Cluster")],
    }


def _bindings(client: Client) -> paths.Object:
    """The webhook that judges bindings of pods to nodes."""
    return {
        **_webhook("validate", client, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="bindings"),
        # Every pod is bound once, nearly always by a scheduler, whose requests need no review.
        "matchConditions": [{"name": "no-scheduler", "expression": _NO_SCHEDULER}],
        "rules": [_rule("", ["v1"], ["pods/binding", "bindings"], operations=["CREATE"])],
    }


def _objects() -> list[Kind]:
    """The kinds without pods that rules read, except those with a webhook of their own."""
    return [kind for kind in OBJECTS.values() if kind.listed and not kind.own_webhook]


def _configuration(prefix: str, *webhooks: paths.Object) -> paths.Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{prefix}WebhookConfiguration",
        "metadata": {"name": NAME, "labels": {"app.kubernetes.io/name": NAME}},
        "webhooks": list(webhooks),
    }


def _webhook(endpoint: str, client: Client, *, timeout: int, failure_policy: str, name: str = "") -> paths.Object:
    return {
        "name": f"{name or endpoint}.gpu-usher.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "matchPolicy": "Equivalent",
        "failurePolicy": failure_policy,
        "timeoutSeconds": timeout,
        "clientConfig": _client_config(endpoint, client),
        "namespaceSelector": {
            "matchExpressions": [
                # The API server owns this label, so that no tenant can set it.
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": list(DEFAULT_EXEMPT_NAMESPACES),
                },
                # Only administrators may set this one: the check exemption-by-tenant guards it.
                {"key": EXEMPTION_LABEL, "operator": "NotIn", "values": ["true"]},
            ]
        },
    }


def _client_config(endpoint: str, client: Client) -> paths.Object:
    config: paths.Object = (
        {"url": f"{client.url}/{endpoint}"}
        if client.url
        else {"service": {"name": client.service, "namespace": client.namespace, "path": f"/{endpoint}", "port": 443}}
    )
    if client.ca_bundle:
        config["caBundle"] = base64.b64encode(client.ca_bundle).decode()
    return config


def _rules(kinds: Iterable[Kind], *, operations: Sequence[str]) -> list[paths.Json]:
    """One rule for each group and set of versions; a rule for a kind that is not installed does no harm.

    Kinds that no API server serves are left out.
    """
    resources: dict[tuple[str, tuple[str, ...], Scope], list[str]] = {}
    for kind in filter(lambda each: each.plural, kinds):
        scope: Scope = "Cluster" if kind.cluster_scoped else "Namespaced"
        resources.setdefault((kind.group, kind.versions, scope), []).append(kind.plural)
    return [
        _rule(group, versions, plurals, operations=operations, scope=scope)
        for (group, versions, scope), plurals in resources.items()
    ]


def _scale_rules() -> list[paths.Json]:
    """Rules for the scale of kinds that make pods. The scale of another kind arrives as an UPDATE of its target."""
    plurals: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for key in SCALES:
        kind = WORKLOADS.get(key)
        if kind is not None:
            plurals.setdefault((kind.group, kind.versions), []).append(f"{kind.plural}/{SUB_RESOURCE}")
    return [_rule(group, served, resources, operations=["UPDATE"]) for (group, served), resources in plurals.items()]


def _rule(
    group: str,
    versions: Sequence[str],
    resources: Sequence[str],
    *,
    operations: Sequence[str],
    scope: Scope = "Namespaced",
) -> paths.Object:
    return {
        "apiGroups": [group],
        "apiVersions": list(versions),
        "resources": list(resources),
        "operations": list(operations),
        "scope": scope,
    }
