"""The objects around the workloads of the synthetic cluster: namespaces, queues, quotas, priorities, agents."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from usher import paths
from usher.audit.demo.nodes import GPU, TAINT, text
from usher.audit.demo.stories import TEAMS

_KUEUE: Final = "kueue.x-k8s.io/v1beta2"

_GUARDED: Final = ("llm-pretrain", "search")
"""Namespaces that enforce a level of Pod Security and deny incoming traffic by default."""

_DEFINITIONS: Final = (
    "clusterpolicies.nvidia.com",
    "clusterqueues.kueue.x-k8s.io",
    "localqueues.kueue.x-k8s.io",
    "notebooks.kubeflow.org",
    "pytorchjobs.kubeflow.org",
    "servicemonitors.monitoring.coreos.com",
    "workloads.kueue.x-k8s.io",
)

_AGENTS: Final = {
    "nvidia-device-plugin-daemonset": "k8s-device-plugin:v0.18.0",
    "gpu-feature-discovery": "gpu-feature-discovery:v0.18.0",
    "nvidia-dcgm-exporter": "dcgm-exporter:4.4.1-4.6.0-ubuntu22.04",
}
"""DaemonSets of the GPU operator, with their images."""


def objects(now: datetime) -> Iterator[paths.Object]:
    """All these objects as an API server lists them."""
    created = now - timedelta(days=61)
    for name, team in TEAMS.items():
        guarded: paths.Object = {"pod-security.kubernetes.io/enforce": "baseline"} if name in _GUARDED else {}
        yield _namespace(name, created, {"gpu-usher.io/team": team, **guarded})
    yield _namespace("gpu-operator", created, {})
    for name in _GUARDED:
        spec: paths.Object = {"podSelector": {}, "policyTypes": ["Ingress"]}
        yield _namespaced("networking.k8s.io/v1", "NetworkPolicy", name, "default-deny", created, spec=spec)
    for name in _DEFINITIONS:
        yield _cluster_scoped("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, created)
    operator: paths.Object = {"toolkit": {"version": "v1.17.4-ubuntu20.04"}, "driver": {"version": "580.95.05"}}
    status: paths.Object = {"state": "ready"}
    yield _cluster_scoped("nvidia.com/v1", "ClusterPolicy", "cluster-policy", created, spec=operator, status=status)
    monitor: paths.Object = {"selector": {"matchLabels": {"app": "nvidia-dcgm-exporter"}}}
    yield _namespaced(
        "monitoring.coreos.com/v1", "ServiceMonitor", "gpu-operator", "nvidia-dcgm-exporter", created, spec=monitor
    )
    yield _cluster_scoped("scheduling.k8s.io/v1", "PriorityClass", "training", created, value=1000)
    yield _cluster_scoped("scheduling.k8s.io/v1", "PriorityClass", "inference", created, value=100000)
    for name in ("h100", "a100"):
        labels: paths.Object = {"node.example.com/pool": name}
        yield _cluster_scoped(_KUEUE, "ResourceFlavor", name, created, spec={"nodeLabels": labels})
    yield _cluster_scoped(_KUEUE, "ClusterQueue", "training", created, spec=_cluster_queue({"h100": 64}))
    yield _cluster_scoped(_KUEUE, "ClusterQueue", "research", created, spec=_cluster_queue({"a100": 40}))
    yield _cluster_scoped(_KUEUE, "ClusterQueue", "contest-2025", created, spec=_cluster_queue({"a100": 8}))
    yield _local_queue("llm-pretrain", "pretraining", "training", created)
    yield _local_queue("speech", "research", "research", created)
    yield _local_queue("robotics", "research", "research", created)
    yield _local_queue("vision", "contest", "contest-2025", created)
    yield _namespaced("v1", "ResourceQuota", "vision", "gpus", created, spec={"hard": {f"requests.{GPU}": "64"}})
    yield from (_agent(name, image, created) for name, image in _AGENTS.items())


def _metadata(kind: str, name: str, created: datetime, *, namespace: str = "") -> paths.Object:
    found: paths.Object = {
        "name": name,
        "uid": f"{kind.lower()}-{namespace}-{name}",
        "creationTimestamp": text(created),
    }
    return {**found, "namespace": namespace} if namespace else found


def _cluster_scoped(version: str, kind: str, name: str, created: datetime, **fields: paths.Json) -> paths.Object:
    return {"apiVersion": version, "kind": kind, "metadata": _metadata(kind, name, created), **fields}


def _namespaced(
    version: str, kind: str, namespace: str, name: str, created: datetime, **fields: paths.Json
) -> paths.Object:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": _metadata(kind, name, created, namespace=namespace),
        **fields,
    }


def _namespace(name: str, created: datetime, labels: Mapping[str, paths.Json]) -> paths.Object:
    metadata = {**_metadata("Namespace", name, created), "labels": {"kubernetes.io/metadata.name": name, **labels}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _cluster_queue(quotas: Mapping[str, int]) -> paths.Object:
    covered: list[paths.Json] = [GPU, "cpu", "memory"]
    flavors: list[paths.Json] = [
        {
            "name": flavor,
            "resources": [
                {"name": GPU, "nominalQuota": gpus},
                {"name": "cpu", "nominalQuota": 8 * gpus},
                {"name": "memory", "nominalQuota": f"{64 * gpus}Gi"},
            ],
        }
        for flavor, gpus in quotas.items()
    ]
    return {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": covered, "flavors": flavors}]}


def _local_queue(namespace: str, name: str, queue: str, created: datetime) -> paths.Object:
    return _namespaced(_KUEUE, "LocalQueue", namespace, name, created, spec={"clusterQueue": queue})


def _agent(name: str, image: str, created: datetime) -> paths.Object:
    container: paths.Object = {
        "name": name,
        "image": f"registry.example.com/nvidia/{image}",
        "securityContext": {"privileged": True},
    }
    labels: paths.Object = {"app": name}
    template: paths.Object = {
        "metadata": {"labels": labels},
        "spec": {
            "containers": [container],
            "tolerations": [dict(TAINT)],
            "nodeSelector": {"nvidia.com/gpu.present": "true"},
        },
    }
    spec: paths.Object = {"selector": {"matchLabels": labels}, "template": template}
    status: paths.Object = {"desiredNumberScheduled": 21, "numberReady": 21, "currentNumberScheduled": 21}
    return _namespaced("apps/v1", "DaemonSet", "gpu-operator", name, created, spec=spec, status=status)
