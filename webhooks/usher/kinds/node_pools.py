"""Objects from which autoscalers add nodes: pools of Karpenter, of GKE and of Cluster API.

`usher.cluster.facts.autoscaled_pools` says what they mean.

Sources: https://github.com/kubernetes-sigs/karpenter/tree/main/pkg/apis (v1/nodepool.go, v1/nodeclaim.go,
v1alpha1/nodeoverlay.go), https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/apis/capacitybuffer,
https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass, NodeClasses of
aws/karpenter-provider-aws, Azure/karpenter-provider-azure and cloudpilot-ai/karpenter-provider-gcp (pkg/apis), and
https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/clusterapi/README.md
"""

from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import paths
from usher.kinds.kind import KEEP_SPEC, Facts, Kind, api, keeping


class PoolTaint(TypedDict):
    key: NotRequired[str]
    effect: NotRequired[str]


class PoolRequirement(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]
    values: NotRequired[list[str]]


class PoolNodeSpec(TypedDict):
    taints: NotRequired[list[PoolTaint]]
    requirements: NotRequired[list[PoolRequirement]]


class PoolTemplate(TypedDict):
    spec: NotRequired[PoolNodeSpec]


class NodePoolSpec(TypedDict):
    template: NotRequired[PoolTemplate]


class NodePool(TypedDict):
    spec: NotRequired[NodePoolSpec]


_CAPACITIES: Final = ("cpu", "memory", "gpu-count", "gpu-type", "maxPods", "labels", "taints")
_SIZES: Final = (
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
    *(f"capacity.cluster-autoscaler.kubernetes.io/{each}" for each in _CAPACITIES),
)
"""Annotations of Cluster API that describe a node to the autoscaler."""

KINDS = (
    Kind(
        **api("karpenter.sh", "NodePool", "nodepools", "v1", "v1beta1"),
        key="nodePool",
        shape=NodePool,
        cluster_scoped=True,
        listed=False,
        bounds_nodes=True,
        facts=Facts(keep=KEEP_SPEC),
    ),
    Kind(
        **api("karpenter.sh", "NodeOverlay", "nodeoverlays", "v1alpha1"),
        cluster_scoped=True,
        listed=False,
        bounds_nodes=True,
        facts=Facts(keep=KEEP_SPEC),
    ),
    *(
        Kind(
            **api(group, kind, plural, *versions),
            cluster_scoped=True,
            listed=False,
            bounds_nodes=True,
            facts=Facts(keep=KEEP_SPEC),
        )
        for group, kind, plural, versions in (
            ("karpenter.k8s.aws", "EC2NodeClass", "ec2nodeclasses", ("v1", "v1beta1")),
            ("karpenter.azure.com", "AKSNodeClass", "aksnodeclasses", ("v1beta1", "v1alpha2")),
            ("karpenter.k8s.gcp", "GCENodeClass", "gcenodeclasses", ("v1alpha1",)),
        )
    ),
    Kind(
        **api("cloud.google.com", "ComputeClass", "computeclasses", "v1"),
        cluster_scoped=True,
        listed=False,
        bounds_nodes=True,
        facts=Facts(keep=KEEP_SPEC),
    ),
    *(
        Kind(
            **api("cluster.x-k8s.io", kind, plural, "v1beta2", "v1beta1"),
            listed=False,
            bounds_nodes=True,
            facts=Facts(keep=keeping(*(paths.join("/metadata/annotations", each) for each in _SIZES))),
        )
        for kind, plural in (("MachineDeployment", "machinedeployments"), ("MachinePool", "machinepools"))
    ),
    Kind(
        **api("karpenter.sh", "NodeClaim", "nodeclaims", "v1", "v1beta1"),
        cluster_scoped=True,
        listed=False,
        bounds_nodes=True,
        named_by_others=False,
    ),
    Kind(
        **api("autoscaling.x-k8s.io", "CapacityBuffer", "capacitybuffers", "v1beta1", "v1alpha1"),
        listed=False,
        bounds_nodes=True,
        named_by_others=False,
    ),
)
