"""Kueue's queues, cohorts, flavors, topologies, workloads and their priority classes."""

from typing import NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kind import KEEP_SPEC, Facts, Kind, api, keeping
from usher.kinds.reading.shapes import Metadata, Present, Quantity

_GROUP = "kueue.x-k8s.io"
_VERSIONS = ("v1beta2", "v1beta1")
"""The best first: for v1beta1 the API server has Kueue convert each object."""


class ResourceQuota(TypedDict):
    name: NotRequired[str]
    nominalQuota: NotRequired[Quantity]
    borrowingLimit: NotRequired[Quantity]
    lendingLimit: NotRequired[Quantity]


class FlavorQuotas(TypedDict):
    name: NotRequired[str]
    resources: NotRequired[list[ResourceQuota]]


class ResourceGroup(TypedDict):
    coveredResources: NotRequired[list[str]]
    flavors: NotRequired[list[FlavorQuotas]]


class Preemption(TypedDict):
    reclaimWithinCohort: NotRequired[str]


class ClusterQueueSpec(TypedDict):
    cohort: NotRequired[str]
    """In v1beta1."""
    cohortName: NotRequired[str]
    """In v1beta2."""
    admissionChecks: NotRequired[list[str]]
    """In v1beta1."""
    namespaceSelector: NotRequired[Present]
    preemption: NotRequired[Preemption]
    resourceGroups: NotRequired[list[ResourceGroup]]


class Reserved(TypedDict):
    name: NotRequired[str]
    total: NotRequired[Quantity]


class FlavorReservation(TypedDict):
    name: NotRequired[str]
    resources: NotRequired[list[Reserved]]


class ClusterQueueStatus(TypedDict):
    flavorsReservation: NotRequired[list[FlavorReservation]]


class ClusterQueue(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[ClusterQueueSpec]
    status: NotRequired[ClusterQueueStatus]


class CohortSpec(TypedDict):
    parentName: NotRequired[str]
    resourceGroups: NotRequired[list[ResourceGroup]]


class Cohort(TypedDict):
    spec: NotRequired[CohortSpec]


class ResourceFlavorSpec(TypedDict):
    nodeLabels: NotRequired[dict[str, str]]
    topologyName: NotRequired[str]


class ResourceFlavor(TypedDict):
    spec: NotRequired[ResourceFlavorSpec]


class TopologyLevel(TypedDict):
    nodeLabel: NotRequired[str]


class TopologySpec(TypedDict):
    levels: NotRequired[list[TopologyLevel]]


class Topology(TypedDict):
    spec: NotRequired[TopologySpec]


# The key is not a valid name in Python. All other annotations stay in the manifest.
WorkloadAnnotations = TypedDict("WorkloadAnnotations", {"kueue.x-k8s.io/priority-boost": NotRequired[str]})


class WorkloadMetadata(TypedDict):
    annotations: NotRequired[WorkloadAnnotations]


class PriorityClassReference(TypedDict):
    name: NotRequired[str]


class WorkloadSpec(TypedDict):
    priority: NotRequired[int]
    priorityClassName: NotRequired[str]
    """In v1beta1."""
    priorityClassRef: NotRequired[PriorityClassReference]
    """In v1beta2."""


class Workload(TypedDict):
    """Kueue's queue entry for a job. Of its many fields rules read only those that show who jumps the queue."""

    metadata: NotRequired[WorkloadMetadata]
    spec: NotRequired[WorkloadSpec]


class MisplacedValue(TypedDict):
    value: NotRequired[int]


class WorkloadPriorityClass(TypedDict):
    metadata: NotRequired[Metadata]
    value: NotRequired[int]
    spec: NotRequired[MisplacedValue]
    """This field does not exist in the API, but people write the value there."""


KINDS = [
    Kind(
        **api(_GROUP, "ClusterQueue", "clusterqueues", *_VERSIONS),
        cluster_scoped=True,
        key="clusterQueue",
        shape=ClusterQueue,
        facts=Facts(
            keep=keeping("/spec", "/status/conditions", "/status/flavorsReservation"),
            momentary=frozenset({"flavorsReservation"}),
        ),
    ),
    Kind(
        **api(_GROUP, "Cohort", "cohorts", *_VERSIONS),
        cluster_scoped=True,
        key="cohort",
        shape=Cohort,
        facts=Facts(keep=KEEP_SPEC),
    ),
    Kind(
        **api(_GROUP, "ResourceFlavor", "resourceflavors", *_VERSIONS),
        cluster_scoped=True,
        key="resourceFlavor",
        shape=ResourceFlavor,
        facts=Facts(keep=KEEP_SPEC),
    ),
    Kind(
        **api(_GROUP, "Topology", "topologies", *_VERSIONS),
        cluster_scoped=True,
        key="topology",
        shape=Topology,
        facts=Facts(keep=KEEP_SPEC),
    ),
    Kind(
        **api(_GROUP, "Workload", "workloads", *_VERSIONS),
        key="kueueWorkload",
        shape=Workload,
    ),
    Kind(
        **api(_GROUP, "WorkloadPriorityClass", "workloadpriorityclasses", *_VERSIONS),
        cluster_scoped=True,
        key="workloadPriorityClass",
        shape=WorkloadPriorityClass,
        facts=Facts(keep=keeping("/value")),
    ),
    Kind(
        **api(_GROUP, "LocalQueue", "localqueues", *_VERSIONS),
        facts=Facts(keep=keeping("/spec/clusterQueue", "/spec/stopPolicy", "/status/conditions")),
    ),
]
