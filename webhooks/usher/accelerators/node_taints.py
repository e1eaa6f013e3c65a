"""Taints that mark nodes with accelerators; clouds, operators and guides use them to keep other pods off.

Every pod that asks for an accelerator may tolerate them. Other taints reserve nodes (for a team, for spot pods), so
only usher.yaml can allow a pod to tolerate them.

A taint whose key is the name of an accelerator resource needs no entry here: the admission plugin
ExtendedResourceToleration makes pods tolerate it (k8s.io/kubernetes plugin/pkg/admission/extendedresourcetoleration).
"""

from typing import Final, NamedTuple


class KnownTaint(NamedTuple):
    key: str
    """`*` ends a prefix."""
    value: str | None = None
    """None if every value marks accelerators."""


KNOWN: Final = (
    # Labels of NVIDIA's and AMD's operators, which sites repeat as taints: docs/domain/nodes.md#labels.
    KnownTaint("nvidia.com/gpu*"),
    KnownTaint("nvidia.com/mig*"),
    KnownTaint("amd.com/gpu*"),
    KnownTaint("gpu.intel.com/*"),
    # AKS, use-nvidia-gpu: sku=gpu:NoSchedule. Other values of the key are the site's own.
    KnownTaint("sku", "gpu"),
    KnownTaint("kubernetes.azure.com/accelerator"),
    # GKE taints its nodes with the names of resources (nvidia.com/gpu, google.com/tpu); these are labels of the nodes.
    KnownTaint("cloud.google.com/gke-accelerator"),
    KnownTaint("cloud.google.com/gke-tpu-*"),
    # Karpenter: its NodePools use names of resources (nvidia.com/gpu, aws.amazon.com/neuron); these are labels.
    KnownTaint("karpenter.k8s.aws/instance-gpu-*"),
    KnownTaint("karpenter.k8s.aws/instance-accelerator-*"),
    # Guides for eksctl and MIG pools: docs/domain/nodes.md#taints.
    KnownTaint("gpu"),
    KnownTaint("mig-enabled"),
)


def marks_accelerators(key: str, value: str) -> bool:
    """Whether a taint is known to mark accelerator nodes."""
    return any(
        (key.startswith(known.key[:-1]) if known.key.endswith("*") else key == known.key)
        and known.value in (None, value)
        for known in KNOWN
    )
