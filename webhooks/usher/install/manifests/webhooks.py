"""The webhook configurations, with a rule for every kind in the registry and for what policies of a site judge.

Choices and their sources: docs/domain/webhooks.md#configuration. Mutation fails open, because the validating webhook
sees the final object. `conditions` says what fails closed if a site wants that; the label that exempts a namespace
always does. All leave out the namespaces that usher.yaml exempts. The only side effect is the charge of a quota.

A constraint names kinds, and a rule names resources. usher knows the resources of Kubernetes and of its own kinds. For
other groups a rule names all resources, and a condition selects the kinds of constraints, so usher needs no cluster for
this. The API server asks once about an object, so resources of usher's other webhooks are left out.
"""

import base64
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from usher import paths
from usher.check import site_policies
from usher.config import models, sections
from usher.config.models import EXEMPTION_LABEL
from usher.config.sections import DEFAULT_IDENTITIES
from usher.extensions.gatekeeper.library import ANY_KIND, MatchedKind
from usher.install.manifests import conditions as cel_conditions
from usher.kinds import registry
from usher.kinds.kind import Kind
from usher.kinds.registry import OBJECTS, SCALES, WORKLOADS
from usher.review.admission_review import SCALE_SUB_RESOURCE

FailurePolicy = Literal["Ignore", "Fail"]

MUTATE_TIMEOUT: Final[Mapping[FailurePolicy, int]] = {"Ignore": 1, "Fail": 3}
"""Seconds. A late mutation is mended with Ignore and a refused object with Fail, so Fail waits longer: on busy nodes a
second was too short for one object in a hundred (docs/reliability.md, P1).
"""

VALIDATE_TIMEOUT: Final = 3
"""Seconds, as for Gatekeeper; a healthy review takes less than a thousandth of that."""


class Client(Struct, frozen=True, kw_only=True):
    """How the API server reaches usher: by a Service, or in development by a URL."""

    service: str = "gpu-usher"
    namespace: str = "gpu-usher"
    url: str = ""
    ca_bundle: bytes = b""
    """PEM; empty if another controller fills it in (cert-manager)."""


class Calls(Struct, frozen=True, kw_only=True):
    """How long the API server waits for the webhooks of workloads, and what it does without an answer.

    With Fail it refuses requests that meet the match conditions of `conditions`, and accepts all others.
    """

    mutate_failure_policy: FailurePolicy = "Ignore"
    validate_failure_policy: FailurePolicy = "Ignore"
    mutate_timeout: int | None = None
    """Seconds, from 1 to 30; None for those of its failure policy."""
    validate_timeout: int = VALIDATE_TIMEOUT
    """Seconds, from 1 to 30."""

    @property
    def seconds_of_mutations(self) -> int:
        return self.mutate_timeout or MUTATE_TIMEOUT[self.mutate_failure_policy]


Scope = Literal["Namespaced", "Cluster", "*"]


def rules_of_kinds(kinds: Iterable[Kind], *, operations: Sequence[str], sub_resource: str = "") -> list[paths.Json]:
    """One rule for each group, set of versions and scope; a rule for a kind that is not installed does no harm.

    Kinds that no API server serves are left out.
    """
    resources: dict[tuple[str, tuple[str, ...], Scope], list[str]] = {}
    for kind in filter(lambda each: each.plural, kinds):
        scope: Scope = "Cluster" if kind.cluster_scoped else "Namespaced"
        resource = f"{kind.plural}/{sub_resource}" if sub_resource else kind.plural
        resources.setdefault((kind.group, kind.versions, scope), []).append(resource)
    return [
        webhook_rule(group, versions, names, operations=operations, scope=scope)
        for (group, versions, scope), names in resources.items()
    ]


def rules_of_scales() -> list[paths.Json]:
    """Rules for the scale of kinds that make pods. The scale of another kind arrives as an UPDATE of its target."""
    kinds = [WORKLOADS[key] for key in SCALES if key in WORKLOADS]
    return rules_of_kinds(kinds, operations=["UPDATE"], sub_resource=SCALE_SUB_RESOURCE)


def rules_of_status(kinds: Iterable[Kind]) -> list[paths.Json]:
    """Rules for `/status` of Kubernetes' own kinds, which lets its users write labels, annotations and owners.

    Of custom resources the API server keeps the metadata (apiextensions-apiserver, customresource/status_strategy.go).
    """
    own = [kind for kind in kinds if site_policies.is_kubernetes_group(kind.group)]
    return rules_of_kinds(own, operations=["UPDATE"], sub_resource=_STATUS)


def webhook_rule(
    group: str,
    versions: Sequence[str],
    resources: Sequence[str],
    *,
    operations: Sequence[str],
    scope: Scope = "Namespaced",
) -> paths.Object:
    """A rule for these resources of a group."""
    return {
        "apiGroups": [group],
        "apiVersions": list(versions),
        "resources": list(resources),
        "operations": list(operations),
        "scope": scope,
    }


POLICIES_NAME: Final = "policies"
"""The start of the webhook's name."""

_OPERATIONS: Final = ("CREATE", "UPDATE")

_NAMED_ALONE: Final = (
    ("", "secrets", "Secret"),
    ("", "events", "Event"),
    ("events.k8s.io", "events", "Event"),
    ("coordination.k8s.io", "leases", "Lease"),
)
"""Kinds that match only constraints that name them, and not those about all kinds: secrets, and frequent heartbeats."""

_ASKING: Final = ("authentication.k8s.io", "authorization.k8s.io")
"""API groups of requests that the API server answers but does not store."""


def rules_and_conditions(
    kinds: Collection[MatchedKind], judging: Iterable[paths.Object]
) -> tuple[list[paths.Json], list[paths.Object]]:
    """The rules of the webhook and its match conditions; no rules where other webhooks name all kinds.

    Args:
        kinds: those that constraints are about.
        judging: the other webhooks of usher that ask for the same verdicts.
    """
    covered = _covered(judging)
    named = [each for each in kinds if is_named(each)]
    made = _named_rules(named, covered)
    others = [each for each in kinds if each not in named]
    groups = sorted({each.group for each in others})
    if groups:
        made.append(_rule(ANY_KIND if ANY_KIND in groups else groups, [ANY_KIND]))
    if not made:
        return [], []
    conditions = [_condition("kinds-of-constraints", _about(kinds))] if _about(kinds) else []
    if others:
        conditions.append(_condition("not-judged-already", f"!({_among(covered)})"))
    if any(each.group == each.kind == ANY_KIND for each in kinds):
        conditions.append(_condition("not-for-all-kinds", f"!({_left_out(kinds)})"))
    return made, conditions


def helm_values(configurations: Iterable[paths.Object]) -> paths.Object:
    """The webhook among configurations, as values of the Helm chart."""
    found = [
        each
        for configuration in configurations
        for each in (configuration["webhooks"] if isinstance(configuration["webhooks"], list) else ())
        if isinstance(each, dict) and each["name"] == f"{POLICIES_NAME}.gpu-usher.io"
    ]
    return {"policies": {"webhooks": [*found]}}


def _covered(webhooks: Iterable[paths.Object]) -> dict[str, list[str]]:
    """The resources that other webhooks name, by group."""
    found: dict[str, set[str]] = {}
    for webhook in webhooks:
        listed = webhook["rules"]
        for rule in listed if isinstance(listed, list) else ():
            if not isinstance(rule, dict):
                continue
            group, resources = _texts(rule["apiGroups"])[0], _texts(rule["resources"])
            if set(_OPERATIONS) <= set(_texts(rule["operations"])):
                found.setdefault(group, set()).update(each for each in resources if "/" not in each)
    return {group: sorted(found[group]) for group in sorted(found)}


def is_named(each: MatchedKind) -> bool:
    """Whether usher knows the resource of a kind."""
    key = each.group, each.kind
    return ANY_KIND not in key and (key in registry.BY_KEY or site_policies.is_kubernetes_group(each.group))


def _named_rules(kinds: Iterable[MatchedKind], covered: dict[str, list[str]]) -> list[paths.Json]:
    resources: dict[str, set[str]] = {}
    for each in kinds:
        name = plural_of_kind(each)
        if name not in covered.get(each.group, ()):
            resources.setdefault(each.group, set()).add(name)
    return [_rule([group], sorted(resources[group])) for group in sorted(resources)]


def plural_of_kind(each: MatchedKind) -> str:
    """The resource of a kind of usher, or of Kubernetes, whose plurals follow one rule (apimachinery, meta)."""
    known = registry.BY_KEY.get((each.group, each.kind))
    if known is not None and known.plural:
        return known.plural
    name = each.kind.lower()
    if name.endswith("endpoints"):
        return name
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("s") else f"{name}s"


def _rule(groups: str | Sequence[str], resources: Sequence[str]) -> paths.Object:
    made = webhook_rule("", [ANY_KIND], resources, operations=_OPERATIONS, scope="*")
    return {**made, "apiGroups": [groups] if isinstance(groups, str) else [*groups]}


def _condition(name: str, expression: str) -> paths.Object:
    return {"name": name, "expression": expression}


def _about(kinds: Collection[MatchedKind]) -> str:
    """An expression that is true for objects of these kinds; empty if it is true for all objects."""
    by_group: dict[str, set[str]] = {}
    for each in kinds:
        by_group.setdefault(each.group, set()).add(each.kind)
    if ANY_KIND in by_group.get(ANY_KIND, ()):
        return ""
    parts = []
    for group, names in sorted(by_group.items()):
        of_group = [] if group == ANY_KIND else [f"request.kind.group == {cel_conditions.cel_text(group)}"]
        of_kind = [] if ANY_KIND in names else [f"request.kind.kind in {cel_conditions.cel_texts(sorted(names))}"]
        parts.append(" && ".join([*of_group, *of_kind]))
    return " || ".join(parts)


def _among(resources: dict[str, list[str]]) -> str:
    return " || ".join(
        f"request.resource.group == {cel_conditions.cel_text(group)} && "
        f"request.resource.resource in {cel_conditions.cel_texts(names)}"
        for group, names in resources.items()
    )


def _left_out(kinds: Collection[MatchedKind]) -> str:
    left_out: dict[str, list[str]] = {}
    for group, resource, kind in _NAMED_ALONE:
        if MatchedKind(group=group, kind=kind) not in kinds:
            left_out.setdefault(group, []).append(resource)
    return " || ".join(
        filter(None, (f"request.resource.group in {cel_conditions.cel_texts(_ASKING)}", _among(left_out)))
    )


def _texts(value: paths.Json) -> list[str]:
    return [each for each in paths.elements(value) if isinstance(each, str)]


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

_STATUS: Final = "status"
_NEW_METADATA: Final = " || ".join(
    f"object.metadata.?{field}.orValue({empty}) != oldObject.metadata.?{field}.orValue({empty})"
    for field, empty in (("labels", "{}"), ("annotations", "{}"), ("ownerReferences", "[]"))
)
_NO_STATUS_OF_THE_SAME_METADATA: Final = f"request.?subResource.orValue('') != '{_STATUS}' || {_NEW_METADATA}"

_NAMESPACES: Final = ("namespaces", "namespaces/finalize", "namespaces/status")
"""The namespace and those of its subresources whose requests may write its labels."""


class _Site(Struct, frozen=True, kw_only=True):
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
    yield _mutation(site, "mutate", cel_conditions.all_other_requests(site.failing))
    closed = _mutation(site, f"mutate-{cel_conditions.FAIL_CLOSED_WEBHOOK}", *site.failing)
    yield {**closed, "failurePolicy": "Fail", "rules": _closed_rules()}


def _mutation(site: _Site, name: str, *conditions: paths.Object) -> paths.Object:
    """A webhook that changes workloads."""
    return {
        **_webhook("mutate", site, timeout=site.calls.seconds_of_mutations, failure_policy="Ignore", name=name),
        "reinvocationPolicy": "IfNeeded",
        # Pods are often updated, but rarely in their spec, which is nearly immutable.
        **_conditions(site, _condition("no-pod-of-the-same-spec", _NO_POD_OF_THE_SAME_SPEC), *conditions),
        "rules": [
            # On UPDATE an object may lose the values of mutations: `kubectl apply` replaces whole lists.
            *rules_of_kinds(WORKLOADS.values(), operations=["CREATE", "UPDATE"]),
            # Debug containers may see all devices, and no other rule covers them.
            webhook_rule("", ["v1"], ["pods/ephemeralcontainers"], operations=["UPDATE"]),
        ],
    }


def _workloads(site: _Site) -> paths.Object:
    """The webhook that judges workloads, and charges quotas for them."""
    closed = site.calls.validate_failure_policy == "Fail"
    return {
        **_webhook("validate", site, timeout=site.calls.validate_timeout, failure_policy="Ignore"),
        **_conditions(
            site, _condition_of_status(), *([cel_conditions.all_other_requests(site.failing)] if closed else [])
        ),
        "rules": [
            *rules_of_kinds(WORKLOADS.values(), operations=["CREATE", "UPDATE"]),
            # Debug containers have a subresource of their own, and fields that are forbidden elsewhere; a resize
            # changes values that were judged.
            webhook_rule("", ["v1"], ["pods/ephemeralcontainers", "pods/resize"], operations=["UPDATE"]),
            # A scale makes any number of pods from a template that the request does not hold.
            *rules_of_scales(),
            *rules_of_status(WORKLOADS.values()),
        ],
        # It charges quotas, except in a dry run.
        "sideEffects": "NoneOnDryRun",
    }


def _accelerators(site: _Site) -> paths.Object:
    """The webhook that judges objects with accelerators, if they need a verdict before the API server accepts them."""
    return {
        **_webhook(
            "validate",
            site,
            timeout=site.calls.validate_timeout,
            failure_policy="Fail",
            name=cel_conditions.FAIL_CLOSED_WEBHOOK,
        ),
        **_conditions(site, *site.failing),
        "rules": _closed_rules(),
        "sideEffects": "NoneOnDryRun",
    }


def _closed_rules() -> list[paths.Json]:
    return [
        *rules_of_kinds(cel_conditions.fail_closed_kinds(), operations=["CREATE", "UPDATE"]),
        webhook_rule("", ["v1"], ["pods/ephemeralcontainers"], operations=["UPDATE"]),
    ]


def _other_objects(site: _Site) -> paths.Object:
    """The webhook that judges objects without pods."""
    return {
        # Always Ignore: queues and autoscalers must keep working while usher does not answer.
        **_webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="objects"),
        **_conditions(site, _condition_of_status()),
        "rules": [*rules_of_kinds(_objects(), operations=["CREATE", "UPDATE"]), *rules_of_status(_objects())],
    }


def _condition_of_status() -> paths.Object:
    """Controllers and kubelets write the status of objects all the time, and hardly ever their metadata with it."""
    return _condition("no-status-of-the-same-metadata", _NO_STATUS_OF_THE_SAME_METADATA)


def _namespaces(site: _Site) -> paths.Object:
    """The webhook that judges namespaces."""
    return {
        **_webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="namespaces"),
        # No selector: it would read the labels of the Namespace itself, so that an exemption would exempt itself.
        "namespaceSelector": {},
        "rules": [_rule_of_namespaces()],
    }


def _rule_of_namespaces() -> paths.Object:
    return webhook_rule("", ["v1"], _NAMESPACES, operations=["CREATE", "UPDATE"], scope="Cluster")


def _exemptions(site: _Site) -> paths.Object:
    """The webhook that guards the label that exempts a namespace, and the names that usher.yaml trusts."""
    return {
        # Always Fail: otherwise every tenant could exempt a namespace for good while usher is away. Other requests
        # do not match. Administrators need the label then; `namespaces` judges them too while usher answers.
        **_webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Fail", name="exemptions"),
        "namespaceSelector": {},
        "matchConditions": [
            _condition("newly-trusted", f"({_NEWLY_EXEMPT}) || ({_made_with_trusted_name(site.config)})"),
            _condition("no-administrator", f"!({cel_conditions.administrators(site.config)})"),
        ],
        "rules": [_rule_of_namespaces()],
    }


def _made_with_trusted_name(config: models.Config) -> str:
    """An expression that is true for a new namespace whose name usher.yaml trusts."""
    patterns = [each for found in models.trusted_namespaces(config).values() for each in found]
    named = cel_conditions.in_namespaces(patterns, here="object.metadata.?name.orValue('')")
    return f"request.operation == 'CREATE' && ({named})"


def _bindings(site: _Site) -> paths.Object:
    """The webhook that judges bindings of pods to nodes."""
    return {
        **_webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name="bindings"),
        # Every pod is bound once, nearly always by a scheduler, whose requests need no review.
        **_conditions(site, _condition("no-scheduler", f"!({cel_conditions.requested_by(_schedulers(site.config))})")),
        "rules": [webhook_rule("", ["v1"], ["pods/binding", "bindings"], operations=["CREATE"])],
    }


def _policies(site: _Site, kinds: Collection[MatchedKind], judging: Sequence[paths.Object]) -> Iterator[paths.Object]:
    """The webhook for objects that only policies of Gatekeeper match, if there are any."""
    made, conditions = rules_and_conditions(kinds, judging)
    if made:
        # Always Ignore: the kinds may include one that heals a cluster.
        webhook = _webhook("validate", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore", name=POLICIES_NAME)
        yield {**webhook, **_conditions(site, *conditions), "rules": made}


def _usher_yaml(site: _Site) -> paths.Object:
    """The webhook that judges the ConfigMap with usher.yaml, so that a new server can always load it."""
    own: paths.Object = {"key": paths.NAMESPACE_NAME_LABEL, "operator": "In", "values": [site.client.namespace]}
    return {
        # Always Ignore: a server that does not start must not block the change that repairs it.
        **_webhook("configuration", site, timeout=VALIDATE_TIMEOUT, failure_policy="Ignore"),
        "namespaceSelector": {"matchExpressions": [own]},
        "matchConditions": [_condition("usher-yaml", f"object.metadata.name == '{NAME}'")],
        "rules": [webhook_rule("", ["v1"], ["configmaps"], operations=["CREATE", "UPDATE"])],
    }


def _objects() -> list[Kind]:
    """The kinds without pods that rules read, except those with a webhook of their own."""
    return [kind for kind in OBJECTS.values() if kind.listed and not kind.own_webhook]


def _schedulers(config: models.Config) -> sections.Identity:
    return {**DEFAULT_IDENTITIES, **config.identities}["schedulers"]


def _configuration(prefix: str, *webhooks: paths.Object) -> paths.Object:
    return cel_conditions.manifest(
        "admissionregistration.k8s.io/v1",
        f"{prefix}WebhookConfiguration",
        NAME,
        labels={"app.kubernetes.io/name": NAME},
        webhooks=list(webhooks),
    )


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
                {"key": paths.NAMESPACE_NAME_LABEL, "operator": "NotIn", "values": _exempt(site)},
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
        own = (*own, _condition("no-exempt-namespace", f"!({cel_conditions.in_namespaces(patterns)})"))
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
