"""The node pools that the nodes of a cluster form, and the node labels that tell pools apart.

Only nodes with accelerators form pools. A pool without a node is unknown here: an autoscaler may add it at any time.

Sources, beside docs/domain/nodes.md#labels: the node label tables in the documentation of each service; for CoreWeave
and IBM also kubecost/opencost pkg/cloud and libopenstorage/cloudops ibm/ibm.go.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import pydantic
from msgspec import Struct

from usher import memo
from usher.accelerators import boards, names
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts.nodes import PODS, NodeClass, Nodes, Taint
from usher.config import pools
from usher.model import placement

KARPENTER: Final = ("karpenter.sh/nodepool", "karpenter.sh/provisioner-name")
"""Pools of Karpenter, which chooses a machine type for each new node."""

MANAGED_POOL_LABELS: Final = (
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
    "amd.com/compute-memory-partition",
    "gpu.intel.com/product",
    "gpu.intel.com/family",
    "habana.ai/gaudi",
    "intel.feature.node.kubernetes.io/gaudi",
    "aws.amazon.com/neuron.instance-type",
)
"""Labels of devices that operators write on a node after it has booted."""

WHOLE_LABELS: Final = ("nvidia.com/gpu.sharing-strategy", "none")
"""A label of every ordinary node, which does not distinguish pools."""

MACHINE_LABELS: Final = ("node.kubernetes.io/instance-type", "nvidia.com/gpu.machine")
"""Machine types. A service knows the first one before the node boots."""

MIG_STRATEGY: Final = "nvidia.com/mig.strategy"
GPU_COUNT: Final = "nvidia.com/gpu.count"
GPU_REPLICAS: Final = "nvidia.com/gpu.replicas"
NUMA: Final = "feature.node.kubernetes.io/memory-numa"
"""Node feature discovery writes `true` where a node has several NUMA nodes."""


def managed_pool_label(labels: Mapping[str, str]) -> tuple[str, str] | None:
    """The label that names the pool of a node; None for a node of no service and no autoscaler."""
    return next(((key, labels[key]) for key in MANAGED_POOL_LABELS if labels.get(key)), None)


def device_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that name the devices of a node."""
    found = {key: labels[key] for key in (*TEMPLATE_DEVICES, *BOOTED_DEVICES) if labels.get(key)}
    return {key: value for key, value in found.items() if (key, value) != WHOLE_LABELS}


MOST_POOLS: Final = 32
"""Beyond this number, nodes with the same taints and devices form a pool together."""

_GPU: Final = "nvidia.com/gpu"
_ORDINARY: Final = ("cpu", "memory")
_LONGEST_NAME: Final = 50
_NOT_IN_NAMES: Final = memo.pattern(r"[^a-z0-9.-]+")
_NUMBER: Final = memo.pattern(r"[1-9][0-9]{0,8}", re.ASCII)

_OS: Final = "kubernetes.io/os"
_COARSEST: Final = 2
"""Taints and devices always divide pools."""


class FoundPool(Struct, frozen=True, kw_only=True):
    """A pool with nodes, and the facts about it that a person may need."""

    pool: pools.Pool
    classes: tuple[NodeClass, ...]
    """The classes of its nodes; never empty."""
    labels: Mapping[str, str]
    """The labels that all of its nodes share, without labels of single nodes."""

    @property
    def nodes(self) -> int:
        return sum(each.count for each in self.classes)

    @property
    def example(self) -> str:
        """The first node in alphabetical order."""
        return min(each.example for each in self.classes)

    @property
    def managed(self) -> str:
        """The label by which a service or an autoscaler names the pool; empty without one."""
        found = managed_pool_label(self.labels)
        return "" if found is None else found[0]


class _Traits(NamedTuple):
    """The traits that the nodes of a pool share, ordered from those that always divide pools to the finest."""

    taints: tuple[Taint, ...]
    resources: tuple[str, ...]
    devices: tuple[tuple[str, str], ...]
    managed: tuple[str, str] | None
    machines: tuple[str | None, ...]


def found_pools(nodes: Nodes, vocabulary: Vocabulary) -> tuple[FoundPool, ...]:
    """The pools of the current nodes, at most MOST_POOLS; empty where the nodes differ too much for so few pools.

    Args:
        nodes: the nodes; unreadable ones are in no pool.
    """
    ours = [each for each in nodes.classes if any(vocabulary.contains(name) for name in each.most)]
    traits = [_traits(each, vocabulary) for each in ours]
    for length in range(len(_Traits._fields), _COARSEST - 1, -1):
        groups = defaultdict[tuple[object, ...], list[NodeClass]](list)
        for each, its in zip(ours, traits, strict=True):
            groups[its[:length]].append(each)
        if len(groups) <= MOST_POOLS:
            return tuple(_with_unique_names(_pools(groups.values(), vocabulary)))
    return ()


def _traits(nodes: NodeClass, vocabulary: Vocabulary) -> _Traits:
    labels, managed = nodes.labels, managed_pool_label(nodes.labels)
    if managed is not None and managed[0] in KARPENTER:
        # One pool of Karpenter has machines of many types, with different devices.
        return _Traits(taints=nodes.taints, resources=(), devices=(), managed=managed, machines=())
    return _Traits(
        taints=nodes.taints,
        resources=(*_offered(nodes.most, vocabulary), *network_devices(nodes.most, vocabulary)),
        devices=tuple(sorted(device_labels(labels).items())),
        managed=managed,
        machines=tuple(labels.get(key) for key in MACHINE_LABELS),
    )


def _offered(most: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    return sorted(name for name in most if vocabulary.contains(name))


def network_devices(most: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """The network devices among the resources of nodes, in order."""
    meanings = {name: vocabulary.meaning(name) for name in most}
    return sorted(name for name, each in meanings.items() if each is not None and each.unit is names.Unit.FABRIC)


def _pools(groups: Iterable[Sequence[NodeClass]], vocabulary: Vocabulary) -> Iterable[FoundPool]:
    for group in groups:
        shared = frozenset.intersection(*(frozenset(each.labels.items()) for each in group))
        labels = {key: value for key, value in sorted(shared) if _is_legal(key, value)}
        try:
            pool = _pool(group, labels, vocabulary)
        except pydantic.ValidationError:
            # Files may hold taints and resources that no API server accepts.
            continue
        yield FoundPool(pool=pool, classes=tuple(group), labels=labels)


def _is_legal(key: str, value: str) -> bool:
    return placement.is_label_key(key) and placement.is_label_value(value)


def _pool(group: Sequence[NodeClass], labels: Mapping[str, str], vocabulary: Vocabulary) -> pools.Pool:
    most: dict[str, int] = {}
    for each in group:
        for name, amount in each.most.items():
            most[name] = max(amount, most.get(name, 0))
    offered = _offered(most, vocabulary)
    managed = managed_pool_label(labels)
    varies = managed is not None and managed[0] in KARPENTER
    counted = (PODS,) if varies else (*_ORDINARY, *offered, *network_devices(most, vocabulary))
    return pools.Pool(
        name=_name(labels, offered),
        node_selector=_selector(labels),
        taints=[pools.Taint.model_validate(each._asdict()) for each in group[0].taints],
        resources=offered,
        gpu=None if varies else _gpus(labels, most),
        allocatable={name: scheduler_quantity(name, most[name]) for name in counted if name in most},
        scales_from_zero=True if varies else None,
    )


def scheduler_quantity(resource: str, amount: int) -> str | int:
    """The text of an amount that the scheduler counts; a number where it is small."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else amount // 1000
    if resource == "memory" and amount >= 2**30:
        # Rounded up, because the amounts of a pool are the most that one of its nodes has.
        return f"{-(-amount // 2**30)}Gi"
    return amount


def _selector(labels: Mapping[str, str]) -> dict[str, str]:
    managed = managed_pool_label(labels)
    if managed is not None and managed[0] in KARPENTER:
        return dict([managed])
    found = {**dict([managed] if managed is not None else []), **device_labels(labels)}
    return found or {_OS: labels.get(_OS, "linux")}


def _gpus(labels: Mapping[str, str], most: Mapping[str, int]) -> pools.Gpus | None:
    """The NVIDIA GPUs of one node; None where their number is unknown, as under the MIG strategy single."""
    product = boards.by_product(labels.get(boards.PRODUCT_LABEL, ""))
    strategy = labels.get(MIG_STRATEGY, "none")
    if product is not None and (product.profile is not None or product.invalid):
        return None
    replicas = _number(labels.get(GPU_REPLICAS)) or 1
    offered = most.get(_GPU, 0)
    count = _number(labels.get(GPU_COUNT))
    if count and offered > count * replicas and offered % count == 0:
        # Another device plugin offers each board many times, as HAMi's does.
        replicas = offered // count
    per_node = count if count is not None and strategy == "mixed" else offered // replicas
    if not 1 <= per_node <= 1024 or offered % replicas:
        return None
    return pools.Gpus.model_validate(
        {
            "board": None if product is None else product.board.name,
            "per_node": per_node,
            "mig_strategy": "mixed" if strategy == "mixed" else "none",
        }
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None


def _name(labels: Mapping[str, str], offered: Sequence[str]) -> str:
    """A name of the pool, from its label, its device or its resource."""
    managed = managed_pool_label(labels)
    device = next(iter(device_labels(labels).values()), "")
    text = managed[1] if managed is not None else device or offered[0].rpartition("/")[2]
    plain = _NOT_IN_NAMES.sub("-", text.lower()).removeprefix("nvidia-")[:_LONGEST_NAME].strip("-.")
    return plain or "accelerators"


def _with_unique_names(found: Iterable[FoundPool]) -> Iterable[FoundPool]:
    """The pools in order, each with a name of its own."""
    used: set[str] = set()
    for each in sorted(found, key=lambda each: (each.pool.name, -each.nodes, each.example)):
        name = next(name for name in _numbered(each.pool.name) if name not in used)
        used.add(name)
        pool = each.pool if name == each.pool.name else each.pool.model_copy(update={"name": name})
        yield FoundPool(pool=pool, classes=each.classes, labels=each.labels)


def _numbered(name: str) -> Iterable[str]:
    yield name
    yield from (f"{name}-{number}" for number in range(2, MOST_POOLS + 2))
