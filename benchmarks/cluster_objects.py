"""The objects of a large cluster, each made from its number, with the fields that kubelets and controllers write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

Object = dict[str, object]

NAMESPACES: Final = 500
QUEUES: Final = 500
QUOTAS: Final = 50
JOBS: Final = 1_000
PYTORCH_JOBS: Final = 500
INFERENCE: Final = 500
"""Deployments whose pods ask for GPUs; each has a ReplicaSet."""
SERVICES: Final = 1_000
"""Deployments whose pods ask for no GPUs."""
PODS: Final = 20_000

_PODS_OF: Final = {"jobs": 4, "pytorchjobs": 8, "inference": 4, "services": 10}

_LABELS_OF_NODES: Final = 60
"""Labels that feature discovery writes to a GPU node."""

_IMAGES: Final = 50
"""Images that the kubelet reports, each with its names."""

_POOLS: Final = ("h100", "a100", "l40s", "cpu", "cpu-large")

_KUEUE_CONFIGURATION: Final = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations:
  frameworks: [batch/job, kubeflow.org/pytorchjob, pod]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The objects of a kind."""

    make: Callable[[int], Object]
    count: int
    namespace: Callable[[int], str] | None = None
    """That of an object by its number, without making the object; None for kinds without namespaces."""


def kinds(nodes: int) -> Mapping[str, Listed]:
    """The objects of a cluster with this number of nodes, by path; other paths are unknown."""

    def in_turn(make: Callable[[int], Object], count: int) -> Listed:
        """Objects one in each namespace, and again."""
        return Listed(make=make, count=count, namespace=_namespace)

    def deployed(make: Callable[[int], Object]) -> Listed:
        return Listed(
            make=make,
            count=INFERENCE + SERVICES,
            namespace=lambda number: _namespace(_index(_of_deployment(number)[0])),
        )

    pods = Listed(
        make=lambda number: pod(number, nodes=nodes),
        count=PODS,
        namespace=lambda number: _namespace(_owner_of(number)[2]),
    )
    return {
        "/api/v1/nodes": Listed(make=node, count=nodes),
        "/api/v1/pods": pods,
        "/api/v1/namespaces": Listed(make=namespace, count=NAMESPACES),
        "/api/v1/resourcequotas": in_turn(resource_quota, NAMESPACES),
        "/api/v1/limitranges": in_turn(limit_range, NAMESPACES),
        "/api/v1/configmaps": in_turn(config_map, 5_000),
        "/apis/scheduling.k8s.io/v1/priorityclasses": Listed(make=priority_class, count=10),
        "/apis/node.k8s.io/v1/runtimeclasses": Listed(make=runtime_class, count=2),
        "/apis/batch/v1/jobs": in_turn(job, JOBS),
        "/apis/batch/v1/cronjobs": in_turn(job, 0),
        "/apis/apps/v1/deployments": deployed(deployment),
        "/apis/apps/v1/replicasets": deployed(replica_set),
        "/apis/apps/v1/statefulsets": in_turn(deployment, 0),
        "/apis/apps/v1/daemonsets": in_turn(deployment, 0),
        "/apis/kubeflow.org/v1/pytorchjobs": in_turn(pytorch_job, PYTORCH_JOBS),
        "/apis/kueue.x-k8s.io/v1beta2/clusterqueues": Listed(make=cluster_queue, count=QUEUES),
        "/apis/kueue.x-k8s.io/v1beta2/localqueues": in_turn(local_queue, NAMESPACES),
        "/apis/kueue.x-k8s.io/v1beta2/cohorts": Listed(make=cohort, count=20),
        "/apis/kueue.x-k8s.io/v1beta2/resourceflavors": Listed(make=flavor, count=8),
        "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses": Listed(make=in_queue_class, count=4),
        "/apis/gpu-usher.io/v1alpha1/gpuquotas": Listed(make=gpu_quota, count=QUOTAS),
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": Listed(make=definition, count=len(_DEFINED)),
    }


_DEFINED: Final = (
    *(f"{plural}.kueue.x-k8s.io" for plural in ("clusterqueues", "localqueues", "cohorts", "resourceflavors")),
    *("workloadpriorityclasses.kueue.x-k8s.io", "gpuquotas.gpu-usher.io", "pytorchjobs.kubeflow.org"),
    *(f"things-{number}.example.com" for number in range(200)),
)


def node(number: int) -> Object:
    """A GPU node of about 14 kB, with the fields of its kubelet and feature discovery, in one of five pools."""
    pool = _POOLS[number % len(_POOLS)]
    labels = {f"feature.node.kubernetes.io/cpu-cpuid.FLAG{index}": "true" for index in range(_LABELS_OF_NODES)}
    labels |= {
        "kubernetes.io/hostname": f"node-{number}",
        "topology.kubernetes.io/zone": "abc"[number % 3],
        "topology.example.com/rack": f"rack-{number // 16}",
        "node.kubernetes.io/instance-type": pool,
    }
    amounts = {"cpu": "191450m", "memory": f"{2**31 - number % 97}Ki", "pods": "110"}
    taints: list[Object] = []
    if "cpu" not in pool:
        amounts |= {"nvidia.com/gpu": "8", "rdma/ib": "8"}
        labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3" if pool == "h100" else f"NVIDIA-{pool.upper()}"
        taints.append({"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"})
    digest = f"{number:064x}"
    names = [f"registry.example.com/team/image-{index}" for index in range(_IMAGES)]
    return {
        "metadata": {**_metadata(f"node-{number}"), "labels": labels, "annotations": {"cluster": "a" * 500}},
        "spec": {"taints": taints, "providerID": f"example://{number}"},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "images": [{"names": [f"{name}@sha256:{digest}", f"{name}:1"], "sizeBytes": 10**9} for name in names],
        },
    }


def pod(number: int, *, nodes: int) -> Object:
    """A pod that runs, of 5 to 6 kB; the first half of them have GPUs."""
    kind, plural, index, gpus = _owner_of(number)
    owner_name = f"{plural}-{index}"
    metadata = _metadata(f"{owner_name}-{number}", namespace=_namespace(index), owner=(kind, owner_name))
    metadata["labels"] = {"app": owner_name, "team": _namespace(index), "batch.kubernetes.io/job-name": owner_name}
    template = _template(gpus=gpus, name=owner_name)
    return {
        "metadata": metadata,
        "spec": {**_mapping(template["spec"]), "nodeName": f"node-{number % nodes}", "serviceAccountName": "default"},
        "status": _running(number),
    }


def _owner_of(number: int) -> tuple[str, str, int, int]:
    """Kind, prefix of the name and index of the owner of a pod, and the number of its GPUs."""
    for kind, plural, count, gpus in (
        ("Job", "jobs", JOBS, 4),
        ("PyTorchJob", "pytorchjobs", PYTORCH_JOBS, 8),
        ("ReplicaSet", "inference", INFERENCE, 1),
        ("ReplicaSet", "services", SERVICES, 0),
    ):
        if number < count * _PODS_OF[plural]:
            return kind, plural, number // _PODS_OF[plural], gpus
        number -= count * _PODS_OF[plural]
    return "ReplicaSet", "services", number % SERVICES, 0


def _template(*, gpus: int, name: str) -> Object:
    """A pod template with the fields that users write, about 3 kB."""
    amounts = {"cpu": "8", "memory": "64Gi", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    container = {
        "name": "main",
        "image": "registry.example.com/team/trainer@sha256:" + "0" * 64,
        "command": ["torchrun", "--nproc-per-node=8", f"--job={name}", "train.py"],
        "env": [{"name": f"OPTION_{index}", "value": f"--option-{index}=some/value"} for index in range(48)],
        "resources": {"limits": amounts, "requests": amounts},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "shm", "mountPath": "/dev/shm"}],
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }
    small = {"cpu": "100m", "memory": "128Mi"}
    proxy = {"name": "proxy", "image": "example.com/p:1", "resources": {"limits": small, "requests": small}}
    spec: Object = {
        "containers": [container, proxy],
        "restartPolicy": "Never",
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
        ],
    }
    if gpus:
        spec["nodeSelector"] = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
        spec["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    return {"metadata": {"labels": {"app": name}}, "spec": spec}


def _running(number: int) -> Object:
    conditions = ("Initialized", "Ready", "ContainersReady", "PodScheduled", "PodReadyToStartContainers")
    statuses = [
        {
            "name": name,
            "containerID": f"containerd://{number:064x}",
            "image": "registry.example.com/team/trainer@sha256:" + "0" * 64,
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
        }
        for name in ("main", "proxy")
    ]
    return {
        "phase": "Running",
        "conditions": [{"type": each, "status": "True", "lastProbeTime": None} for each in conditions],
        "containerStatuses": statuses,
        "podIP": "10.0.0.1",
    }


def job(number: int) -> Object:
    """A job that has half of its pods."""
    spec = {"parallelism": 8, "completions": 8, "template": _template(gpus=4, name=f"jobs-{number}")}
    return {
        "metadata": _metadata(f"jobs-{number}", namespace=_namespace(number)),
        "spec": spec,
        "status": {"active": 4},
    }


def pytorch_job(number: int, *, name: str = "") -> Object:
    """A job of 64 GPUs that waits in the queue of its namespace."""
    name = name or f"pytorchjobs-{number}"
    template = _template(gpus=8, name=name)
    containers = [{**each, "name": "pytorch"} for each in _mapping(template["spec"])["containers"][:1]]  # type: ignore[index]  # of _template
    template = {**template, "spec": {**_mapping(template["spec"]), "containers": containers}}
    metadata = _metadata(name, namespace=_namespace(number))
    metadata["labels"] = {"kueue.x-k8s.io/queue-name": "research", "kueue.x-k8s.io/priority-class": "rank-1"}
    replicas = {"Master": {"replicas": 1, "template": template}, "Worker": {"replicas": 7, "template": template}}
    return {"metadata": metadata, "spec": {"pytorchReplicaSpecs": replicas}}


def deployment(number: int) -> Object:
    name, gpus, replicas = _of_deployment(number)
    spec = {"replicas": replicas, "template": _template(gpus=gpus, name=name)}
    return {"metadata": _metadata(name, namespace=_namespace(_index(name))), "spec": spec}


def replica_set(number: int) -> Object:
    """A ReplicaSet that its Deployment owns."""
    name, gpus, replicas = _of_deployment(number)
    metadata = _metadata(name, namespace=_namespace(_index(name)), kind="ReplicaSet", owner=("Deployment", name))
    return {"metadata": metadata, "spec": {"replicas": replicas, "template": _template(gpus=gpus, name=name)}}


def _of_deployment(number: int) -> tuple[str, int, int]:
    if number < INFERENCE:
        return f"inference-{number}", 1, _PODS_OF["inference"]
    return f"services-{number - INFERENCE}", 0, _PODS_OF["services"]


def namespace(number: int) -> Object:
    metadata = _metadata(_namespace(number))
    metadata["labels"] = {"kubernetes.io/metadata.name": _namespace(number), "team": f"department-{number % 20}"}
    return {"metadata": metadata}


def resource_quota(number: int, *, used: int = 64) -> Object:
    hard = {"requests.cpu": "4000", "requests.memory": "64Ti", "requests.nvidia.com/gpu": "512", "pods": "2000"}
    now = {"requests.cpu": str(used), "requests.memory": "1Ti", "requests.nvidia.com/gpu": str(used), "pods": "50"}
    metadata = _metadata("all", namespace=_namespace(number))
    return {"metadata": metadata, "spec": {"hard": hard}, "status": {"hard": hard, "used": now}}


def limit_range(number: int) -> Object:
    limits = {"type": "Container", "default": {"memory": "4Gi"}, "defaultRequest": {"cpu": "1", "memory": "1Gi"}}
    largest = {"type": "Pod", "max": {"cpu": "190", "memory": "2Ti"}}
    return {"metadata": _metadata("all", namespace=_namespace(number)), "spec": {"limits": [limits, largest]}}


def config_map(number: int) -> Object:
    """The first is Kueue's own configuration."""
    if number:
        return {"metadata": _metadata(f"map-{number}", namespace="team-0")}
    metadata = _metadata("kueue-manager-config", namespace="kueue-system")
    return {"metadata": metadata, "data": {"controller_manager_config.yaml": _KUEUE_CONFIGURATION}}


def priority_class(number: int) -> Object:
    return {"metadata": _metadata(f"rank-{number}"), "value": 1000 * number, "globalDefault": number == 0}


def in_queue_class(number: int) -> Object:
    return {"metadata": _metadata(f"rank-{number}"), "value": 1000 * number}


def runtime_class(number: int) -> Object:
    return {"metadata": _metadata(f"runtime-{number}"), "handler": "nvidia"}


def definition(number: int) -> Object:
    return {"metadata": _metadata(_DEFINED[number])}


def cluster_queue(number: int, *, reserved: int = 0) -> Object:
    quotas = [
        {"name": "cpu", "nominalQuota": "2000", "borrowingLimit": "1000"},
        {"name": "memory", "nominalQuota": "32Ti"},
        {"name": "nvidia.com/gpu", "nominalQuota": "64", "borrowingLimit": "32"},
    ]
    names = [f"flavor-{(number + index) % 8}" for index in range(4)]
    groups = [
        {
            "coveredResources": ["cpu", "memory", "nvidia.com/gpu"],
            "flavors": [{"name": name, "resources": quotas} for name in names],
        }
    ]
    return {
        "metadata": _metadata(f"queue-{number}"),
        "spec": {"cohortName": f"cohort-{number % 20}", "resourceGroups": groups, "namespaceSelector": {}},
        "status": {
            "conditions": [{"type": "Active", "status": "True"}],
            "flavorsReservation": [{"name": names[0], "resources": [{"name": "cpu", "total": str(reserved)}]}],
        },
    }


def local_queue(number: int) -> Object:
    return {
        "metadata": _metadata("research", namespace=_namespace(number)),
        "spec": {"clusterQueue": f"queue-{number}"},
        "status": {"conditions": [{"type": "Active", "status": "True"}]},
    }


def cohort(number: int) -> Object:
    return {"metadata": _metadata(f"cohort-{number}"), "spec": {}}


def flavor(number: int) -> Object:
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    spec = {"nodeLabels": {"topology.kubernetes.io/zone": "abc"[number % 3]}, "tolerations": tolerations}
    return {"metadata": _metadata(f"flavor-{number}"), "spec": spec}


def gpu_quota(number: int) -> Object:
    """A quota for every namespace whose index has this remainder."""
    names = [_namespace(index) for index in range(number, NAMESPACES, QUOTAS)]
    limits = [{"hard": {"gpus": 4000, "slices": 28000}}]
    spec = {"namespaces": names, "limits": limits, "assumes": {"board": "H100-80"}}
    return {"metadata": _metadata(f"quota-{number}"), "spec": spec}


def _namespace(number: int) -> str:
    return f"team-{number % NAMESPACES}"


def _index(name: str) -> int:
    return int(name.rpartition("-")[2])


def _metadata(name: str, *, namespace: str = "", kind: str = "", owner: tuple[str, str] | None = None) -> Object:
    fields: Object = {"f:metadata": {"f:labels": {f"f:label-{index}": {} for index in range(20)}}}
    managed = [{"manager": "kubelet", "operation": "Update", "fieldsV1": fields}]
    result: Object = {"name": name, "resourceVersion": "7", "managedFields": managed}
    result["uid"] = f"uid-{kind}-{namespace}-{name}"
    if namespace:
        result["namespace"] = namespace
    if owner is not None:
        of, named = owner
        group = {"Job": "batch/v1", "PyTorchJob": "kubeflow.org/v1"}.get(of, "apps/v1")
        uid = f"uid-{'ReplicaSet' if of == 'ReplicaSet' else ''}-{namespace}-{named}"
        result["ownerReferences"] = [{"apiVersion": group, "kind": of, "name": named, "uid": uid, "controller": True}]
    return result


def _mapping(value: object) -> Object:
    assert isinstance(value, dict)
    return value
