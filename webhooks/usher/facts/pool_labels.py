"""Node labels that distinguish node pools: those of clouds and autoscalers, and those of operators for accelerators.

Sources, beside docs/domain/nodes.md#labels: the node label tables in the documentation of each service; for CoreWeave
and IBM also kubecost/opencost pkg/cloud and libopenstorage/cloudops ibm/ibm.go.
"""

from collections.abc import Mapping
from typing import Final

KARPENTER: Final = ("karpenter.sh/nodepool", "karpenter.sh/provisioner-name")
"""Pools of Karpenter, which chooses a machine type for each new node."""

MANAGED: Final = (
    *KARPENTER,
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "compute.coreweave.com/node-pool",
    "ibm-cloud.kubernetes.io/worker-pool-name",
    "doks.digitalocean.com/node-pool",
    "lke.linode.com/pool-id",
    "k8s.scaleway.com/pool-name",
    "vke.vultr.com/node-pool",
    "alibabacloud.com/nodepool-id",
    "worker.gardener.cloud/pool",
)
"""The pool of a node, as a service or an autoscaler names it. The first label that a node has decides."""

TEMPLATE_DEVICES: Final = (
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "cloud.google.com/gke-tpu-topology",
    "cloud.google.com/gke-gpu-partition-size",
    "cloud.google.com/gke-gpu-sharing-strategy",
    "kubernetes.azure.com/accelerator",
    "gpu.nvidia.com/class",
)
"""Labels of devices that the service gives a node before it boots, so that autoscalers know them."""

BOOTED_DEVICES: Final = (
    "nvidia.com/gpu.product",
    "nvidia.com/gpu.sharing-strategy",
    "amd.com/gpu.product-name",
    "amd.com/gpu.device-id",
    "amd.com/gpu.compute-partitioning-supported",
    "gpu.intel.com/product",
    "gpu.intel.com/family",
    "habana.ai/gaudi",
    "intel.feature.node.kubernetes.io/gaudi",
    "aws.amazon.com/neuron.instance-type",
)
"""Labels of devices that operators write on a node after it has booted."""

WHOLE: Final = ("nvidia.com/gpu.sharing-strategy", "none")
"""A label of every ordinary node, which does not distinguish pools."""

MACHINES: Final = ("node.kubernetes.io/instance-type", "nvidia.com/gpu.machine")
"""Machine types. A service knows the first one before the node boots."""

MIG_STRATEGY: Final = "nvidia.com/mig.strategy"
GPU_COUNT: Final = "nvidia.com/gpu.count"
GPU_REPLICAS: Final = "nvidia.com/gpu.replicas"
NUMA: Final = "feature.node.kubernetes.io/memory-numa"
"""Node feature discovery writes `true` where a node has several NUMA nodes."""


def managed(labels: Mapping[str, str]) -> tuple[str, str] | None:
    """The label that names the pool of a node; None for a node of no service and no autoscaler."""
    return next(((key, labels[key]) for key in MANAGED if labels.get(key)), None)


def devices(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that name the devices of a node."""
    found = {key: labels[key] for key in (*TEMPLATE_DEVICES, *BOOTED_DEVICES) if labels.get(key)}
    return {key: value for key, value in found.items() if (key, value) != WHOLE}
