"""The kinds that only the checklist reads, with the fields that it keeps. `standing` and the facts list the other
kinds.
"""

from typing import Final

from usher import paths
from usher.audit import fields
from usher.audit.building.wanted import Wanted
from usher.kinds.kind import keeping

_SCRAPED: Final = ("prometheus.io/scrape", "prometheus.io/port", "prometheus.io/path")
_IDENTITY: Final = keeping()


def _service(value: paths.Object) -> paths.Object:
    """A Service with its identity and only the annotations that Prometheus reads."""
    kept = _IDENTITY(value)
    metadata = kept.get("metadata")
    annotations = fields.strings(value, "/metadata/annotations")
    if isinstance(metadata, dict):
        metadata["annotations"] = {key: text for key, text in annotations.items() if key in _SCRAPED}
    return kept


CLUSTER_POLICY: Final = Wanted(
    group="nvidia.com",
    versions=("v1",),
    plural="clusterpolicies",
    kind="ClusterPolicy",
    keep=keeping(
        "/spec/driver/enabled",
        "/spec/driver/version",
        "/spec/toolkit/enabled",
        "/spec/toolkit/version",
        "/spec/mig/strategy",
        "/spec/dcgmExporter/enabled",
        "/spec/dcgmExporter/serviceMonitor/enabled",
        "/status/state",
    ),
)
SERVICE_MONITOR: Final = Wanted(
    group="monitoring.coreos.com",
    versions=("v1",),
    plural="servicemonitors",
    kind="ServiceMonitor",
    keep=keeping("/spec/selector"),
)
POD_MONITOR: Final = Wanted(
    group="monitoring.coreos.com",
    versions=("v1",),
    plural="podmonitors",
    kind="PodMonitor",
    keep=keeping("/spec/selector"),
)
SERVICE: Final = Wanted(group="", versions=("v1",), plural="services", kind="Service", keep=_service)
NETWORK_POLICY: Final = Wanted(
    group="networking.k8s.io",
    versions=("v1",),
    plural="networkpolicies",
    kind="NetworkPolicy",
    keep=keeping("/spec/podSelector", "/spec/policyTypes", "/spec/ingress"),
)
API_SERVICE: Final = Wanted(
    group="apiregistration.k8s.io",
    versions=("v1",),
    plural="apiservices",
    kind="APIService",
    keep=keeping("/status/conditions"),
)
HYPER_NODE: Final = Wanted(
    group="topology.volcano.sh",
    versions=("v1alpha1",),
    plural="hypernodes",
    kind="HyperNode",
    keep=keeping(),
)

WANTED: Final = (
    CLUSTER_POLICY,
    SERVICE_MONITOR,
    POD_MONITOR,
    SERVICE,
    NETWORK_POLICY,
    API_SERVICE,
    HYPER_NODE,
)
"""All these kinds."""
