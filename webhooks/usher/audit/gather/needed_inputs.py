"""The kinds that an audit reads beside workloads, nodes and pods, and the needs of each number of its document.

The first table has each kind with the fields that are kept of it; the role of auditors allows these kinds too. The
second says of each number what has to be read for it: the number is null where that is missing, and never 0. A number
that is added to `Summary`, `AcceleratorEntry`, `Group` or `Audit` gets its needs here. A test holds the tables
complete.
"""

from collections.abc import Collection, Mapping
from enum import Enum, auto
from typing import Final, TypeVar

from usher import paths
from usher.audit.document import AcceleratorEntry, Audit, Group, Summary
from usher.audit.document.audit_entries import Part
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Scope
from usher.check import findings
from usher.kinds.kind import FactKind, api, keeping


class Wanted(FactKind, frozen=True, kw_only=True):
    """A kind whose objects the sections of an audit find in `Estate.objects`.

    An audit lists it in the first of the versions that the API server serves. It keeps only what `keep` returns.
    `Estate.objects` has `Absence.MISSING` for a kind that the API server does not serve, and `Absence.NOT_KNOWN` for
    one that usher may not list or that the source does not hold. usher never reads Secrets.
    """

    def __post_init__(self) -> None:
        if (self.group, self.kind) == ("", "Secret"):
            raise ValueError("an audit never reads Secrets")


def _daemon_set(value: paths.Object) -> paths.Object:
    """A DaemonSet with only the names and images of its containers and one annotation of its pods. Other fields may be
    secret.
    """
    kept = _DAEMON_SET_FIELDS(value)
    template = fields.at(kept, "/spec/template")
    scrape = fields.strings(value, "/spec/template/metadata/annotations").get(_SCRAPE)
    if isinstance(template, dict) and scrape is not None:
        template["metadata"] = {"annotations": {_SCRAPE: scrape}}
    spec = fields.at(kept, "/spec/template/spec")
    if isinstance(spec, dict):
        spec["containers"] = [
            {"name": each.get("name"), "image": each.get("image")}
            for each in fields.objects(value, "/spec/template/spec/containers")
        ]
    return kept


_DAEMON_SET_FIELDS: Final = keeping(
    "/spec/template/spec/tolerations",
    "/spec/template/spec/nodeSelector",
    "/spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution",
    "/status/desiredNumberScheduled",
    "/status/numberReady",
)
_SCRAPE: Final = "prometheus.io/scrape"


def _node(value: paths.Object) -> paths.Object:
    """A Node with only the condition that shows whether it is ready."""
    kept = _NODE_FIELDS(value)
    status = kept.setdefault("status", {})
    if isinstance(status, dict):
        found = fields.objects(value, "/status/conditions")
        status["conditions"] = [each for each in found if fields.text(each, "/type") == "Ready"]
    return kept


_NODE_FIELDS: Final = keeping(
    "/metadata/creationTimestamp", "/spec/taints", "/spec/unschedulable", "/status/capacity", "/status/allocatable"
)


def _service(value: paths.Object) -> paths.Object:
    """A Service with its identity and only the annotations that Prometheus reads."""
    kept = _IDENTITY(value)
    metadata = kept.get("metadata")
    annotations = fields.strings(value, "/metadata/annotations")
    if isinstance(metadata, dict):
        metadata["annotations"] = {key: text for key, text in annotations.items() if key in _SCRAPED}
    return kept


_SCRAPED: Final = (_SCRAPE, "prometheus.io/port", "prometheus.io/path")
_IDENTITY: Final = keeping()

RESOURCE_SLICE: Final = Wanted(
    **api("resource.k8s.io", "ResourceSlice", "resourceslices", "v1", "v1beta2", "v1beta1"),
    keep=keeping("/spec/driver", "/spec/nodeName", "/spec/pool/name", "/spec/devices"),
)
MUTATING: Final = Wanted(
    **api("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "v1"),
    keep=keeping("/metadata/creationTimestamp", "/webhooks"),
)
VALIDATING: Final = Wanted(
    **api("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "v1"),
    keep=keeping("/metadata/creationTimestamp", "/webhooks"),
)
DAEMON_SET: Final = Wanted(**api("apps", "DaemonSet", "daemonsets", "v1"), keep=_daemon_set)
NODE: Final = Wanted(**api("", "Node", "nodes", "v1"), keep=_node)
KUEUE_WORKLOAD: Final = Wanted(
    **api("kueue.x-k8s.io", "Workload", "workloads", "v1beta2", "v1beta1"),
    keep=keeping(
        "/metadata/ownerReferences",
        "/spec/queueName",
        "/status/conditions",
        "/status/admissionChecks",
        "/status/admission/clusterQueue",
    ),
)
POD_GROUP: Final = Wanted(
    **api("scheduling.volcano.sh", "PodGroup", "podgroups", "v1beta1"),
    keep=keeping("/metadata/ownerReferences", "/spec/queue", "/spec/minMember", "/status/phase", "/status/conditions"),
)
KAI_POD_GROUP: Final = Wanted(
    **api("scheduling.run.ai", "PodGroup", "podgroups", "v2alpha2"),
    keep=keeping(
        "/metadata/ownerReferences",
        "/spec/queue",
        "/spec/minMember",
        "/spec/subGroups",
        "/status/schedulingConditions",
    ),
)
KAI_QUEUE: Final = Wanted(
    **api("scheduling.run.ai", "Queue", "queues", "v2"),
    keep=keeping("/spec/parentQueue", "/spec/resources/gpu"),
)
KARPENTER_POOL: Final = Wanted(
    **api("karpenter.sh", "NodePool", "nodepools", "v1", "v1beta1"),
    keep=keeping("/spec/limits", "/spec/template/spec/requirements", "/spec/template/spec/taints"),
)
CLUSTER_POLICY: Final = Wanted(
    **api("nvidia.com", "ClusterPolicy", "clusterpolicies", "v1"),
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
    **api("monitoring.coreos.com", "ServiceMonitor", "servicemonitors", "v1"),
    keep=keeping("/spec/selector"),
)
POD_MONITOR: Final = Wanted(
    **api("monitoring.coreos.com", "PodMonitor", "podmonitors", "v1"),
    keep=keeping("/spec/selector"),
)
SERVICE: Final = Wanted(**api("", "Service", "services", "v1"), keep=_service)
NETWORK_POLICY: Final = Wanted(
    **api("networking.k8s.io", "NetworkPolicy", "networkpolicies", "v1"),
    keep=keeping("/spec/podSelector", "/spec/policyTypes", "/spec/ingress"),
)
API_SERVICE: Final = Wanted(
    **api("apiregistration.k8s.io", "APIService", "apiservices", "v1"),
    keep=keeping("/status/conditions"),
)
HYPER_NODE: Final = Wanted(**api("topology.volcano.sh", "HyperNode", "hypernodes", "v1alpha1"), keep=keeping())

WANTED: Final = (
    *(NODE, SERVICE, MUTATING, VALIDATING, API_SERVICE, DAEMON_SET, KARPENTER_POOL, KUEUE_WORKLOAD),
    *(
        POD_MONITOR,
        SERVICE_MONITOR,
        NETWORK_POLICY,
        CLUSTER_POLICY,
        RESOURCE_SLICE,
        KAI_POD_GROUP,
        KAI_QUEUE,
        POD_GROUP,
        HYPER_NODE,
    ),
)
"""All these kinds, by group and name. Secrets and the contents of ConfigMaps are not among them."""


_P = TypeVar("_P", bound=Part)


class Need(Enum):
    """Data that an audit may lack, because it was not read or belongs to another part of the cluster."""

    NODES = auto()
    PODS = auto()
    """Any pods."""
    ALL_PODS = auto()
    """Complete lists of pods: free accelerators follow from all pods."""
    ALL_NAMESPACES = auto()
    """The pods of all namespaces. Those of one namespace or shard do not show what no pod holds."""
    OUTLOOK = auto()
    """Knowledge about whether workloads wait, and a cluster in which they could run."""


_NOTHING: Final = frozenset[Need]()
_NODES: Final = frozenset({Need.NODES})
_PODS: Final = frozenset({Need.PODS})
_ALL_NAMESPACES: Final = frozenset({Need.ALL_NAMESPACES})
_NOT_HELD: Final = frozenset({Need.NODES, Need.PODS, Need.ALL_PODS, Need.ALL_NAMESPACES})
_OUTLOOK: Final = frozenset({Need.OUTLOOK})

Needs = Mapping[str, frozenset[Need]]
"""By the name of a field."""


def _needs_table(**groups: str) -> Needs:
    by_name = {
        "nothing": _NOTHING,
        "nodes": _NODES,
        "pods": _PODS,
        "all_namespaces": _ALL_NAMESPACES,
        "not_held": _NOT_HELD,
        "outlook": _OUTLOOK,
    }
    return {name: by_name[group] for group, names in groups.items() for name in names.split()}


SUMMARY_NEEDS: Final = _needs_table(
    nodes="gpus gpus_allocatable gpus_usable gpus_not_priced",
    pods="gpus_allocated gpus_waiting gpus_half_started accelerators cost_per_hour_allocated",
    not_held="gpus_free gpus_out_of_use cost_per_hour_free cost_per_hour_out_of_use",
    # Series have it even if the cluster does not list its pods.
    all_namespaces="capacity free out_of_use cost_free cost_out_of_use queue_wait_p95_seconds readiness",
    outlook="gpus_never workloads_never",
    nothing="workloads gpus_asked gpus_asked_least other_asked workloads_not_known manifests findings allocated "
    "measured used idle activity memory_share currency cost_allocated cost_idle not_priced savings_gpu_hours "
    "savings_cost savings_cost_saved savings_cost_freed exceptions_ending",
)
ACCELERATOR_NEEDS: Final = _needs_table(
    nodes="nodes capacity usable",
    pods="allocated waiting",
    not_held="free out_of_use",
    outlook="never",
    nothing="resource asked",
)
GROUP_NEEDS: Final = _needs_table(
    all_namespaces="gpus_free gpus_out_of_use free out_of_use cost_free cost_out_of_use",
    nothing="name workloads usage",
)
AUDIT_NEEDS: Final = _needs_table(
    nodes="prices",
    all_namespaces="targets readiness",
    # Findings with a namespace are chosen by it.
    nothing="api_version kind version taken cluster configuration preset check_pages completeness summary "
    "measurement other_accelerators workloads findings not_evaluated not_judged exceptions usage savings prevented "
    "trend",
)

_POD_LISTS: Final = "pods"
"""The source of problems with lists of a live cluster. Problems with files have the file names as source."""

NEEDS: Final[Mapping[type[Part], Needs]] = {
    Summary: SUMMARY_NEEDS,
    AcceleratorEntry: ACCELERATOR_NEEDS,
    Group: GROUP_NEEDS,
    Audit: AUDIT_NEEDS,
}


def unread_inputs(estate: Estate, report: findings.Report, *, finds_never: bool) -> frozenset[Need]:
    """The needs that are missing because usher could not read the data.

    Args:
        report: the report with the problems of reading.
        finds_never: whether a finding says that a workload can never run. An authority of usher.yaml can find it
            without a cluster.
    """
    # Manifests have no pods, so usher asks the authorities about each of them.
    manifests_alone = bool(estate.workloads) and not any(each.exists for each in estate.workloads)
    known = {
        Need.NODES: estate.nodes is not None,
        Need.PODS: estate.pods_known,
        Need.ALL_PODS: not any(each.source == _POD_LISTS or not report.origin for each in report.problems),
        Need.OUTLOOK: (estate.facts_known or finds_never) and (estate.pods_known or manifests_alone),
    }
    return frozenset(need for need, is_known in known.items() if not is_known)


def beyond_scope(scope: Scope) -> frozenset[Need]:
    """The needs that a part of a cluster cannot have."""
    if scope.is_whole:
        return _NOTHING
    return frozenset({Need.ALL_NAMESPACES} if scope.has_nodes else {Need.ALL_NAMESPACES, Need.NODES})


def without_unknown(value: _P, missing: Collection[Need], *, keeping: Collection[str] = ()) -> _P:
    """A value without its unknown numbers.

    Args:
        value: a value of a type in `TABLES`.
        missing: what the audit lacks.
        keeping: names of fields to keep anyway.
    """
    lacking = frozenset(missing)
    names = [name for name, needs in NEEDS[type(value)].items() if needs & lacking and name not in keeping]
    return value.model_copy(update={name: _emptied(getattr(value, name)) for name in names})


def _emptied(value: object) -> object:
    """The unknown form of a value: an empty table or mapping, otherwise null."""
    if isinstance(value, tuple):
        return ()
    return {} if isinstance(value, Mapping) else None
