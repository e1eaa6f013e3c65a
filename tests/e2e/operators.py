"""Operators, played: the pods and child objects that each would make of a stored object, created through the webhooks.

Where what they make are kinds of Kubernetes itself (Job, StatefulSet, Deployment), its own controllers go on from
there. What operators add beside their templates is left out but for what asks for accelerators.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from e2e.cluster import Cluster, Object

_OF_PODS: Final = frozenset(
    {"affinity", "containers", "initContainers", "nodeSelector", "priorityClassName", "schedulerName", "tolerations"}
    | {"volumes"}
)
"""Fields of a predictor that KServe hands on to its pods."""


def start_as_operator(cluster: Cluster, stored: Object) -> None:
    """Creates what the operator of a stored object would, owned by it; nothing for what Kubernetes starts itself."""
    make = _OPERATORS.get((stored["apiVersion"].partition("/")[0], stored["kind"]))
    for child in make(cluster, stored) if make is not None else ():
        start_as_operator(cluster, cluster.create(child))


def _pytorch_job(_cluster: Cluster, job: Object) -> Iterator[Object]:
    for type_, replica in job["spec"]["pytorchReplicaSpecs"].items():
        for index in range(replica["replicas"]):
            yield _pod(job, f"{type_.lower()}-{index}", replica["template"])


def _mpi_job(_cluster: Cluster, job: Object) -> Iterator[Object]:
    replicas = job["spec"]["mpiReplicaSpecs"]
    for index in range(replicas["Worker"]["replicas"]):
        yield _pod(job, f"worker-{index}", replicas["Worker"]["template"])
    launcher = _with_spec(replicas["Launcher"]["template"], restartPolicy="OnFailure")
    yield _child(job, "batch/v1", "Job", "launcher", {"template": launcher})


def _job_set(_cluster: Cluster, job_set: Object) -> Iterator[Object]:
    for replicated in job_set["spec"]["replicatedJobs"]:
        for index in range(replicated.get("replicas", 1)):
            template = replicated["template"]
            suffix = f"{replicated['name']}-{index}"
            yield _child(job_set, "batch/v1", "Job", suffix, template["spec"], metadata=template.get("metadata"))


def _ray_job(_cluster: Cluster, job: Object) -> Iterator[Object]:
    spec = job["spec"]
    yield _child(job, "ray.io/v1", "RayCluster", "cluster", spec["rayClusterSpec"], metadata=_inherited(job))
    submitter = spec.get("submitterPodTemplate") or {
        "spec": {"containers": [{"name": "submitter", "image": "registry.example.com/ray:2"}]}
    }
    yield _child(job, "batch/v1", "Job", "submitter", {"template": _with_spec(submitter, restartPolicy="Never")})


def _ray_cluster(_cluster: Cluster, ray_cluster: Object) -> Iterator[Object]:
    yield _pod(ray_cluster, "head", ray_cluster["spec"]["headGroupSpec"]["template"])
    for group in ray_cluster["spec"].get("workerGroupSpecs", []):
        # KubeRay lets workers wait with resources of their own (docs/domain/requests.md#request-of-one-pod).
        main = group["template"]["spec"]["containers"][0]
        waiting = {"name": "wait-gcs-ready", "image": main["image"], "resources": main.get("resources", {})}
        template = _with_spec(group["template"], initContainers=[waiting])
        for index in range(group["replicas"] * group.get("numOfHosts", 1)):
            yield _pod(ray_cluster, f"{group['groupName']}-{index}", template)


def _train_job(cluster: Cluster, job: Object) -> Iterator[Object]:
    spec = job["spec"]
    reference = spec["runtimeRef"]
    kind = reference.get("kind", "ClusterTrainingRuntime")
    place = {} if kind == "ClusterTrainingRuntime" else {"namespace": job["metadata"]["namespace"]}
    runtime = cluster.get(kind, reference["name"], api_version=job["apiVersion"], **place)
    job_set = runtime["spec"]["template"]["spec"]
    for replicated in job_set["replicatedJobs"]:
        template = replicated["template"]["spec"]["template"]
        if replicated["name"] == "node":
            replicated["template"]["spec"] |= dict.fromkeys(("parallelism", "completions"), spec["trainer"]["numNodes"])
            _train(template["spec"]["containers"][0], spec["trainer"])
        template["spec"].setdefault("restartPolicy", "Never")
        for patch in spec.get("runtimePatches", []):
            _patch(template["spec"], patch, replicated["name"])
    yield _child(job, "jobset.x-k8s.io/v1alpha2", "JobSet", "", job_set, metadata=_inherited(job))


def _train(container: Object, trainer: Object) -> None:
    """Merges what a TrainJob sets over the container of its runtime that trains."""
    container["env"] = [*container.get("env", []), *trainer.get("env", [])]
    if "resourcesPerNode" in trainer:
        container["resources"] = trainer["resourcesPerNode"]


def _patch(pod_spec: Object, patch: Object, name: str) -> None:
    """Lays an entry of runtimePatches over a pod spec of the runtime: lists take the place of lists."""
    job_set = patch.get("trainingRuntimeSpec", {}).get("template", {}).get("spec", {})
    for replicated in job_set.get("replicatedJobs", []):
        if replicated["name"] == name:
            over = replicated["template"]["spec"]["template"]["spec"]
            selector = {**pod_spec.get("nodeSelector", {}), **over.get("nodeSelector", {})}
            pod_spec.update({**over, **({"nodeSelector": selector} if selector else {})})


def _leader_worker_set(_cluster: Cluster, workers: Object) -> Iterator[Object]:
    spec = workers["spec"]["leaderWorkerTemplate"]
    of_worker = spec["workerTemplate"]
    yield _stateful_set(workers, "", spec.get("leaderTemplate", of_worker), replicas=workers["spec"]["replicas"])
    for group in range(workers["spec"]["replicas"]):
        yield _stateful_set(workers, str(group), of_worker, replicas=spec["size"] - 1, start=1)


def _volcano_job(_cluster: Cluster, job: Object) -> Iterator[Object]:
    for task in job["spec"]["tasks"]:
        name = task["template"]["spec"].get("schedulerName") or job["spec"].get("schedulerName", "volcano")
        for index in range(task["replicas"]):
            yield _pod(job, f"{task['name']}-{index}", _with_spec(task["template"], schedulerName=name))


def _inference_service(_cluster: Cluster, service: Object) -> Iterator[Object]:
    predictor = service["spec"]["predictor"]
    pod_spec = {key: value for key, value in predictor.items() if key in _OF_PODS}
    labels = {"app": f"{service['metadata']['name']}-predictor"}
    spec = {
        "replicas": predictor.get("minReplicas", 1),
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod_spec},
    }
    yield _child(service, "apps/v1", "Deployment", "predictor", spec)


_OPERATORS: Final[Mapping[tuple[str, str], Callable[[Cluster, Object], Iterator[Object]]]] = {
    ("batch.volcano.sh", "Job"): _volcano_job,
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("kubeflow.org", "MPIJob"): _mpi_job,
    ("kubeflow.org", "PyTorchJob"): _pytorch_job,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _leader_worker_set,
    ("ray.io", "RayCluster"): _ray_cluster,
    ("ray.io", "RayJob"): _ray_job,
    ("serving.kserve.io", "InferenceService"): _inference_service,
    ("trainer.kubeflow.org", "TrainJob"): _train_job,
}


def _stateful_set(owner: Object, suffix: str, template: Object, *, replicas: int, start: int = 0) -> Object:
    name = "-".join(filter(None, (owner["metadata"]["name"], suffix)))
    labels = {**template.get("metadata", {}).get("labels", {}), "leaderworkerset.sigs.k8s.io/group": name}
    metadata = {**template.get("metadata", {}), "labels": labels}
    spec = {
        "replicas": replicas,
        "ordinals": {"start": start},
        "serviceName": owner["metadata"]["name"],
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"leaderworkerset.sigs.k8s.io/group": name}},
        "template": {**template, "metadata": metadata},
    }
    return _child(owner, "apps/v1", "StatefulSet", suffix, spec)


def _pod(owner: Object, suffix: str, template: Object) -> Object:
    return _child(owner, "v1", "Pod", suffix, template["spec"], metadata=template.get("metadata"))


def _child(
    owner: Object, api_version: str, kind: str, suffix: str, spec: Object, *, metadata: Object | None = None
) -> Object:
    reference: dict[str, Any] = {key: owner[key] for key in ("apiVersion", "kind")} | {
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    of_child = {
        **(metadata or {}),
        "name": "-".join(filter(None, (reference["name"], suffix))),
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [reference],
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": of_child, "spec": spec}


def _inherited(owner: Object) -> Object:
    """Labels and annotations that an operator hands on to the object that it makes of a job."""
    return {key: owner["metadata"][key] for key in ("labels", "annotations") if key in owner["metadata"]}


def _with_spec(template: Object, **fields: Any) -> Object:
    return {**template, "spec": {**template["spec"], **fields}}
