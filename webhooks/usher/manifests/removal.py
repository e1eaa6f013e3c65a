"""All objects of an installation, in the order to remove them.

The webhook configurations go first: after that no request of the cluster waits for a server. Definitions stay, because
removing them would delete all GPUQuotas.
"""

from collections.abc import Sequence
from typing import Final

from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import namespace_of_accounts
from usher.dataclass import dataclass
from usher.kinds.kind import KUEUE_CONFIGURATION
from usher.manifests import gpu_quota, roles, webhooks
from usher.manifests.floor import documents as floor

PART_OF: Final = "app.kubernetes.io/part-of"
"""The label of objects that manifests/base makes. A namespace without it belongs to another owner."""

GPU_QUOTAS: Final = f"/apis/{definitions.GROUP}/{definitions.VERSION}/{gpu_quota.PLURAL}"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
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
            for kind, name in floor.installed()
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


def definition() -> Part:
    """The definition of GPUQuota; deleting it deletes all GPUQuotas."""
    name = f"{gpu_quota.PLURAL}.{definitions.GROUP}"
    return _part("CustomResourceDefinition", name, "/apis/apiextensions.k8s.io/v1")


def _part(kind: str, name: str, root: str, namespace: str = "", *, plural: str = "") -> Part:
    if namespace:
        return Part(title=f"{kind} {namespace}/{name}", path=f"{root}/namespaces/{namespace}/{kind.lower()}s/{name}")
    return Part(title=f"{kind} {name}", path=f"{root}/{plural or f'{kind.lower()}s'}/{name}")
