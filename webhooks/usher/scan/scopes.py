"""Finds out whether a kind is namespaced, as far as usher knows without a cluster.

The kinds of Kubernetes itself come from its API reference for 1.36. In a listed group, all kinds that are not
cluster-scoped are namespaced.
"""

from typing import Final

from usher import paths
from usher.kinds import registry

_CLUSTER_SCOPED: Final = {
    "": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
    "admissionregistration.k8s.io": {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    },
    "apiextensions.k8s.io": {"CustomResourceDefinition"},
    "apiregistration.k8s.io": {"APIService"},
    "apps": set[str](),
    "autoscaling": set[str](),
    "batch": set[str](),
    "certificates.k8s.io": {"CertificateSigningRequest", "ClusterTrustBundle"},
    "coordination.k8s.io": set[str](),
    "discovery.k8s.io": set[str](),
    "events.k8s.io": set[str](),
    "extensions": {"PodSecurityPolicy"},
    "flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
    "networking.k8s.io": {"IPAddress", "IngressClass", "ServiceCIDR"},
    "node.k8s.io": {"RuntimeClass"},
    "policy": {"PodSecurityPolicy"},
    "rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding"},
    "resource.k8s.io": {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
    "scheduling.k8s.io": {"PriorityClass"},
    "storage.k8s.io": {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
}
"""Cluster-scoped kinds by group. In other groups usher only knows the kinds of `usher.kinds`."""


def is_of_kubernetes(group: str) -> bool:
    """Whether a group belongs to Kubernetes itself, so that sites cannot add kinds to it."""
    return group in _CLUSTER_SCOPED


def placed(value: paths.Object, *, namespace: str) -> paths.Object:
    """The object in its namespace. An object of a namespaced kind without a namespace gets the given one."""
    metadata = value.get("metadata")
    if not namespace or not isinstance(metadata, dict) or metadata.get("namespace") or not is_namespaced(value):
        return value
    return {**value, "metadata": {**metadata, "namespace": namespace}}


def is_namespaced(value: paths.Object) -> bool:
    """Whether the kind of an object is certainly namespaced."""
    group = paths.text(value.get("apiVersion")).rpartition("/")[0]
    kind = paths.text(value.get("kind"))
    known = registry.BY_KEY.get((group, kind))
    if known is not None:
        return not known.cluster_scoped
    return group in _CLUSTER_SCOPED and kind not in _CLUSTER_SCOPED[group]
