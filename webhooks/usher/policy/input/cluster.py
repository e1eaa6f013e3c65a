"""`input.cluster` of the policies: the facts of the cluster that matter to one object."""

from typing import NotRequired, cast

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.authorities import registry
from usher.authorities.authority import Case
from usher.authorities.gpu_quota.object_slice import QuotaObject
from usher.authorities.gpu_quota.slice import GpuQuota
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue.slice import KueueInput
from usher.authorities.nodes.slice import GangNodesInput, NodesInput
from usher.authorities.priority.slice import PrioritiesInput
from usher.authorities.resource_quota.slice import ResourceQuotasInput
from usher.authorities.runtime_class import RuntimeClassesInput
from usher.authorities.volcano.slice import PodGroupObjectInput, VolcanoInput


class Cluster(TypedDict):
    """Each field is absent if its authority knows no fact that matters to the object."""

    gpuQuota: NotRequired[GpuQuota]
    kueue: NotRequired[KueueInput]
    nodes: NotRequired[NodesInput]
    podGroupObject: NotRequired[PodGroupObjectInput]
    """The facts about a PodGroup of Volcano, which makes no pods itself."""
    podGroupNodes: NotRequired[GangNodesInput]
    """The nodes for a PodGroup whose pods were made by hand; absent if the nodes hold enough of them."""
    priorities: NotRequired[PrioritiesInput]
    quotaObject: NotRequired[QuotaObject]
    """The facts about a GPUQuota."""
    resourceQuotas: NotRequired[ResourceQuotasInput]
    runtimeClasses: NotRequired[RuntimeClassesInput]
    volcano: NotRequired[VolcanoInput]


def of(case: Case, known: Knowledge) -> Cluster | None:
    """The slices for an object; None if usher knows no fact of the cluster that matters to it.

    usher.yaml may declare quotas, which are known without a cluster. The case is given the grounds of the slices.
    """
    found = cast(Cluster, registry.slices(case, known))
    nothing_known = known.facts.empty or not case.workload.pod_sets
    return None if nothing_known and not found else found
