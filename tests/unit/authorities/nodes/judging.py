"""Pods and nodes for verdicts, and what the verdicts name."""

from typing import Any

import builders
from builders import toleration
from usher import paths
from usher.authorities.nodes.judge import NodeVerdict
from usher.authorities.nodes.places import Obstacles
from usher.authorities.verdict import Answer
from usher.config import pools

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
TOLERATION = toleration("nvidia.com/gpu", operator="Exists")
GPU_NODE = builders.node(
    "gpu-0", gpus=8, labels={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, taints=[GPU_TAINT]
)
CPU_NODE = builders.node("cpu-0")
H100 = pools.Pool(name="h100", node_selector={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"})


def gpu_pod(gpus: int = 1, *, tolerations: list[paths.Object] | None = None, **spec: Any) -> paths.Object:
    return builders.pod(
        builders.container(gpus=gpus), tolerations=[TOLERATION] if tolerations is None else tolerations or None, **spec
    )


def obstacles(found: NodeVerdict) -> Obstacles:
    assert found.answer is Answer.NEVER
    assert found.nearest is not None
    return found.nearest.obstacles


def place(found: NodeVerdict) -> str:
    assert found.nearest is not None
    return "" if found.nearest.place is None else found.nearest.place.name
