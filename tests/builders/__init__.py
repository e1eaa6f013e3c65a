"""Kubernetes objects for tests, one function a kind. Nothing is asked for and nothing is set that a test does not say.

Fields of specs that the functions do not name go in as keywords spelt as in manifests: `pod(nodeSelector={"a": "b"})`.
Fields given as None are left out; `replaced` puts any value anywhere, null included. Every call makes new objects.
Queues are in `builders.queues`.
"""

from builders.objects import GPU, JsonValue, Metadata, custom, replaced
from builders.operators import (
    job_set,
    mpi_job,
    pytorch_job,
    ray_cluster,
    ray_cluster_spec,
    ray_group,
    ray_job,
    replicated_job,
    volcano_job,
    volcano_task,
)
from builders.pods import (
    container,
    expression,
    mutated_pod,
    node,
    node_affinity,
    pod,
    pod_spec,
    sidecar,
    template,
    term,
    toleration,
)
from builders.quotas import gpu_quota, resource_quota
from builders.workloads import cron_job, daemon_set, deployment, gpu_job, job, job_spec, replica_set, stateful_set

__all__ = [
    "GPU",
    "JsonValue",
    "Metadata",
    "container",
    "cron_job",
    "custom",
    "daemon_set",
    "deployment",
    "expression",
    "gpu_job",
    "gpu_quota",
    "job",
    "job_set",
    "job_spec",
    "mpi_job",
    "mutated_pod",
    "node",
    "node_affinity",
    "pod",
    "pod_spec",
    "pytorch_job",
    "ray_cluster",
    "ray_cluster_spec",
    "ray_group",
    "ray_job",
    "replaced",
    "replica_set",
    "replicated_job",
    "resource_quota",
    "sidecar",
    "stateful_set",
    "template",
    "term",
    "toleration",
    "volcano_job",
    "volcano_task",
]
