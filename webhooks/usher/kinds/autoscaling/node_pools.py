"""Kinds from which node autoscalers make nodes. Pods do not ask for the accelerators that these objects name.

Sources: https://github.com/kubernetes-sigs/karpenter/tree/main/pkg/apis/v1 (nodepool.go, nodeclaim.go) and
https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/apis/capacitybuffer
"""

from usher.kinds.kind import Kind

KINDS = [
    Kind(
        group="karpenter.sh",
        kind="NodePool",
        versions=("v1", "v1beta1"),
        plural="nodepools",
        cluster_scoped=True,
        listed=False,
        bounds_nodes=True,
        named_by_others=False,
    ),
    Kind(
        group="karpenter.sh",
        kind="NodeClaim",
        versions=("v1", "v1beta1"),
        plural="nodeclaims",
        cluster_scoped=True,
        listed=False,
        bounds_nodes=True,
        named_by_others=False,
    ),
    Kind(
        group="autoscaling.x-k8s.io",
        kind="CapacityBuffer",
        versions=("v1beta1", "v1alpha1"),
        plural="capacitybuffers",
        listed=False,
        bounds_nodes=True,
        named_by_others=False,
    ),
]
