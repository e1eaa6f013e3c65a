"""The nodes of the synthetic cluster."""

from collections.abc import Iterator
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Final

from usher import paths
from usher.dataclass import dataclass

GPU: Final = "nvidia.com/gpu"
TAINT: Final = {"key": GPU, "value": "present", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Equal nodes of `boards` boards each. `memory` is in MiB for each board."""

    name: str
    nodes: int
    product: str
    memory: int
    instance_type: str
    capacity_type: str
    boards: int = 8
    divided: dict[str, int] = field(default_factory=dict)
    """The MIG devices of a node with divided boards; empty if pods get whole boards."""
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def devices(self) -> dict[str, int]:
        """The devices that a node offers, by resource."""
        return {GPU: 0, **self.divided} if self.divided else {GPU: self.boards}


_H100: Final = Pool(
    name="h100",
    nodes=10,
    product="NVIDIA-H100-80GB-HBM3",
    memory=81559,
    instance_type="p5.48xlarge",
    capacity_type="reserved",
)

POOLS: Final = (
    _H100,
    replace(
        _H100,
        name="h100-mig",
        nodes=1,
        divided={"nvidia.com/mig-1g.10gb": 28, "nvidia.com/mig-3g.40gb": 8},
        labels={
            "nvidia.com/mig.strategy": "mixed",
            "nvidia.com/mig.config": "half-and-half",
            "nvidia.com/mig.config.state": "success",
        },
    ),
    Pool(
        name="a100",
        nodes=6,
        product="NVIDIA-A100-SXM4-80GB",
        memory=81920,
        instance_type="p4de.24xlarge",
        capacity_type="spot",
    ),
    Pool(
        name="l40s",
        nodes=4,
        product="NVIDIA-L40S",
        memory=46068,
        instance_type="g6e.12xlarge",
        capacity_type="on-demand",
        boards=4,
    ),
)

WITHOUT_TAINT: Final = "l40s-3"
"""This node lost its taint, so pods without GPUs may fill it."""

WITH_A_DEAD_BOARD: Final = "a100-5"
"""One of its boards is unhealthy."""

CORDONED: Final = "h100-9"
"""It was cordoned for a repair and never uncordoned."""


def names(pool: Pool) -> list[str]:
    return [f"{pool.name}-{number}" for number in range(pool.nodes)]


def objects(now: datetime) -> Iterator[paths.Object]:
    """The nodes as an API server lists them."""
    for pool in POOLS:
        for name in names(pool):
            yield _node(pool, name, created=now - timedelta(days=61))


def allocatable(pool: Pool, name: str) -> dict[str, int]:
    """The devices of a node that pods can get."""
    return {**pool.devices, **({GPU: pool.devices[GPU] - 1} if name == WITH_A_DEAD_BOARD else {})}


def _node(pool: Pool, name: str, *, created: datetime) -> paths.Object:
    capacity = {
        "cpu": "96",
        "memory": "1100Gi",
        "pods": "110",
        **{key: str(each) for key, each in pool.devices.items()},
    }
    offered: paths.Object = {**capacity, **{key: str(each) for key, each in allocatable(pool, name).items()}}
    taints: list[paths.Json] = [] if name == WITHOUT_TAINT else [dict(TAINT)]
    spec: paths.Object = {"taints": taints}
    if name == CORDONED:
        unschedulable: paths.Object = {
            "key": "node.kubernetes.io/unschedulable",
            "effect": "NoSchedule",
            "timeAdded": text(created + timedelta(days=19)),
        }
        spec = {"taints": [*taints, unschedulable], "unschedulable": True}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"node-{name}", "creationTimestamp": text(created), "labels": _labels(pool)},
        "spec": spec,
        "status": {
            "capacity": dict(capacity),
            "allocatable": offered,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": text(created)}],
            "nodeInfo": {
                "kubeletVersion": "v1.36.1",
                "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.8.0-1031-aws",
                "osImage": "Ubuntu 24.04.3 LTS",
            },
        },
    }


def _labels(pool: Pool) -> paths.Object:
    return {
        "node.example.com/pool": pool.name,
        "node.kubernetes.io/instance-type": pool.instance_type,
        "topology.kubernetes.io/zone": "eu-north-1a",
        "karpenter.sh/capacity-type": pool.capacity_type,
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": pool.product,
        "nvidia.com/gpu.count": str(pool.boards),
        "nvidia.com/gpu.memory": str(pool.memory),
        "nvidia.com/cuda.driver-version.full": "580.95.05",
        **pool.labels,
    }


def text(time: datetime) -> str:
    """A time as Kubernetes writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
