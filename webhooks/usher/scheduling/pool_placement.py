"""Places a pod set on the node pools of usher.yaml: finds where it could run, and which taints keep it off."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from usher import model
from usher.config import pools as config_pools
from usher.dataclass import dataclass
from usher.model import placement as model_placement
from usher.scheduling import pool_affinity

# Labels by which people select accelerator nodes if no pool is declared (docs/domain/nodes.md#labels).
WELL_KNOWN_KEYS = (
    "nvidia.com/*",
    "amd.com/*",
    "gpu.intel.com/*",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-*",
    "karpenter.k8s.aws/instance-*",
    "kubernetes.azure.com/accelerator",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/hostname",
)

# Those of these labels that only accelerator nodes have.
LABELS_OF_ACCELERATOR_NODES = (
    "nvidia.com/*",
    "amd.com/gpu*",
    "gpu.intel.com/*",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-*",
    "karpenter.k8s.aws/instance-gpu-*",
    "karpenter.k8s.aws/instance-accelerator-*",
    "kubernetes.azure.com/accelerator",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFit:
    """A pool whose resources and labels fit the pod set, with its taints that the pod set does not tolerate."""

    pool: config_pools.Pool
    untolerated: tuple[config_pools.Taint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOff:
    """A pool whose resources and labels fit the pod set, but that is for other pods."""

    pool: config_pools.Pool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """How the pod set's selectors and tolerations fit the declared pools."""

    fits: tuple[PoolFit, ...]
    declared: bool
    """Whether a declared pool offers the resources of the pod set; otherwise the nodes are unknown."""
    selected: tuple[bool, ...]
    """For each alternative of the pod set that some node fits: whether it allows only accelerator nodes. Nodes of a
    pool for other pods count as nodes without accelerators.
    """
    numbers: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Labels that have a whole number on every allowed node, with the possible numbers."""
    kept_off: tuple[KeptOff, ...] = ()


def placement(
    pod_set: model.PodSet,
    pools: Sequence[config_pools.Pool],
    offering: Sequence[config_pools.Pool],
    refusals: Mapping[str, str] = MappingProxyType({}),
) -> Placement:
    """Where one pod of the set could run.

    Args:
        pod_set: the pods.
        pools: all pools of usher.yaml.
        offering: the pools that offer what the pods request (accelerators.offers).
        refusals: the reasons why pools are not for the pods, by pool name.
    """
    ways = pool_affinity.alternatives(pod_set)
    fitting = [pool for pool in offering if any(pool_affinity.could_fit(way, pool.node_selector) for way in ways)]
    kept_off = [KeptOff(pool=pool, reason=refusals[pool.name]) for pool in fitting if pool.name in refusals]
    fitting = [pool for pool in fitting if pool.name not in refusals]
    if pools:
        others = {kept.pool.name for kept in kept_off}
        labels = [pool.node_selector for pool in pools if pool.name not in others]
        # A term that contradicts itself selects no nodes at all.
        selected = tuple(pool_affinity.allows_only(way, labels) for way in ways if pool_affinity.is_possible(way))
    else:
        # A machine type or name may select accelerator nodes or other nodes: it counts only for pods with accelerators.
        keys = WELL_KNOWN_KEYS if pod_set.asks_accelerators else LABELS_OF_ACCELERATOR_NODES
        selected = tuple(pool_affinity.names_any_key(way, keys) for way in ways)
    return Placement(
        fits=tuple(
            PoolFit(pool=pool, untolerated=tuple(model_placement.untolerated(pod_set.tolerations, pool.taints)))
            for pool in fitting
        ),
        declared=bool(offering),
        selected=selected,
        numbers=pool_affinity.allowed_numbers(ways),
        kept_off=tuple(kept_off),
    )
