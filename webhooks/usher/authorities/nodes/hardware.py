"""The devices that pods select by node labels, compared with the node pools of usher.yaml."""

from collections.abc import Sequence
from typing import Final

from usher import model
from usher.accelerators import boards
from usher.config import pools as config_pools
from usher.scheduling import pool_affinity

LABELS: Final = (
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "gpu.intel.com/product",
    "gpu.nvidia.com/class",
    "karpenter.k8s.aws/instance-accelerator-name",
    "karpenter.k8s.aws/instance-gpu-name",
    "kubernetes.azure.com/accelerator",
    boards.PRODUCT_LABEL,
)
"""Node labels whose value is a model of devices (docs/domain/nodes.md#labels)."""

MACHINE_LABELS: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
"""Node labels whose value is a type of machine, which decides the devices too."""


def undeclared(pod_set: model.PodSet, pools: Sequence[config_pools.Pool]) -> dict[str, list[str]]:
    """The device labels that every allowed node must have and no pool has, with their allowed values."""
    return _undeclared(LABELS, pod_set, pools)


def undeclared_machines(pod_set: model.PodSet, pools: Sequence[config_pools.Pool]) -> dict[str, list[str]]:
    """The labels of machine types that every allowed node must have and no pool names, with their allowed values."""
    return _undeclared(MACHINE_LABELS, pod_set, pools)


def _undeclared(
    labels: Sequence[str], pod_set: model.PodSet, pools: Sequence[config_pools.Pool]
) -> dict[str, list[str]]:
    ways = pool_affinity.alternatives(pod_set)
    found = {key: pool_affinity.allowed_values(ways, key) for key in labels}
    return {
        key: sorted(values)
        for key, values in found.items()
        if values and not any(_has(pool, key, values) for pool in pools)
    }


def _has(pool: config_pools.Pool, key: str, values: frozenset[str]) -> bool:
    """Whether usher.yaml says that the nodes of a pool have the label with one of the values."""
    if key in pool.node_selector:
        return pool.node_selector[key] in values
    if key != boards.PRODUCT_LABEL or pool.gpu is None or pool.gpu.board is None:
        return False
    board = boards.by_name(pool.gpu.board)
    products = (boards.by_product(value) for value in values)
    return board is not None and any(product is not None and product.board is board for product in products)
