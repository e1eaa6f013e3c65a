"""Estates for the tests of audits: nodes, workloads and pods as an audit sees them. Times are before `NOW`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from builders.objects import GPU
from usher import model, paths
from usher.audit.estate import CapacityType, Estate, Missing, Node, Phase, Pod, Workload
from usher.check.devices import Amount, Devices
from usher.check.findings import Identity
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)

H100 = "NVIDIA-H100-80GB-HBM3"

API_VERSIONS = {
    "Pod": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "PyTorchJob": "kubeflow.org/v1",
    "TrainJob": "trainer.kubeflow.org/v1alpha1",
    "RayCluster": "ray.io/v1",
    "Notebook": "kubeflow.org/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
}

GANGS = ("PyTorchJob", "TrainJob", "LeaderWorkerSet")
"""Kinds whose pods wait for each other, unless a test says otherwise."""


def ago(hours: float) -> datetime:
    """A time before `NOW`."""
    return NOW - timedelta(hours=hours)


def devices(gpus: float = 0, **others: float) -> Devices:
    """Whole GPUs, and other accelerators with `_` for the characters that a keyword may not have."""
    found = {GPU: gpus} if gpus else {}
    return {name: Amount(number=int(number)) for name, number in {**found, **others}.items()}


def gpu_node(name: str = "node-0", gpus: int = 8, *, allocatable: int | None = None, **fields: Any) -> Node:
    """A node with H100 boards; `allocatable` is the number that pods may get, all of them unless it is given."""
    product = fields.pop("product", H100)
    labels: Mapping[str, str] = {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": product,
        **fields.pop("labels", {}),
    }
    return Node(
        name=name,
        labels=labels,
        capacity=fields.pop("capacity", devices(gpus)),
        allocatable=fields.pop("allocatable_devices", devices(gpus if allocatable is None else allocatable)),
        product=product,
        capacity_type=fields.pop("capacity_type", CapacityType.ON_DEMAND),
        created=fields.pop("created", ago(1000)),
        taints=tuple(fields.pop("taints", (("nvidia.com/gpu", "present", "NoSchedule"),))),
        **fields,
    )


def running(name: str = "pod-0", gpus: int = 8, *, node: str = "node-0", hours: float = 5, **fields: Any) -> Pod:
    """A pod that holds GPUs since some hours."""
    return _pod(name, gpus, phase=Phase.RUNNING, node=node, hours=hours, scheduled=ago(hours), **fields)


def waiting(name: str = "pod-0", gpus: int = 8, *, hours: float = 5, why: str = "", **fields: Any) -> Pod:
    """A pod that waits for GPUs since some hours; `why` is what the scheduler says."""
    return _pod(name, gpus, phase=Phase.PENDING, hours=hours, waiting=why, **fields)


def _pod(name: str, gpus: int, *, hours: float, **fields: Any) -> Pod:
    return pod(name, created=ago(hours), devices=fields.pop("devices", devices(gpus)), **fields)


def pod(name: str, **fields: Any) -> Pod:
    """A pod in the namespace of all workloads of tests."""
    return Pod(name=name, **{"namespace": "ml-research", "uid": f"uid-of-{name}", **fields})


def entry(
    kind: str = "Job", name: str = "train", *, pods: Sequence[Pod] = (), wanted: int | None = None, **fields: Any
) -> Workload:
    """A top-level workload; it wants as many pods as it has, unless `wanted` says otherwise."""
    number = len(pods) if wanted is None else wanted
    each = max((pod.devices[GPU].number for pod in pods if GPU in pod.devices), default=8)
    identity = Identity(
        api_version=fields.pop("api_version", API_VERSIONS.get(kind, "example.com/v1")),
        kind=kind,
        namespace=fields.pop("namespace", "ml-research"),
        name=name,
    )
    return Workload(
        identity=identity,
        uid=fields.pop("uid", f"uid-of-{name}"),
        created=fields.pop("created", ago(6)),
        role=fields.pop("role", model.Role.TRAINING),
        wanted=model.Count(minimum=number, maximum=number),
        asks=fields.pop("asks", devices(int(each) * number)),
        pods=tuple(pods),
        team=fields.pop("team", "nlp"),
        gang=fields.pop("gang", kind in GANGS),
        **fields,
    )


def estate(
    *,
    nodes: Sequence[Node] | None = (),
    workloads: Iterable[Workload] = (),
    objects: Iterable[paths.Object] = (),
    without: Iterable[Key] = (),
    unknown: Iterable[Key] = (),
    missing_kinds: Iterable[Key] = (),
    manifests: Mapping[str, paths.Object] | None = None,
    missing: Sequence[Missing] = (),
) -> Estate:
    """An estate.

    Args:
        nodes: the nodes with accelerators; None where they are not known.
        workloads: those with accelerators.
        objects: manifests of other kinds, all objects of these kinds.
        without: kinds that are listed and have no object.
        unknown: kinds that may not be listed; a kind that is nowhere is as unknown.
        missing_kinds: kinds that the API server does not serve.
        manifests: of workloads without a running pod, by uid.
        missing: what could not be read.
    """
    found: dict[Key, Sequence[paths.Object] | Absence] = dict.fromkeys(without, ())
    by_kind = defaultdict[Key, list[paths.Object]](list)
    for value in objects:
        by_kind[paths.text(value.get("apiVersion")).rpartition("/")[0], paths.text(value.get("kind"))].append(value)
    found |= by_kind
    found |= dict.fromkeys(unknown, Absence.NOT_KNOWN)
    found |= dict.fromkeys(missing_kinds, Absence.MISSING)
    held = tuple(workloads)
    return Estate(
        nodes=None if nodes is None else tuple(nodes),
        workloads=held,
        objects=found,
        manifests=manifests or {},
        pods_read=sum(len(each.pods) + each.other_pods for each in held),
        missing=tuple(missing),
    )
