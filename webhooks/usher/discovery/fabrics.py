"""The shipped fabric that the networks of a pool suggest. Nodes show devices, but not the networks behind them."""

from collections.abc import Mapping
from typing import Final

_GKE_MACHINES: Final = {
    "nvidia-h100-80gb": "gcp-tcpx",
    "nvidia-h100-mega-80gb": "gcp-tcpxo",
    "nvidia-h200-141gb": "gcp-gib",
    "nvidia-b200": "gcp-gib",
    "nvidia-gb200": "gcp-gib",
}
"""By the label cloud.google.com/gke-accelerator (docs/domain/fabrics.md)."""

_GKE: Final = "networking.gke.io.networks/"
_RDMA: Final = ("rdma/", "nvidia.com/hostdev", "nvidia.com/resib", "mellanox.com/", "openshift.io/")


def suggested(networks: list[str], labels: Mapping[str, str]) -> str:
    """The name of a shipped fabric; empty where no fabric is likely.

    Args:
        networks: the network resources of the nodes.
        labels: the labels that the nodes share.
    """
    if "vpc.amazonaws.com/efa" in networks:
        return "aws-efa"
    if any(name.startswith(_GKE) for name in networks):
        return _GKE_MACHINES.get(labels.get("cloud.google.com/gke-accelerator", ""), "")
    if any(name.startswith(_RDMA) for name in networks):
        return "azure-nd" if any(key.startswith("kubernetes.azure.com/") for key in labels) else "infiniband"
    return "mnnvl" if "nvidia.com/gpu.clique" in labels else ""
