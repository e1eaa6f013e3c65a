"""The clusters of several sites, as facts."""

from collections.abc import Mapping
from typing import Final

import builders
from builders import queues
from usher import paths
from usher.cluster.facts.store import Store

GPU_TAINT: Final = "nvidia.com/gpu=present:NoSchedule"
H100: Final = {
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "feature.node.kubernetes.io/memory-numa": "true",
}
HOSTILE: Final = 'x"\n  - evil: {}\n# \u202e\x1b[31m: &a *a'


def namespace(name: str) -> paths.Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def priority_class(name: str, value: int, **fields: paths.Json) -> paths.Object:
    metadata: paths.Object = {"name": name}
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": metadata,
        "value": value,
        **fields,
    }


def device_class(name: str, expression: str) -> paths.Object:
    spec: paths.Object = {"selectors": [{"cel": {"expression": expression}}]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def on_premises() -> list[paths.Object]:
    """InfiniBand, MIG, a reserved node, nodes without labels, Kueue and Volcano."""
    mig = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
        "nvidia.com/mig.strategy": "mixed",
        "nvidia.com/gpu.count": "8",
    }
    return [
        *(
            builders.node(f"h100-{number}", gpus=8, labels=H100, taints=[GPU_TAINT], allocatable={"rdma/ib": "8"})
            for number in range(2)
        ),
        builders.node("team-0", gpus=8, labels=H100, taints=[GPU_TAINT, "dedicated=vision:NoSchedule"]),
        builders.node("mig-0", gpus=4, labels=mig, taints=[GPU_TAINT], allocatable={"nvidia.com/mig-3g.40gb": "8"}),
        builders.node("bare-0", allocatable={"amd.com/gpu": "4"}),
        builders.node("odd-0", allocatable={"example.com/gpu": "2"}),
        builders.node("cpu-0"),
        *(namespace(name) for name in ("kube-system", "gpu-operator", "kueue-system", "research")),
        priority_class("system-cluster-critical", 2_000_000_000),
        priority_class("standard", 0, globalDefault=True),
        priority_class("training", 1000),
        queues.local_queue("gpus", namespace="research"),
        queues.volcano_queue("default"),
        device_class("team-gpus", 'device.driver == "gpu.nvidia.com" && device.attributes["x"].model == "H100"'),
        device_class("all-gpus", 'device.driver == "gpu.nvidia.com"'),
        device_class("rdma", "device.driver == 'dra.net'"),
        device_class("either", "device.driver == 'dra.net' || device.driver == 'gpu.nvidia.com'"),
    ]


def gke() -> list[paths.Object]:
    """Node pools of A3 Mega, of L4 and of TPUs."""

    def of_pool(name: str, pool: str, labels: Mapping[str, str], **amounts: str) -> paths.Object:
        resources = {key.replace("__", "/").replace("_", "."): value for key, value in amounts.items()}
        every = {"cloud.google.com/gke-nodepool": pool, "kubernetes.io/os": "linux"}
        taint = "google.com/tpu" if "google.com/tpu" in resources else "nvidia.com/gpu"
        return builders.node(
            name,
            labels={**every, **labels},
            taints=[f"{taint}=present:NoSchedule"] if resources else [],
            allocatable=resources,
        )

    mega = {"cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb"}
    tpu = {"cloud.google.com/gke-tpu-accelerator": "tpu-v5p-slice", "cloud.google.com/gke-tpu-topology": "2x2x1"}
    return [
        of_pool("a3-0", "a3-mega", mega, nvidia_com__gpu="8", networking_gke_io_networks__vpc1="1"),
        of_pool("l4-0", "l4", {"cloud.google.com/gke-accelerator": "nvidia-l4"}, nvidia_com__gpu="1"),
        of_pool("tpu-0", "v5p", tpu, google_com__tpu="4"),
        of_pool("cpu-0", "default", {}),
        namespace("kube-system"),
    ]


def karpenter() -> list[paths.Object]:
    """A cluster of EKS where Karpenter chooses machines, with a node group beside it."""
    made = {"karpenter.sh/nodepool": "gpu", "karpenter.sh/capacity-type": "spot"}
    group = {"eks.amazonaws.com/nodegroup": "p5", "node.kubernetes.io/instance-type": "p5.48xlarge"}
    return [
        builders.node("g5", gpus=1, labels={**made, "node.kubernetes.io/instance-type": "g5.xlarge"}),
        builders.node("g6", gpus=4, labels={**made, "node.kubernetes.io/instance-type": "g6.12xlarge"}),
        builders.node(
            "p5",
            gpus=8,
            labels=group,
            taints=["nvidia.com/gpu:NoSchedule"],
            allocatable={"vpc.amazonaws.com/efa": "32"},
        ),
        builders.node("cpu"),
    ]


def hostile() -> list[paths.Object]:
    """Names that want to become YAML. An API server accepts few of them, but files may hold any text."""
    return [
        builders.node(HOSTILE, gpus=8, labels={"nvidia.com/gpu.product": HOSTILE, HOSTILE: "x"}),
        builders.node("named", gpus=4, labels={"pool": "true", "nvidia.com/gpu.product": "null"}),
        builders.node("tainted", gpus=2, taints=["nvidia.com/gpu=yes:NoSchedule"], labels={"pool": "0x1F"}),
        namespace("*"),
        namespace(HOSTILE),
        priority_class(HOSTILE, 7, globalDefault=True),
        queues.local_queue(HOSTILE, namespace="*"),
        queues.local_queue("on", namespace="yes"),
        queues.volcano_queue(HOSTILE),
        device_class(HOSTILE, "device.driver == 'gpu.nvidia.com'"),
    ]


CLUSTERS: Final = {"on-premises": on_premises, "gke": gke, "karpenter": karpenter, "hostile": hostile}


def facts(name: str) -> Store:
    return Store.of(CLUSTERS[name]())
