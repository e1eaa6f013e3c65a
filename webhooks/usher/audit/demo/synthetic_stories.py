"""The nodes and workloads of the synthetic cluster: each workload is a small story that a report has to find."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from usher import paths

GPU: Final = "nvidia.com/gpu"
TAINT: Final = {"key": GPU, "value": "present", "effect": "NoSchedule"}


class Pool(Struct, frozen=True, kw_only=True):
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


class Story(Struct, frozen=True, kw_only=True):
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


STORIES: Final = (
    Story(
        kind="PyTorchJob", namespace="llm-pretrain", name="atlas-70b", pool="h100", devices=8, wanted=8, running=8,
        age_hours=270, activity=0.88, memory=0.93, queue="pretraining", priority="training",
    ),
    Story(
        kind="Job", namespace="llm-pretrain", name="eval-suite", pool="h100", devices=8, wanted=4, running=0,
        age_hours=26, waiting_hours=26, queue="pretraining", priority="training", suspended=True,
    ),
    Story(
        kind="PyTorchJob", namespace="vision", name="detector-sweep", pool="a100", devices=8, wanted=4, running=2,
        age_hours=77, waiting_hours=77, activity=0.02, memory=0.06,
    ),
    Story(
        kind="Notebook", namespace="vision", name="alice", pool="a100", age_hours=412, activity=0.01, memory=0.07,
        image="registry.example.com/jupyter/pytorch:4.4",
    ),
    Story(
        kind="Notebook", namespace="vision", name="bob", pool="a100", age_hours=290, activity=0.02, memory=0.11,
        image="registry.example.com/jupyter/pytorch:4.4",
    ),
    Story(
        kind="Notebook", namespace="vision", name="chen", pool="a100", age_hours=91, activity=0.0, memory=0.02,
        image="registry.example.com/jupyter/pytorch:4.4",
    ),
    Story(
        kind="Deployment", namespace="vision", name="labeling-api", pool="l40s", wanted=4, running=4, age_hours=900,
        activity=0.44, rhythm=Rhythm.OFFICE_HOURS, memory=0.42, image="registry.example.com/vision/serve:7",
        priority="inference",
    ),
    Story(
        kind="PyTorchJob", namespace="speech", name="whisper-tune", pool="a100", devices=4, wanted=4, running=4,
        age_hours=58, activity=0.72, memory=0.81, queue="research", priority="training",
    ),
    Story(
        kind="StatefulSet", namespace="speech", name="notebook-dana", pool="h100", devices=2, age_hours=530,
        activity=0.0, memory=0.03, image="registry.example.com/jupyter/pytorch:4.4", careless=True,
    ),
    Story(
        kind="Job", namespace="speech", name="tts-export", pool="h100", devices=16, running=0, age_hours=49,
        waiting_hours=49,
    ),
    Story(
        kind="Deployment", namespace="search", name="ranker", pool="l40s", wanted=6, running=6, age_hours=1400,
        activity=0.61, rhythm=Rhythm.OFFICE_HOURS, memory=0.66, image="registry.example.com/search/triton:25.10",
        priority="inference",
    ),
    Story(
        kind="Deployment", namespace="search", name="embedder", pool="a100", wanted=2, running=2, age_hours=640,
        activity=0.09, memory=0.1, image="registry.example.com/search/embed:3", priority="inference",
    ),
    Story(
        kind="Deployment", namespace="search", name="spelling", pool="h100-mig", resource="nvidia.com/mig-1g.10gb",
        wanted=5, running=5, age_hours=640, activity=0.07, memory=0.09, image="registry.example.com/search/spell:12",
        priority="inference",
    ),
    Story(
        kind="Job", namespace="search", name="reindex", pool="h100-mig", resource="nvidia.com/mig-2g.20gb", wanted=2,
        running=0, age_hours=120, waiting_hours=120,
    ),
    Story(
        kind="Job", namespace="robotics", name="sim-batch", pool="a100", wanted=8, running=8, age_hours=30,
        activity=0.65, memory=0.34, image="registry.example.com/robotics/sim:31", queue="research",
    ),
    Story(
        kind="Deployment", namespace="robotics", name="viewer", pool="h100", age_hours=700, activity=0.04, memory=0.05,
        image="registry.example.com/robotics/viewer:2", careless=True,
    ),
)  # fmt: skip

TEAMS: Final = {
    "llm-pretrain": "foundation",
    "vision": "vision",
    "speech": "speech",
    "search": "search",
    "robotics": "robotics",
}
"""The team of each namespace, as in its label."""
