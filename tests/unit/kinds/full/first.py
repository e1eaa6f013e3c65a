"""Kinds of Kubernetes itself and those that came first: all fields that the normaliser reads."""

import builders
from unit.kinds.full.parts import METADATA, container, pod_spec_fields, template
from usher import paths


def _pod() -> paths.Object:
    pod = builders.custom("v1", "Pod", {**builders.pod_spec(container()), **pod_spec_fields()}, **METADATA)
    return builders.replaced(pod, "/metadata/generateName", "example-")


def _ray_groups() -> list[paths.Object]:
    return [
        builders.ray_group(pod_template=template(), replicas=2, min_replicas=1, max_replicas=4, hosts=2, suspend=False)
    ]


ELASTIC_POLICY: paths.Object = {"minReplicas": 1, "maxReplicas": 4}

OBJECTS: dict[str, paths.Object] = {
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
