"""Reads the labels of a node: its board, the memory of a device, and its payment type.

Sources: NVIDIA/k8s-device-plugin docs/gpu-feature-discovery/README.md and internal/lm (product, memory in MiB,
replicas, sharing strategy); ROCm/k8s-device-plugin cmd/k8s-node-labeller/README.md (amd.com/gpu.vram); Intel's rules
for NFD (gpu.intel.com/product); GKE, AKS, EKS, Karpenter, CoreWeave and OCI: their tables of node labels.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from usher.accelerators import boards, mig
from usher.accelerators.names import GIB, MIB
from usher.audit.estate import CapacityType

Labels = Mapping[str, str]

_PRODUCTS: Final = (
    "amd.com/gpu.product-name",
    "beta.amd.com/gpu.product-name",
    "gpu.intel.com/product",
    "gpu.nvidia.com/model",
    "gpu.nvidia.com/class",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.azure.com/sku-gpu-name",
    "karpenter.k8s.aws/instance-accelerator-name",
    "k8s.amazonaws.com/accelerator",
    "aws.amazon.com/neuron.instance-type",
)
"""Labels with the name of a board: those of operators before those of clouds. NVIDIA's own comes before all."""

_MEBIBYTES: Final = ("nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory")
_GIBIBYTES: Final = ("gpu.nvidia.com/vram",)
_WITH_UNIT: Final = ("amd.com/gpu.vram", "beta.amd.com/gpu.vram")
_SIZE: Final = re.compile(r"(?P<number>[0-9]{1,7})(?P<unit>[MG])i?B?", re.ASCII)

_NAMED_TYPES: Final[Mapping[str, Mapping[str, CapacityType]]] = {
    "karpenter.sh/capacity-type": {
        "on-demand": CapacityType.ON_DEMAND,
        "spot": CapacityType.SPOT,
        "reserved": CapacityType.RESERVED,
    },
    "eks.amazonaws.com/capacityType": {
        "ON_DEMAND": CapacityType.ON_DEMAND,
        "SPOT": CapacityType.SPOT,
        "CAPACITY_BLOCK": CapacityType.RESERVED,
    },
    "cloud.google.com/gke-provisioning": {
        "standard": CapacityType.ON_DEMAND,
        "spot": CapacityType.SPOT,
        "preemptible": CapacityType.SPOT,
        "reservation": CapacityType.RESERVED,
    },
    "cloud.google.com/gke-spot": {"true": CapacityType.SPOT},
    "cloud.google.com/gke-preemptible": {"true": CapacityType.SPOT},
    "kubernetes.azure.com/scalesetpriority": {"spot": CapacityType.SPOT, "regular": CapacityType.ON_DEMAND},
    "oci.oraclecloud.com/oke-is-preemptible": {"true": CapacityType.SPOT},
    "node.kubernetes.io/lifecycle": {"spot": CapacityType.SPOT, "on-demand": CapacityType.ON_DEMAND},
}
"""Labels whose values name the payment type. The first label of a node with a known value decides."""

_RESERVED: Final = ("cloud.google.com/reservation-name", "node.coreweave.cloud/reserved")
"""Labels that mark a reserved node with any value except `false`."""

_OTHERWISE_ON_DEMAND: Final = ("cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool")
"""Labels of clouds that mark every node that is not on demand. Their other nodes are on demand."""

_MOST_SHARED: Final = 1000
"""The most replicas of a device; a higher number is an error in the label."""


def product(labels: Labels) -> str:
    """The board, without the suffixes for sharing and MIG; empty if no label names it."""
    found = labels.get(boards.PRODUCT_LABEL, "")
    if found:
        return found.removesuffix("-SHARED").partition("-MIG-")[0]
    return next((labels[key] for key in _PRODUCTS if labels.get(key)), "")


def memory(labels: Labels) -> int | None:
    """The memory of each device in bytes; None if no label has it."""
    return next(_memories(labels), None)


def _memories(labels: Labels) -> Iterator[int]:
    for keys, unit in ((_MEBIBYTES, MIB), (_GIBIBYTES, GIB)):
        for key in keys:
            number = _whole(labels.get(key, ""))
            if number:
                yield number * unit
    for key in _WITH_UNIT:
        match = _SIZE.fullmatch(labels.get(key, ""))
        if match is not None and int(match["number"]):
            yield int(match["number"]) * (GIB if match["unit"] == "G" else MIB)


def capacity_type(labels: Labels) -> CapacityType:
    """The payment type of the node."""
    if any(labels.get(key, "false") != "false" for key in _RESERVED):
        return CapacityType.RESERVED
    for key, values in _NAMED_TYPES.items():
        if labels.get(key) in values:
            return values[labels[key]]
    return CapacityType.ON_DEMAND if any(key in labels for key in _OTHERWISE_ON_DEMAND) else CapacityType.UNKNOWN


def shared_by(labels: Labels) -> int:
    """How many pods may share one device; 1 if each device serves one pod."""
    if labels.get("cloud.google.com/gke-gpu-sharing-strategy"):
        return _replicas(labels.get("cloud.google.com/gke-max-shared-clients-per-gpu", ""))
    if labels.get("nvidia.com/gpu.sharing-strategy") == "none":
        return 1
    return _replicas(labels.get("nvidia.com/gpu.replicas", ""))


def partition(labels: Labels) -> str:
    """The resource of the MIG profile that `nvidia.com/gpu` counts on the node; empty if it counts whole devices."""
    layout = labels.get(boards.PRODUCT_LABEL, "").removesuffix("-SHARED").partition("-MIG-")[2]
    profile = mig.parse_profile(layout or labels.get("cloud.google.com/gke-gpu-partition-size", ""))
    return "" if profile is None else profile.resource


def _replicas(value: str) -> int:
    number = _whole(value)
    return number if 1 <= number <= _MOST_SHARED else 1


def _whole(value: str) -> int:
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= 9 else 0
