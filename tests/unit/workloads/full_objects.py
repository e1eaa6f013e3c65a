"""One object of every kind in which every field stands that the normaliser reads, and hardly any other."""

from collections.abc import Iterator

import builders
from usher import paths

METADATA = builders.Metadata(
    name="example",
    namespace="ml-research",
    labels={"gpu-usher.io/role": "training"},
    annotations={"note": "x"},
    owner_kind="Owner",
    deletion_timestamp="2026-09-29T10:00:00Z",
)


def _pod_spec_fields() -> paths.Object:
    requirement = builders.expression("pool", "In", "h100")
    name = builders.expression("metadata.name", "In", "node-1")
    return {
        "initContainers": [
            builders.container("fetch", limits={"cpu": 1}, restartPolicy="Never"),
            builders.sidecar("proxy", gpus=1),
        ],
        "ephemeralContainers": [builders.container("debug", env={"A": "b"})],
        "tolerations": [builders.toleration("gpu", operator="Equal", value="true", effect="NoSchedule")],
        "nodeSelector": {"zone": "a"},
        "affinity": builders.node_affinity(builders.term(requirement, fields=[name])),
        "overhead": {"cpu": "100m"},
        "resourceClaims": [{}],
        "schedulerName": "volcano",
        "priorityClassName": "high",
        "runtimeClassName": "nvidia",
        "nodeName": "node-1",
    }


def _container() -> paths.Object:
    return builders.container(
        requests={"cpu": "4", "nvidia.com/gpu": 8},
        limits={"nvidia.com/gpu": "8"},
        env={"NCCL_DEBUG": "WARN", "NODE": {}},
        claims=["gpu"],
    )


def template() -> paths.Object:
    spec = _pod_spec_fields()
    return {
        "metadata": {"labels": {"app": "bert"}, "annotations": {"note": "x"}},
        "spec": {**builders.pod_spec(_container()), **spec},
    }


def _pod() -> paths.Object:
    pod = builders.custom("v1", "Pod", {**builders.pod_spec(_container()), **_pod_spec_fields()}, **METADATA)
    return builders.replaced(pod, "/metadata/generateName", "example-")


def _ray_groups() -> list[paths.Object]:
    return [
        builders.ray_group(pod_template=template(), replicas=2, min_replicas=1, max_replicas=4, hosts=2, suspend=False)
    ]


ELASTIC_POLICY: paths.Object = {"minReplicas": 1, "maxReplicas": 4}

FULL_OBJECTS: dict[str, paths.Object] = {
    "Pod": _pod(),
    "Deployment": builders.deployment(template(), replicas=4, max_surge="25%", strategy="RollingUpdate", **METADATA),
    "StatefulSet": builders.stateful_set(template(), replicas=4, **METADATA),
    "ReplicaSet": builders.replica_set(template(), replicas=4, **METADATA),
    "DaemonSet": builders.daemon_set(template(), **METADATA),
    "Job": builders.job(template(), parallelism=2, completions=4, suspend=False, **METADATA),
    "CronJob": builders.cron_job(
        template(),
        parallelism=2,
        completions=4,
        concurrency_policy="Forbid",
        suspend=False,
        job_labels={"kueue.x-k8s.io/queue-name": "research"},
        **METADATA,
    ),
    "PyTorchJob": builders.pytorch_job(
        template(),
        workers=3,
        master=template(),
        elastic_policy=ELASTIC_POLICY,
        run_policy={"suspend": False},
        **METADATA,
    ),
    "MPIJob": builders.mpi_job(template(), workers=3, launcher=template(), run_policy={"suspend": False}, **METADATA),
    "JobSet": builders.job_set(
        builders.replicated_job("workers", template(), replicas=2, parallelism=2, completions=2),
        suspend=False,
        **METADATA,
    ),
    "RayCluster": builders.ray_cluster(*_ray_groups(), head=template(), autoscaling=True, suspend=False, **METADATA),
    "RayJob": builders.ray_job(
        *_ray_groups(),
        head=template(),
        autoscaling=True,
        cluster_selector={},
        submitter=template(),
        submission_mode="K8sJobMode",
        suspend=False,
        **METADATA,
    ),
    "Volcano Job": builders.volcano_job(builders.volcano_task("worker", template(), replicas=2), **METADATA),
}


def places(value: paths.Json, pointer: str = paths.ROOT) -> Iterator[tuple[str, paths.Json]]:
    """Every place in a value, the value itself first."""
    yield pointer, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, paths.join(pointer, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from places(child, paths.join(pointer, index))
