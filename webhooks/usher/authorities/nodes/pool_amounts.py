"""How many devices a node of a declared pool has, as usher.yaml says."""

from typing import Final

from usher import model, quantities
from usher.config import pools

GPU: Final = "nvidia.com/gpu"


def gpus(pool: pools.Pool) -> int | None:
    """The amount of nvidia.com/gpu that `gpu` of a pool gives each node; None where the name means slices."""
    if pool.gpu is None or pool.gpu.mig_strategy == "single" or GPU not in pool.resources:
        return None
    return pool.gpu.per_node


def is_large_enough(pool: pools.Pool, pod_set: model.PodSet) -> bool:
    """Whether a node of the pool may have as many devices as one pod asks for; true where usher.yaml does not say."""
    return all(
        most is None or quantity.value <= most
        for name, quantity in pod_set.accelerators.items()
        for most in [_most(pool, name)]
    )


def _most(pool: pools.Pool, name: str) -> int | None:
    if name in pool.allocatable:
        return quantities.parse(pool.allocatable[name]).value
    return gpus(pool) if name == GPU else None
