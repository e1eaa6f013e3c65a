"""A cluster with one of everything that decisions look at, for which nothing runs but the API server."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import builders
from builders import GPU
from builders.queues import (
    cluster_queue,
    cohort,
    configuration,
    flavor,
    group,
    local_queue,
    quota,
    topology,
)
from e2e import accounts, api_server_alone, crds
from e2e.cluster import Cluster, Object

CONFIG: Final = Path(__file__).with_name("facts.yaml")
NAMESPACE: Final = "research"
FULL: Final = "language"
"""A namespace whose GPUQuota has nothing left."""
SLICE: Final = "nvidia.com/mig-1g.10gb"

_TAINT: Final = "nvidia.com/gpu=present:NoSchedule"
H100: Final = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
DIVIDED: Final = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}

_DEFINITIONS: Final = (
    "batch.volcano.sh/jobs",
    "jobset.x-k8s.io/jobsets",
    "kubeflow.org/pytorchjobs",
    "kueue.x-k8s.io/clusterqueues",
    "kueue.x-k8s.io/cohorts",
    "kueue.x-k8s.io/localqueues",
    "kueue.x-k8s.io/resourceflavors",
    "kueue.x-k8s.io/topologies",
    "kueue.x-k8s.io/workloadpriorityclasses",
    "scheduling.volcano.sh/podgroups",
    "scheduling.volcano.sh/queues",
)

_KUEUE: Final = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations:
  frameworks: [batch/job, jobset.x-k8s.io/jobset, kubeflow.org/pytorchjob]
"""


@contextlib.contextmanager
def prepared(directory: Path) -> Iterator[Cluster]:
    """The cluster, in which the server's account has its rights."""
    with api_server_alone.prepared(directory) as alone:
        alone.start()
        cluster = alone.cluster
        for name in (NAMESPACE, FULL, "kueue-system", *accounts.NAMESPACES):
            cluster.create(builders.custom("v1", "Namespace", {}, name=name, namespace=None))
        crds.install(cluster, _DEFINITIONS)
        accounts.granted(
            cluster,
            *("base/rbac.yaml", "base/facts-role.yaml", "base/quota-role.yaml", "crds/gpu-quota-crd.yaml"),
            "kueue/facts-role.yaml",
            "config-maps/role.yaml",
        )
        for each in [*_of_kubernetes(), *_of_kueue(), *_of_volcano()]:
            cluster.create(each)
        crds.wait_until_served(cluster, "gpu-usher.io/gpuquotas")
        for each in _quotas():
            cluster.create(each)
        _count(cluster)
        yield cluster


def _of_kubernetes() -> Iterator[Object]:
    for number in range(2):
        yield builders.node(f"h100-{number}", gpus=8, labels=H100, taints=[_TAINT])
    yield builders.node("a100-0", labels=DIVIDED, taints=[_TAINT], allocatable={SLICE: "7"})
    for namespace in (NAMESPACE, FULL, "default"):
        yield {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": namespace},
        }
    for name, value in (("serving", 1000), ("training", 500)):
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
    yield {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "nvidia"},
        "handler": "nvidia",
    }
    two: Object = {
        "spec": {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu", "count": 2}}]}}
    }
    yield builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", two, name="two-gpus", namespace=NAMESPACE)
    most: Object = {"type": "Container", "max": {"memory": "512Gi"}}
    yield builders.custom("v1", "LimitRange", {"limits": [most]}, name="containers", namespace=NAMESPACE)


def _of_kueue() -> Iterator[Object]:
    yield configuration(_KUEUE)
    yield flavor("h100", labels=H100)
    yield topology("racks", "example.com/rack", "kubernetes.io/hostname")
    yield cohort("shared", group(("h100", [quota(4)])))
    yield cluster_queue("research", _of_h100(quota(8, borrowing=32)), cohort="shared")
    yield cluster_queue("production", _of_h100(quota(24, lending=12)), cohort="shared")
    yield cluster_queue("held", _of_h100(quota(16)), stopPolicy="Hold")
    for name in ("research", "held"):
        yield local_queue(name, namespace=NAMESPACE)
    yield local_queue("nowhere", "gone", namespace=NAMESPACE)
    yield {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "nightly"},
        "value": 100,
    }


def _of_h100(gpus: Object) -> Object:
    """A group with a quota of GPUs, and of cpu and memory as much as anybody could want."""
    return group(("h100", [quota(10000, resource="cpu"), quota("100Ti", resource="memory"), gpus]))


def _of_volcano() -> Iterator[Object]:
    spec: Object = {"capability": {GPU: "16"}, "weight": 1}
    yield builders.custom("scheduling.volcano.sh/v1beta1", "Queue", spec, name="gangs", namespace=None)
    yield builders.custom(
        "scheduling.volcano.sh/v1beta1",
        "PodGroup",
        {"minMember": 2, "queue": "gangs"},
        name="pair",
        namespace=NAMESPACE,
    )


def _quotas() -> Iterator[Object]:
    hard = {f"requests.{GPU}": "24", f"requests.{SLICE}": "14"}
    yield builders.resource_quota(hard, name="gpus", namespace=NAMESPACE)
    for namespace, gpus in ((NAMESPACE, 20), (FULL, 8)):
        yield builders.gpu_quota(namespace, gpus, namespaces=[namespace])


def _count(cluster: Cluster) -> None:
    """Does the quota controller's part, without which the API server makes no pods."""
    counted = cluster.get("ResourceQuota", "gpus", namespace=NAMESPACE)
    hard = counted["spec"]["hard"]
    counted["status"] = {"hard": hard, "used": {**dict.fromkeys(hard, "0"), f"requests.{GPU}": "12"}}
    cluster.request("PUT", f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/gpus/status", body=counted)
