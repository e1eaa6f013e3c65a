"""Nodes for kwok to play: GPU servers as NVIDIA's operator labels them, and servers without GPUs."""

from collections.abc import Mapping, Sequence
from typing import Final

from e2e.cluster import Cluster, Object, condition, wait_until

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def gpu_node(
    name: str,
    *,
    gpus: int = 8,
    product: str = "NVIDIA-H100-80GB-HBM3",
    labels: Mapping[str, str] | None = None,
    resources: Mapping[str, str] | None = None,
) -> Object:
    """A tainted node with `gpus` GPUs; `resources` are more extended resources, for example `{"rdma/ib": "8"}`."""
    of_gpus = {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.count": str(gpus),
    }
    return _node(
        name,
        labels={**of_gpus, **(labels or {})},
        taints=[GPU_TAINT],
        resources={"nvidia.com/gpu": str(gpus), **(resources or {})},
    )


def accelerator_node(
    name: str,
    *,
    resources: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
) -> Object:
    """A node with accelerators of any make, as its own operator labels and taints it."""
    return _node(name, labels=labels or {}, taints=[dict(taint) for taint in taints], resources=resources)


def cpu_node(name: str, *, labels: Mapping[str, str] | None = None) -> Object:
    return _node(name, labels=labels or {}, taints=[], resources={})


def add_nodes(cluster: Cluster, *nodes: Object) -> None:
    """Creates them and waits until pods can be scheduled there."""
    for node in nodes:
        cluster.create(node)
    names = [node["metadata"]["name"] for node in nodes]
    wait_until(
        lambda: all(is_ready(cluster.get("Node", name)) for name in names),
        description=f"nodes {', '.join(names)} are Ready",
    )


def is_ready(node: Object) -> bool:
    """Whether it is Ready and open to pods: the controllers take its not-ready taint away a moment later."""
    taints = {taint["key"] for taint in node["spec"].get("taints", [])}
    return condition(node, "Ready").get("status") == "True" and "node.kubernetes.io/not-ready" not in taints


def _node(
    name: str, *, labels: Mapping[str, str], taints: list[dict[str, str]], resources: Mapping[str, str]
) -> Object:
    amounts = {"cpu": "96", "memory": "1Ti", "ephemeral-storage": "2Ti", "pods": "110", **resources}
    by_kubelet = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**by_kubelet, **labels}},
        "spec": {"taints": taints},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


RUNTIME_CLASS: Final[Object] = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "4"}},
}
"""Pods of this class take four CPUs more than they ask for."""
