"""The webhook configurations, with a rule for every kind in the registry.

Choices and their sources: docs/domain/webhooks.md#configuration. Mutation fails open, because the validating webhook
sees the final object. `conditions` says what fails closed if a site wants that; the label that exempts a namespace
always does. All leave out the namespaces that usher.yaml exempts. The only side effect is the charge of a quota.
"""

import base64
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from usher import paths
from usher.config import models
from usher.config.models import DEFAULT_IDENTITIES, EXEMPTION_LABEL
from usher.dataclass import dataclass
from usher.gatekeeper.matched_kinds import MatchedKind
from usher.kinds.kind import Kind
from usher.kinds.registry import OBJECTS, WORKLOADS
from usher.manifests import fail_closed, requests, rules, site_policies
from usher.manifests.calls import VALIDATE_TIMEOUT, Calls, Client

NAME: Final = "gpu-usher"

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
class _Site:
    """The inputs of all webhooks, beside the registry."""

    client: Client
    config: models.Config
    calls: Calls
    failing: Sequence[paths.Object]


def configurations(
    *,
    client: Client,
    config: models.Config | None = None,
    calls: Calls | None = None,
    failing: Sequence[paths.Object] = (),
    kinds: Collection[MatchedKind] = (),
) -> list[paths.Object]:
    """The mutating and the validating configuration, in the order to apply them.

    Args:
        client: how the API server reaches usher.
        config: usher.yaml, which names administrators, schedulers and exempt namespaces; defaults without one.
        calls: timeouts and failure policies; defaults without one.
        failing: match conditions of `conditions`; a failure policy Fail needs them.
        kinds: those that constraints of Gatekeeper are about.

    Raises:
        ValueError: without these conditions the policy Fail would refuse everything.
    """
    calls = calls or Calls()
    if not failing and "Fail" in (calls.mutate_failure_policy, calls.validate_failure_policy):
        raise ValueError("the failure policy Fail needs match conditions")
    site = _Site(client=client, config=config or models.Config(), calls=calls, failing=failing)
    validating = (
        _workloads(site),
        _other_objects(site),
        _namespaces(site),
        _exemptions(site),
        _bindings(site),
        *([_accelerators(site)] if site.calls.validate_failure_policy == "Fail" else []),
    )
    others = (_usher_yaml(site), *_policies(site, kinds, validating))
    return [_configuration("Mutating", *_mutations(site)), _configuration("Validating", *validating, *others)]


def _mutations(site: _Site) -> Iterator[paths.Object]:
    """The webhook that changes workloads; where mutations fail closed, one for accelerators and one for the rest."""
    if site.calls.mutate_failure_policy == "Ignore":
        yield _mutation(site, "mutate")
        return
    yield _mutation(site, "mutate", fail_closed.otherwise(site.failing))
    closed = _mutation(site, f"mutate-{fail_closed.OWN}", *site.failing)
    yield {**closed, "failurePolicy": "Fail", "rules": _closed_rules()}


def _mutation(site: _Site, name: str, *conditions: paths.Object) -> paths.Object:
    """A webhook that changes workloads."""
    return {
        **_webhook("mutate", site, timeout=site.calls.mutate_timeout, failure_policy="Ignore", name=name),
        "reinvocationPolicy": "IfNeeded",
        # Pods are often updated, but rarely in their spec, which is nearly immutable.
        **_conditions(site, {"name": "no-pod-of-the-same-spec", "expression": _NO_POD_OF_THE_SAME_SPEC}, *conditions),
        "rules": [
            # On UPDATE an object may lose the values of mutations: `kubectl apply` replaces whole lists.
            *rules.of_kinds(WORKLOADS.values(), operations=["CREATE", "UPDATE"]),
            # Debug containers may see all devices, and no other rule covers them.
            rules.rule("", ["v1"], ["pods/ephemeralcontainers"], operations=["UPDATE"]),
        ],
    }


def _workloads(site: _Site) -> paths.Object:
    """The webhook that judges workloads, and charges quotas for them."""
    closed = site.calls.validate_failure_policy == "Fail"
    return {
        **_webhook("validate", site, timeout=site.calls.validate_timeout, failure_policy="Ignore"),
        **_conditions(site, *([fail_closed.otherwise(site.failing)] if closed else [])),
        "rules": [
            *rules.of_kinds(WORKLOADS.values(), operations=["CREATE", "UPDATE"]),
            # Debug containers have a subresource of their own, and fields that are forbidden elsewhere; a resize
            # changes values that were judged.
            rules.rule("", ["v1"], ["pods/ephemeralcontainers", "pods/resize"], operations=["UPDATE"]),
            # A scale makes any number of pods from a template that the request does not hold.
            *rules.of_scales(),
        ],
        # It charges quotas, except in a dry run.
        "sideEffects": "NoneOnDryRun",
    }


def _accelerators(site: _Site) -> paths.Object:
    """The webhook that judges objects with accelerators, if they need a verdict before the API server accepts them."""
    return {
        **_webhook("validate", site, timeout=site.calls.validate_timeout, failure_policy="Fail", name=fail_closed.OWN),
        **_conditions(site, *site.failing),
        "rules": _closed_rules(),
        "sideEffects": "NoneOnDryRun",
    }


def _closed_rules() -> list[paths.Json]:
    return [
        *rules.of_kinds(fail_closed.kinds(), operations=["CREATE", "UPDATE"]),
        rules.rule("", ["v1"], ["pods/ephemeralcontainers"], operations=["UPDATE"]),
    ]


def _other_objects(site: _Site) -> paths.Object:
    """The webhook that judges objects without pods."""
    return {
        # Always Ignore: queues and autoscalers must keep working while usher does not answer.
        **_webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="objects"),
        **_conditions(site),
        "rules": rules.of_kinds(_objects(), operations=["CREATE", "UPDATE"]),
    }


def _namespaces(site: _Site) -> paths.Object:
    """The webhook that judges namespaces."""
    return {
        **_webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="namespaces"),
        # No selector: it would read the labels of the Namespace itself, so that an exemption would exempt itself.
        "namespaceSelector": {},
        "rules": [rules.rule("", ["v1"], ["namespaces"], operations=["CREATE", "UPDATE"], scope="Cluster")],
    }


def _exemptions(site: _Site) -> paths.Object:
    """The webhook that guards the label that exempts a namespace."""
    return {
        # Always Fail: otherwise every tenant could exempt a namespace for good while usher is away. Other requests
        # do not match. Administrators need the label then; `namespaces` judges them too while usher answers.
        **_webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Fail", name="exemptions"),
        "namespaceSelector": {},
        "matchConditions": [
            {"name": "newly-exempt", "expression": _NEWLY_EXEMPT},
            {"name": "no-administrator", "expression": f"!({fail_closed.administrators(site.config)})"},
        ],
        "rules": [rules.rule("", ["v1"], ["namespaces"], operations=["CREATE", "UPDATE"], scope="Cluster")],
    }


def _bindings(site: _Site) -> paths.Object:
    """The webhook that judges bindings of pods to nodes."""
    return {
        **_webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="bindings"),
        # Every pod is bound once, nearly always by a scheduler, whose requests need no review.
        **_conditions(site, {"name": "no-scheduler", "expression": f"!({requests.by(_schedulers(site.config))})"}),
        "rules": [rules.rule("", ["v1"], ["pods/binding", "bindings"], operations=["CREATE"])],
    }


def _policies(site: _Site, kinds: Collection[MatchedKind], judging: Sequence[paths.Object]) -> Iterator[paths.Object]:
    """The webhook for objects that only policies of Gatekeeper match, if there are any."""
    made, conditions = site_policies.of(kinds, judging)
    if made:
        # Always Ignore: the kinds may include one that heals a cluster.
        webhook = _webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name=site_policies.NAME)
        yield {**webhook, **_conditions(site, *conditions), "rules": made}


def _usher_yaml(site: _Site) -> paths.Object:
    """The webhook that judges the ConfigMap with usher.yaml, so that a new server can always load it."""
    own: paths.Object = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [site.client.namespace]}
    return {
        # Always Ignore: a server that does not start must not block the change that repairs it.
        **_webhook("configuration", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore"),
        "namespaceSelector": {"matchExpressions": [own]},
        "matchConditions": [{"name": "usher-yaml", "expression": f"object.metadata.name == '{NAME}'"}],
        "rules": [rules.rule("", ["v1"], ["configmaps"], operations=["CREATE", "UPDATE"])],
    }


def _objects() -> list[Kind]:
    """The kinds without pods that rules read, except those with a webhook of their own."""
    return [kind for kind in OBJECTS.values() if kind.listed and not kind.own_webhook]


def _schedulers(config: models.Config) -> models.Identity:
    return {**DEFAULT_IDENTITIES, **config.identities}["schedulers"]


def _configuration(prefix: str, *webhooks: paths.Object) -> paths.Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{prefix}WebhookConfiguration",
        "metadata": {"name": NAME, "labels": {"app.kubernetes.io/name": NAME}},
        "webhooks": list(webhooks),
    }


def _webhook(endpoint: str, site: _Site, *, timeout: int, failure_policy: str, name: str = "") -> paths.Object:
    return {
        "name": f"{name or endpoint}.gpu-usher.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "matchPolicy": "Equivalent",
        "failurePolicy": failure_policy,
        "timeoutSeconds": timeout,
        "clientConfig": _client_config(endpoint, site.client),
        "namespaceSelector": {
            "matchExpressions": [
                # The API server owns this label, so that no tenant can set it.
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": _exempt(site),
                },
                # Only administrators may set this one: the check exemption-by-tenant guards it.
                {"key": EXEMPTION_LABEL, "operator": "NotIn", "values": ["true"]},
            ]
        },
    }


def _exempt(site: _Site) -> list[paths.Json]:
    """Names of namespaces; the server's own is always among them, because it cannot judge its own pods."""
    names = [name for name in site.config.exempt_namespaces if "*" not in name]
    return [*dict.fromkeys([*names, site.client.namespace])]


def _conditions(site: _Site, *own: paths.Object) -> paths.Object:
    """Match conditions; a selector cannot express the patterns of exempt namespaces."""
    patterns = [name for name in site.config.exempt_namespaces if "*" in name]
    if patterns:
        exempt: paths.Object = {"name": "no-exempt-namespace", "expression": f"!({requests.within(patterns)})"}
        own = (*own, exempt)
    return {"matchConditions": [*own]} if own else {}


def _client_config(endpoint: str, client: Client) -> paths.Object:
    config: paths.Object = (
        {"url": f"{client.url}/{endpoint}"}
        if client.url
        else {"service": {"name": client.service, "namespace": client.namespace, "path": f"/{endpoint}", "port": 443}}
    )
    if client.ca_bundle:
        config["caBundle"] = base64.b64encode(client.ca_bundle).decode()
    return config
