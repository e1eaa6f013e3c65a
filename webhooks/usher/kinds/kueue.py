"""Kueue's queues, cohorts and flavors."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.view import View
from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT, Quantity

_GROUP = "kueue.x-k8s.io"
_VERSIONS = ("v1beta2", "v1beta1")
"""The best first: of the other the API server has to have each object converted, by Kueue itself."""


@with_config(STRICT)
class ResourceQuota(TypedDict):
    name: NotRequired[str]
    nominalQuota: NotRequired[Quantity]
    borrowingLimit: NotRequired[Quantity]
    lendingLimit: NotRequired[Quantity]


@with_config(STRICT)
class FlavorQuotas(TypedDict):
    name: NotRequired[str]
    resources: NotRequired[list[ResourceQuota]]


@with_config(STRICT)
class ResourceGroup(TypedDict):
    coveredResources: NotRequired[list[str]]
    flavors: NotRequired[list[FlavorQuotas]]


@with_config(STRICT)
class Preemption(TypedDict):
    reclaimWithinCohort: NotRequired[str]


@with_config(STRICT)
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


@with_config(STRICT)
class ClusterQueue(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[ClusterQueueSpec]


@with_config(STRICT)
class CohortSpec(TypedDict):
    parentName: NotRequired[str]
    resourceGroups: NotRequired[list[ResourceGroup]]


@with_config(STRICT)
class Cohort(TypedDict):
    spec: NotRequired[CohortSpec]


@with_config(STRICT)
class ResourceFlavorSpec(TypedDict):
    nodeLabels: NotRequired[dict[str, str]]
    topologyName: NotRequired[str]


@with_config(STRICT)
class ResourceFlavor(TypedDict):
    spec: NotRequired[ResourceFlavorSpec]


@with_config(STRICT)
class TopologyLevel(TypedDict):
    nodeLabel: NotRequired[str]


@with_config(STRICT)
class TopologySpec(TypedDict):
    levels: NotRequired[list[TopologyLevel]]


@with_config(STRICT)
class Topology(TypedDict):
    spec: NotRequired[TopologySpec]


# The one key is no name in Python. All others stay in the manifest.
WorkloadAnnotations = TypedDict("WorkloadAnnotations", {"kueue.x-k8s.io/priority-boost": NotRequired[str]})
with_config(STRICT)(WorkloadAnnotations)


@with_config(STRICT)
class WorkloadMetadata(TypedDict):
    annotations: NotRequired[WorkloadAnnotations]


@with_config(STRICT)
class Workload(TypedDict):
    """What Kueue makes of a job to queue it; of its many fields rules read only who jumps the queue."""

    metadata: NotRequired[WorkloadMetadata]


@with_config(STRICT)
class Objects(TypedDict):
    clusterQueue: NotRequired[ClusterQueue]
    cohort: NotRequired[Cohort]
    resourceFlavor: NotRequired[ResourceFlavor]
    topology: NotRequired[Topology]
    kueueWorkload: NotRequired[Workload]


VIEWS = [
    View(
        group=_GROUP,
        versions=_VERSIONS,
        kind="ClusterQueue",
        plural="clusterqueues",
        key="clusterQueue",
        shape=TypeAdapter(ClusterQueue),
        cluster_scoped=True,
    ),
    View(
        group=_GROUP,
        versions=_VERSIONS,
        kind="Cohort",
        plural="cohorts",
        key="cohort",
        shape=TypeAdapter(Cohort),
        cluster_scoped=True,
    ),
    View(
        group=_GROUP,
        versions=_VERSIONS,
        kind="ResourceFlavor",
        plural="resourceflavors",
        key="resourceFlavor",
        shape=TypeAdapter(ResourceFlavor),
        cluster_scoped=True,
    ),
    View(
        group=_GROUP,
        versions=_VERSIONS,
        kind="Topology",
        plural="topologies",
        key="topology",
        shape=TypeAdapter(Topology),
        cluster_scoped=True,
    ),
    View(
        group=_GROUP,
        versions=_VERSIONS,
        kind="Workload",
        plural="workloads",
        key="kueueWorkload",
        shape=TypeAdapter(Workload),
    ),
]
