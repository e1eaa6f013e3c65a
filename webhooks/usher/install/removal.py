"""The objects of an installation, in the order to remove them, and their removal from a cluster.

The webhook configurations go first: after that no request of the cluster waits for a server. Definitions stay, because
removing them would delete all GPUQuotas.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct

from usher import errors, paths
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import namespace_of_accounts
from usher.cluster.api import Answer, Lists
from usher.install.manifests import floor, quota_definition, roles, webhooks
from usher.kinds.kind import KUEUE_CONFIGURATION

PART_OF: Final = "app.kubernetes.io/part-of"
"""The label of objects that manifests/base makes. A namespace without it belongs to another owner."""

GPU_QUOTAS: Final = f"/apis/{definitions.GROUP}/{definitions.VERSION}/{quota_definition.PLURAL}"
"""The path of all GPUQuotas."""

_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
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
        _part("ValidatingWebhookConfiguration", webhooks.NAME, _ADMISSION),
        _part("MutatingWebhookConfiguration", webhooks.NAME, _ADMISSION),
        *(
            _part(kind, name, _ADMISSION, plural=f"{kind.lower().removesuffix('y')}ies" if kind.endswith("y") else "")
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
        _part("ValidatingAdmissionPolicyBinding", _GUARD, _ADMISSION),
        _part("ValidatingAdmissionPolicy", _GUARD, _ADMISSION, plural="validatingadmissionpolicies"),
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
    name = f"{quota_definition.PLURAL}.{definitions.GROUP}"
    return _part("CustomResourceDefinition", name, "/apis/apiextensions.k8s.io/v1")


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
    return _read(api, path) is not None


def remove(api: Api, path: str, *, label: tuple[str, str] | None = None) -> Outcome:
    """Deletes an object, and its dependents in the background.

    Args:
        api: the API server.
        path: the path of the object.
        label: the label that it must have; None to delete it with any labels.

    Raises:
        ClusterError: it cannot be deleted, or the API server does not answer.
    """
    found = _read(api, path)
    if found is None:
        return Outcome.ABSENT
    metadata = found.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    if label is not None and (not isinstance(labels, dict) or labels.get(label[0]) != label[1]):
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
    items, metadata = answer.value.get("items"), answer.value.get("metadata")
    more = metadata.get("remainingItemCount") if isinstance(metadata, dict) else None
    return (len(items) if isinstance(items, list) else 0) + (more if isinstance(more, int) else 0)


def _read(api: Lists, path: str) -> paths.Object | None:
    answer = api.get(path)
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
    metadata = answer.value.get("metadata")
    ends = isinstance(metadata, dict) and metadata.get("deletionTimestamp") is not None
    return None if ends else {**answer.value}
