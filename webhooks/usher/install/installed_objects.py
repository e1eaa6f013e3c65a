"""The objects of an installation: their webhooks as registered, and their removal in order.

The webhook configurations go first: after that no request of the cluster waits for a server. Definitions stay, because
removing them would delete all GPUQuotas.

Source: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.33/#labelselector-v1-meta
"""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct

from usher import errors, paths
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import namespace_of_accounts
from usher.cluster.api import Answer, Lists
from usher.install.manifests import floor, roles, webhooks
from usher.kinds.kind import KUEUE_CONFIGURATION

PART_OF: Final = "app.kubernetes.io/part-of"
"""The label of objects that manifests/base makes. A namespace without it belongs to another owner."""

GPU_QUOTAS: Final = f"/apis/{definitions.GROUP}/{definitions.VERSION}/gpuquotas"
"""The path of all GPUQuotas."""

ADMISSION_PATH: Final = "/apis/admissionregistration.k8s.io/v1"
_RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
_CLUSTER_ROLES: Final = (
    *(roles.FACTS_NAME, roles.QUOTA_NAME, roles.CONFIG_MAPS_NAME, roles.AUDIT_NAME),
    *(roles.EVENTS_NAME, roles.METRICS_NAME, roles.METRICS_READER_NAME, roles.CERTIFICATES_NAME),
    roles.PORTAL_USER_NAME,
)

_GUARD: Final = "gpu-usher-ca-bundle"
"""The policy that lets the server change only caBundle."""


class Part(Struct, frozen=True, kw_only=True):
    """One object of an installation."""

    title: str
    path: str
    only_ours: bool = False
    """Whether to remove it only with the label PART_OF, because others may have made it."""


def parts(namespace: str) -> Sequence[Part]:
    """All objects of the installation in a namespace, in the order to remove them."""
    accounts = namespace_of_accounts(namespace)
    kueue, _ = KUEUE_CONFIGURATION
    return (
        _part("ValidatingWebhookConfiguration", webhooks.NAME, ADMISSION_PATH),
        _part("MutatingWebhookConfiguration", webhooks.NAME, ADMISSION_PATH),
        *(
            _part(
                kind, name, ADMISSION_PATH, plural=f"{kind.lower().removesuffix('y')}ies" if kind.endswith("y") else ""
            )
            for kind, name in floor.installed_objects()
        ),
        # The pods answer reviews that are still under way: their preStop hook waits for ten seconds.
        _part("Deployment", "gpu-usher", "/apis/apps/v1", namespace),
        _part("PodDisruptionBudget", "gpu-usher", "/apis/policy/v1", namespace),
        *(_part("Service", name, "/api/v1", namespace) for name in ("gpu-usher", "gpu-usher-metrics")),
        *(_part("ClusterRoleBinding", name, _RBAC) for name in _CLUSTER_ROLES),
        *(_part("ClusterRole", name, _RBAC) for name in _CLUSTER_ROLES),
        _part("RoleBinding", roles.FACTS_NAME, _RBAC, kueue),
        _part("Role", roles.FACTS_NAME, _RBAC, kueue),
        _part("RoleBinding", roles.QUOTA_NAME, _RBAC, accounts),
        _part("Role", roles.QUOTA_NAME, _RBAC, accounts),
        # Without this role a pod that still runs cannot make the Secret again.
        _part("RoleBinding", roles.CERTIFICATES_NAME, _RBAC, namespace),
        _part("Role", roles.CERTIFICATES_NAME, _RBAC, namespace),
        _part("ValidatingAdmissionPolicyBinding", _GUARD, ADMISSION_PATH),
        _part("ValidatingAdmissionPolicy", _GUARD, ADMISSION_PATH, plural="validatingadmissionpolicies"),
        _part("ConfigMap", "gpu-usher", "/api/v1", namespace),
        *(_part("Secret", name, "/api/v1", namespace) for name in ("gpu-usher-tls", roles.CERTIFICATES_NAME)),
        _part("ServiceAccount", roles.ACCOUNT, "/api/v1", namespace),
        *(
            Part(title=f"Namespace {name}", path=f"/api/v1/namespaces/{name}", only_ours=True)
            for name in (accounts, namespace)
        ),
    )


def quota_definition_part() -> Part:
    """The definition of GPUQuota; deleting it deletes all GPUQuotas."""
    return _part("CustomResourceDefinition", f"gpuquotas.{definitions.GROUP}", "/apis/apiextensions.k8s.io/v1")


def _part(kind: str, name: str, root: str, namespace: str = "", *, plural: str = "") -> Part:
    if namespace:
        return Part(title=f"{kind} {namespace}/{name}", path=f"{root}/namespaces/{namespace}/{kind.lower()}s/{name}")
    return Part(title=f"{kind} {name}", path=f"{root}/{plural or f'{kind.lower()}s'}/{name}")


class Outcome(StrEnum):
    """The result for an object."""

    DELETED = "deleted"
    ABSENT = "not there"
    KEPT = "kept, because gpu-usher did not make it"


class Api(Lists, Protocol):
    """An API that deletes. Each method raises ClusterError without an answer."""

    def delete(self, path: str, value: paths.Object) -> Answer:
        """The answer to a DELETE request with DeleteOptions, with any status."""
        ...


def is_there(api: Lists, path: str) -> bool:
    """Whether an object exists and is not being deleted.

    Raises:
        ClusterError: the API server does not say.
    """
    return _read_object(api, path) is not None


def remove(api: Api, path: str, *, label: tuple[str, str] | None = None) -> Outcome:
    """Deletes an object, and its dependents in the background.

    Args:
        label: the label that it must have; None to delete it with any labels.

    Raises:
        ClusterError: it cannot be deleted, or the API server does not answer.
    """
    found = _read_object(api, path)
    if found is None:
        return Outcome.ABSENT
    if label is not None and paths.mapping(paths.metadata(found).get("labels")).get(label[0]) != label[1]:
        return Outcome.KEPT
    options: paths.Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    answer = api.delete(path, options)
    if answer.status == 404:
        return Outcome.ABSENT
    if answer.status not in (200, 202):
        raise errors.ClusterError(f"{path} cannot be deleted: {answer.message}")
    return Outcome.DELETED


def count_objects(api: Lists, path: str) -> int | None:
    """The number of objects of a kind; None if the kind is not installed.

    Raises:
        ClusterError: the API server does not list them.
    """
    answer = api.get(path, query={"limit": "1"})
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{path} cannot be listed: {answer.message}")
    remaining = paths.metadata(answer.value).get("remainingItemCount")
    return len(paths.elements(answer.value.get("items"))) + (remaining if isinstance(remaining, int) else 0)


def _read_object(api: Lists, path: str) -> paths.Object | None:
    answer = api.get(path)
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
    ends = paths.metadata(answer.value).get("deletionTimestamp") is not None
    return None if ends else {**answer.value}


def selects(selector: paths.Json, labels: Mapping[str, str]) -> bool | None:
    """Whether a selector selects these labels. An empty one selects all. None if usher cannot read the selector."""
    if selector is None:
        return True
    if not isinstance(selector, dict):
        return None
    match, expressions = selector.get("matchLabels") or {}, selector.get("matchExpressions") or []
    if not isinstance(match, dict) or not isinstance(expressions, list):
        return None
    found = [labels.get(key) == value for key, value in match.items()]
    for expression in expressions:
        held = _expression_matches(expression, labels)
        if held is None:
            return None
        found.append(held)
    return all(found)


def _expression_matches(expression: paths.Json, labels: Mapping[str, str]) -> bool | None:
    if not isinstance(expression, dict):
        return None
    key, values = expression.get("key"), expression.get("values") or []
    if not isinstance(key, str) or not isinstance(values, list):
        return None
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return None


DEFAULT_TIMEOUT: Final = 10
"""Seconds, for a webhook without a timeout."""


class Webhook(Struct, frozen=True, kw_only=True):
    """One webhook of a configuration; `value` is its object."""

    configuration: str
    mutating: bool
    value: paths.Object

    @property
    def name(self) -> str:
        return str(self.value.get("name", ""))

    @property
    def title(self) -> str:
        kind = "MutatingWebhookConfiguration" if self.mutating else "ValidatingWebhookConfiguration"
        return f"{self.name} ({kind} {self.configuration})"

    @property
    def fails_closed(self) -> bool:
        return self.value.get("failurePolicy", "Fail") == "Fail"

    @property
    def timeout(self) -> int:
        """In seconds."""
        value = self.value.get("timeoutSeconds", DEFAULT_TIMEOUT)
        return value if isinstance(value, int) else DEFAULT_TIMEOUT

    @property
    def service(self) -> tuple[str, str] | None:
        """Namespace and name of its Service; None for a webhook with a URL."""
        service = paths.mapping(self.value.get("clientConfig")).get("service")
        if not isinstance(service, dict):
            return None
        return str(service.get("namespace", "")), str(service.get("name", ""))

    @property
    def bundle(self) -> str:
        """The CA certificates that it trusts, as base64 of PEM; empty without any."""
        return str(paths.mapping(self.value.get("clientConfig")).get("caBundle") or "")

    @property
    def chooses(self) -> bool:
        """Whether an objectSelector or conditions limit the requests that it gets."""
        return bool(self.value.get("matchConditions")) or not _is_empty(self.value.get("objectSelector"))

    def creates(self, group: str, resource: str) -> bool:
        """Whether the API server calls it for the creation of a resource."""
        return any(_fits(rule, group, resource) for rule in paths.elements(self.value.get("rules")))

    def selects(self, labels: Mapping[str, str]) -> bool | None:
        """Whether the API server calls it for objects of a namespace with these labels; None if the selector cannot be
        read.
        """
        return selects(self.value.get("namespaceSelector"), labels)


def read_webhooks(configurations: Iterable[paths.Object], *, mutating: bool) -> Iterator[Webhook]:
    """All webhooks of the given configurations."""
    for configuration in configurations:
        name = str(paths.metadata(configuration).get("name", ""))
        for value in paths.elements(configuration.get("webhooks")):
            if isinstance(value, dict):
                yield Webhook(configuration=name, mutating=mutating, value=value)


_PLURALS: Final = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")

_CA_FILE: Final = "ca.crt"
"""The part of the Secret of the server with the CAs that the webhooks have to trust."""


def live_bundle(api: Lists, *, namespace: str) -> bytes:
    """The CA certificates (PEM) that our webhooks trust now; those of the server's Secret before there are webhooks.

    With them, a change of the webhook configurations has no moment in which a new webhook trusts no server.

    Raises:
        ClusterError: the cluster has no CA for them, or the API server does not show it.
    """
    found = ""
    for mutating, plural in zip((True, False), _PLURALS, strict=True):
        answer = api.get(f"{ADMISSION_PATH}/{plural}/{webhooks.NAME}")
        if answer.status == 200:
            bundles = [each.bundle for each in read_webhooks([answer.value], mutating=mutating)]
            found = next(filter(None, [found, *bundles]), "")
        elif answer.status != 404:
            raise errors.ClusterError(f"the webhook configuration {webhooks.NAME} cannot be read: {answer.message}")
    if not found:
        secret = api.get(f"/api/v1/namespaces/{namespace}/secrets/{roles.CERTIFICATES_NAME}").value
        found = str(paths.mapping(secret.get("data")).get(_CA_FILE) or "")
    try:
        bundle = base64.b64decode(found, validate=True)
    except ValueError:
        bundle = b""
    if not bundle:
        raise errors.ClusterError(
            f"no webhook configuration {webhooks.NAME} has a caBundle, and the Secret {namespace}/"
            f"{roles.CERTIFICATES_NAME} has no CA; wait until the server is ready: "
            f"kubectl rollout status deployment/gpu-usher --namespace {namespace}"
        )
    return bundle


def require_ready_server(api: Lists, *, namespace: str, service: str) -> None:
    """Raises ClusterError if no endpoint of a Service is ready, because then webhooks with Fail refuse requests."""
    ready = dict(ready_endpoints(api, [(namespace, service)]))
    if not any(ready.values()):
        raise errors.ClusterError(
            f"no server behind the Service {namespace}/{service} is ready, and with Fail the API server would refuse "
            f"all objects with accelerators; wait: kubectl rollout status deployment/gpu-usher --namespace {namespace}"
        )


def ready_endpoints(api: Lists, services: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], int]]:
    """The number of ready endpoints of Services, by namespace and name; without Services that usher may not read."""
    for namespace, name in services:
        path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        answer = api.get(path, query={"labelSelector": f"kubernetes.io/service-name={name}"})
        slices = answer.value.get("items")
        if answer.status == 200 and isinstance(slices, list):
            yield (namespace, name), sum(_ready_of(each) for each in slices)


def _ready_of(value: paths.Json) -> int:
    return sum(map(_is_ready, paths.elements(paths.mapping(value).get("endpoints"))))


def _is_ready(endpoint: paths.Json) -> bool:
    """Whether an endpoint is ready. One without the field is ready, as the Service sees it."""
    return paths.mapping(paths.mapping(endpoint).get("conditions")).get("ready") is not False


def _fits(rule: paths.Json, group: str, resource: str) -> bool:
    if not isinstance(rule, dict):
        return False
    return (
        _names(rule.get("operations"), "CREATE")
        and _names(rule.get("apiGroups"), group)
        and (_names(rule.get("resources"), resource) or "*/*" in paths.elements(rule.get("resources")))
    )


def _names(values: paths.Json, wanted: str) -> bool:
    return not {"*", wanted}.isdisjoint(each for each in paths.elements(values) if isinstance(each, str))


def _is_empty(selector: paths.Json) -> bool:
    return not isinstance(selector, dict) or not any(selector.values())
