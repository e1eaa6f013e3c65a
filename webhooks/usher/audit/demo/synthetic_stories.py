"""The nodes and workloads of the synthetic cluster: each workload is a small story that a report has to find."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from usher import paths

GPU: Final = "nvidia.com/gpu"
TAINT: Final = {"key": GPU, "value": "present", "effect": "NoSchedule"}


class Pool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


WITHOUT_TAINT: Final = "l40s-3"
"""This node lost its taint, so pods without GPUs may fill it."""

WITH_A_DEAD_BOARD: Final = "a100-5"
"""One of its boards is unhealthy."""

CORDONED: Final = "h100-9"
"""It was cordoned for a repair and never uncordoned."""


def node_names(pool: Pool) -> list[str]:
    return [f"{pool.name}-{number}" for number in range(pool.nodes)]


def node_objects(now: datetime) -> Iterator[paths.Object]:
    """The nodes as an API server lists them."""
    for pool in POOLS:
        for name in node_names(pool):
            yield _node(pool, name, created=now - timedelta(days=61))


def allocatable_devices(pool: Pool, name: str) -> dict[str, int]:
    """The devices of a node that pods can get."""
    return {**pool.devices, **({GPU: pool.devices[GPU] - 1} if name == WITH_A_DEAD_BOARD else {})}


def _node(pool: Pool, name: str, *, created: datetime) -> paths.Object:
    capacity = {
        "cpu": "96",
        "memory": "1100Gi",
        "pods": "110",
        **{key: str(each) for key, each in pool.devices.items()},
    }
    offered: paths.Object = {**capacity, **{key: str(each) for key, each in allocatable_devices(pool, name).items()}}
    taints: list[paths.Json] = [] if name == WITHOUT_TAINT else [dict(TAINT)]
    spec: paths.Object = {"taints": taints}
    if name == CORDONED:
        unschedulable: paths.Object = {
            "key": "node.kubernetes.io/unschedulable",
            "effect": "NoSchedule",
            "timeAdded": time_text(created + timedelta(days=19)),
        }
        spec = {"taints": [*taints, unschedulable], "unschedulable": True}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"node-{name}",
            "creationTimestamp": time_text(created),
            "labels": _node_labels(pool),
        },
        "spec": spec,
        "status": {
            "capacity": dict(capacity),
            "allocatable": offered,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": time_text(created)}],
            "nodeInfo": {
                "kubeletVersion": "v1.36.1",
                "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.8.0-1031-aws",
                "osImage": "Ubuntu 24.04.3 LTS",
            },
        },
    }


def _node_labels(pool: Pool) -> paths.Object:
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


def time_text(time: datetime) -> str:
    """A time as Kubernetes writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


class Rhythm(StrEnum):
    """How the activity of a workload changes."""

    STEADY = "steady"
    OFFICE_HOURS = "office hours"
    """Busy from 8 to 18 o'clock UTC on working days, almost idle at other times."""


class Story(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One workload. `wanted` pods ask for `devices` of `resource` each; `running` of them have a node of `pool`."""

    kind: str
    """Job, PyTorchJob, Deployment, StatefulSet or Notebook."""
    namespace: str
    name: str
    pool: str
    resource: str = GPU
    devices: int = 1
    wanted: int = 1
    running: int = 1
    age_hours: int = 200
    waiting_hours: int = 0
    """How many hours ago the other pods began to wait."""
    activity: float = 0.0
    """Mean activity of its boards while they are busy, from 0 to 1."""
    rhythm: Rhythm = Rhythm.STEADY
    memory: float = 0.5
    """Largest share of the memory of a board that it uses."""
    image: str = "registry.example.com/ml/pytorch:2.9"
    queue: str = ""
    priority: str = ""
    suspended: bool = False
    """Kueue has not admitted it: it has no pods yet."""
    careless: bool = False
    """It requests GPUs without a toleration, CPU or memory, like many first drafts."""


class _Cluster(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pools: tuple[Pool, ...]
    stories: tuple[Story, ...]


_CLUSTER: Final = msgspec.yaml.decode(Path(__file__).with_name("stories.yaml").read_bytes(), type=_Cluster)
POOLS: Final = _CLUSTER.pools
STORIES: Final = _CLUSTER.stories
