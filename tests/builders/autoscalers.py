"""Objects that autoscalers of nodes write into a cluster."""

from typing import Any

from builders.objects import custom
from usher import paths


def node_pool(
    name: str = "gpus",
    *,
    limits: Any = None,
    key: str = "karpenter.k8s.aws/instance-gpu-name",
    operator: str = "Exists",
    values: tuple[str, ...] = (),
) -> paths.Object:
    """A NodePool of Karpenter with one requirement."""
    requirement = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    spec: dict[str, Any] = {"template": {"spec": {"requirements": [requirement]}}}
    if limits is not None:
        spec["limits"] = limits
    return custom("karpenter.sh/v1", "NodePool", spec, name=name, namespace=None)


STATUS: paths.Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"},
}
"""The status of Cluster Autoscaler."""
