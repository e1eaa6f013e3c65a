"""One workload of every kind that is followed onto the nodes, as short as its definition allows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import builders
from e2e import crds
from e2e.cluster import Cluster, Object
from e2e.pools import Pool
from usher import paths

NAME: Final = "example"
RUNTIME: Final = "usher-e2e"
"""ClusterTrainingRuntime of the TrainJobs."""

DEFINITIONS: Final = (
    "batch.volcano.sh/jobs",
    "jobset.x-k8s.io/jobsets",
    "kubeflow.org/mpijobs",
    "kubeflow.org/pytorchjobs",
    "leaderworkerset.x-k8s.io/leaderworkersets",
    "ray.io/rayclusters",
    "ray.io/rayjobs",
    "serving.kserve.io/inferenceservices",
    "trainer.kubeflow.org/clustertrainingruntimes",
    "trainer.kubeflow.org/trainjobs",
)

_GPUS: Final = 2
_CONDITION: Final = {
    "type": "Created",
    "status": "True",
    "reason": "Created",
    "message": "created",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
_CONDITIONS: Final[Object] = {"conditions": [_CONDITION]}
_APP: Final = {"app": NAME}
_TEAM: Final = {"key": "team", "operator": "Exists"}
"""With a list of its own in the manifest, every apply writes the whole list again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A workload of several pods. Most of them ask for accelerators."""

    manifest: Object
    pods: int
    """That ask for accelerators."""
    others: int = 0
    knows_fabric: bool = True
    """Whether its containers get the settings of the interconnect: they must train, and their ranks must see these."""
    status: Object
    """A status that its controller writes at some time."""
    suspend: str = ""
    """The place in the kind; empty if the kind has no place for it."""
    pod_specs: tuple[str, ...] = ()
    """Pod specs in which Kueue places the pods while the object is suspended."""


def install(cluster: Cluster) -> None:
    """Defines the kinds, and what their objects refer to."""
    crds.install(cluster, DEFINITIONS)
    if not cluster.exists("ClusterTrainingRuntime", RUNTIME, api_version="trainer.kubeflow.org/v1alpha1"):
        cluster.create(_runtime())


def of_kind(kind: str, pool: Pool, namespace: str) -> Sample:
    return _SAMPLES[kind](pool, namespace)


def containers_of_accelerators(pod: Object, pool: Pool) -> Iterator[Object]:
    """The containers of a pod that ask for what a pool offers."""
    for container in pod["spec"]["containers"]:
        if pool.resource in container.get("resources", {}).get("limits", {}):
            yield container


def _template(pool: Pool, name: str = "main", *, restart_policy: str | None = None) -> Object:
    return builders.template(_container(pool, name), tolerations=[_TEAM], restartPolicy=restart_policy)


def _labelled(pool: Pool) -> Object:
    return builders.template(_container(pool, "main"), labels=_APP, tolerations=[_TEAM])


def _container(pool: Pool, name: str) -> Object:
    return builders.container(name, limits={pool.resource: _GPUS}, env={"TEAM": "nlp"})


def _pod(pool: Pool, namespace: str) -> Sample:
    return Sample(
        manifest=builders.pod(_container(pool, "main"), name=NAME, namespace=namespace),
        pods=1,
        knows_fabric=False,
        status={"conditions": [{**_CONDITION, "type": "example.com/Checked"}]},
    )


def _deployment(pool: Pool, namespace: str) -> Sample:
    value = builders.deployment(_labelled(pool), replicas=2, name=NAME, namespace=namespace)
    return Sample(
        manifest=builders.replaced(value, "/spec/selector", {"matchLabels": dict(_APP)}),
        pods=2,
        knows_fabric=False,
        status={"conditions": [{**_CONDITION, "type": "Checked"}]},
    )


def _job(pool: Pool, namespace: str) -> Sample:
    template = _template(pool, restart_policy="Never")
    return Sample(
        manifest=builders.job(template, parallelism=2, completions=2, name=NAME, namespace=namespace),
        pods=2,
        knows_fabric=False,
        status={"conditions": [{**_CONDITION, "type": "Checked"}]},
        suspend="/spec/suspend",
        pod_specs=("/spec/template/spec",),
    )


def _job_set(pool: Pool, namespace: str) -> Sample:
    replicated = builders.replicated_job(
        pod_template=_template(pool, restart_policy="Never"), replicas=1, parallelism=2, completions=2
    )
    return Sample(
        manifest=builders.job_set(replicated, name=NAME, namespace=namespace),
        pods=2,
        status=_CONDITIONS,
        suspend="/spec/suspend",
        pod_specs=("/spec/replicatedJobs/0/template/spec/template/spec",),
    )


def _pytorch_job(pool: Pool, namespace: str) -> Sample:
    template = _template(pool, "pytorch")
    return Sample(
        manifest=builders.pytorch_job(template, workers=2, master=template, name=NAME, namespace=namespace),
        pods=3,
        status=_CONDITIONS,
        suspend="/spec/runPolicy/suspend",
        pod_specs=tuple(f"/spec/pytorchReplicaSpecs/{type_}/template/spec" for type_ in ("Master", "Worker")),
    )


def _mpi_job(pool: Pool, namespace: str) -> Sample:
    return Sample(
        manifest=builders.mpi_job(_template(pool), workers=2, name=NAME, namespace=namespace),
        pods=2,
        others=1,
        # sshd would not hand the variables on to the ranks.
        knows_fabric=False,
        status=_CONDITIONS,
        suspend="/spec/runPolicy/suspend",
        pod_specs=("/spec/mpiReplicaSpecs/Worker/template/spec",),
    )


def _ray_job(pool: Pool, namespace: str) -> Sample:
    group = builders.ray_group(pod_template=_template(pool), replicas=2, min_replicas=0, max_replicas=2)
    job = builders.ray_job(group, name=NAME, namespace=namespace)
    return Sample(
        # Kueue takes no other.
        manifest=builders.replaced(job, "/spec/shutdownAfterJobFinishes", True),
        pods=2,
        # The head and the submitter.
        others=2,
        status={"jobStatus": "RUNNING", "jobDeploymentStatus": "Running"},
        suspend="/spec/suspend",
        pod_specs=("/spec/rayClusterSpec/workerGroupSpecs/0/template/spec",),
    )


def _train_job(pool: Pool, namespace: str) -> Sample:
    spec: Object = {
        "runtimeRef": {"name": RUNTIME},
        "trainer": {"numNodes": 2, "resourcesPerNode": {"limits": {pool.resource: _GPUS}}},
    }
    return Sample(
        manifest=builders.custom("trainer.kubeflow.org/v1alpha1", "TrainJob", spec, name=NAME, namespace=namespace),
        pods=2,
        status=_CONDITIONS,
    )


def _leader_worker_set(pool: Pool, namespace: str) -> Sample:
    spec: Object = {
        "replicas": 2,
        "leaderWorkerTemplate": {"size": 2, "leaderTemplate": builders.template(), "workerTemplate": _template(pool)},
    }
    return Sample(
        manifest=builders.custom(
            "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, name=NAME, namespace=namespace
        ),
        pods=2,
        others=2,
        status=_CONDITIONS,
    )


def _volcano_job(pool: Pool, namespace: str) -> Sample:
    job = builders.volcano_job(
        builders.volcano_task(pod_template=_template(pool), replicas=2), name=NAME, namespace=namespace
    )
    return Sample(
        # There is no Volcano that would start them.
        manifest=builders.replaced(job, "/spec/schedulerName", "default-scheduler"),
        pods=2,
        status={"state": {"phase": "Running"}, "running": 2},
    )


def _inference_service(pool: Pool, namespace: str) -> Sample:
    predictor = _template(pool, "kserve-container")["spec"]
    spec: Object = {"predictor": {"minReplicas": 2, "maxReplicas": 2, **predictor}}
    return Sample(
        manifest=builders.custom(
            "serving.kserve.io/v1beta1",
            "InferenceService",
            spec,
            name=NAME,
            namespace=namespace,
            # A Deployment runs it, so that what its predictor says reaches the pods.
            annotations={"serving.kserve.io/deploymentMode": "Standard"},
        ),
        pods=2,
        knows_fabric=False,
        status={"conditions": [{"type": "Ready", "status": "True"}]},
    )


_SAMPLES: Final[Mapping[str, Callable[[Pool, str], Sample]]] = {
    "Deployment": _deployment,
    "InferenceService": _inference_service,
    "Job": _job,
    "JobSet": _job_set,
    "LeaderWorkerSet": _leader_worker_set,
    "MPIJob": _mpi_job,
    "Pod": _pod,
    "PyTorchJob": _pytorch_job,
    "RayJob": _ray_job,
    "TrainJob": _train_job,
    "VolcanoJob": _volcano_job,
}

KINDS: Final = tuple(_SAMPLES)


def _runtime() -> Object:
    node = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": builders.template(builders.container("node"))},
        },
    }
    spec: Object = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": [node]}}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": RUNTIME},
        "spec": spec,
    }


def pod_specs_of(sample: Sample, stored: Object) -> Iterator[Object]:
    """The pod specs of a stored object, to be read or changed in place."""
    for pointer in sample.pod_specs:
        spec = paths.resolve(stored, pointer)
        assert isinstance(spec, dict)
        yield spec
