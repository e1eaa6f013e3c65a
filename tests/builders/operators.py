"""Workloads of operators: Kubeflow, JobSet, Ray, Volcano."""

from collections.abc import Mapping
from typing import Unpack

from builders.objects import JsonValue, Metadata, object_of, present
from builders.pods import template
from builders.workloads import job_spec
from usher import paths


def pytorch_job(
    worker: paths.Object | None = None,
    *,
    workers: JsonValue = None,
    master: paths.Object | None = None,
    elastic_policy: Mapping[str, JsonValue] | None = None,
    run_policy: Mapping[str, JsonValue] | None = None,
    **metadata: Unpack[Metadata],
) -> paths.Object:
    """A PyTorchJob with Workers, and with one Master if its template is given."""
    replica_specs = present(
        Master=None if master is None else {"replicas": 1, "template": master},
        Worker=present(replicas=workers, template=worker or template()),
    )
    spec = present(elasticPolicy=elastic_policy, runPolicy=run_policy, pytorchReplicaSpecs=replica_specs)
    return object_of("kubeflow.org/v1", "PyTorchJob", spec, metadata)


def mpi_job(
    worker: paths.Object | None = None,
    *,
    workers: JsonValue = None,
    launcher: paths.Object | None = None,
    run_policy: Mapping[str, JsonValue] | None = None,
    **metadata: Unpack[Metadata],
) -> paths.Object:
    """An MPIJob of v2beta1 with a Launcher, and with Workers if their template or their number is given."""
    workers_wanted = worker is not None or workers is not None
    replica_specs = present(
        Launcher={"template": launcher or template()},
        Worker=present(replicas=workers, template=worker or template()) if workers_wanted else None,
    )
    spec = present(runPolicy=run_policy, mpiReplicaSpecs=replica_specs)
    return object_of("kubeflow.org/v2beta1", "MPIJob", spec, metadata)


def replicated_job(
    name: str = "workers",
    pod_template: paths.Object | None = None,
    *,
    replicas: JsonValue = None,
    parallelism: JsonValue = None,
    completions: JsonValue = None,
) -> paths.Object:
    """One entry of a JobSet."""
    spec = job_spec(pod_template, parallelism=parallelism, completions=completions)
    return present(name=name, replicas=replicas, template={"spec": spec})


def job_set(*replicated_jobs: paths.Object, suspend: JsonValue = None, **metadata: Unpack[Metadata]) -> paths.Object:
    spec = present(suspend=suspend, replicatedJobs=list(replicated_jobs) or [replicated_job()])
    return object_of("jobset.x-k8s.io/v1alpha2", "JobSet", spec, metadata)


def ray_group(
    name: str = "workers",
    pod_template: paths.Object | None = None,
    *,
    replicas: JsonValue = None,
    min_replicas: JsonValue = None,
    max_replicas: JsonValue = None,
    hosts: JsonValue = None,
    suspend: JsonValue = None,
) -> paths.Object:
    """One worker group of a Ray cluster."""
    return present(
        groupName=name,
        replicas=replicas,
        minReplicas=min_replicas,
        maxReplicas=max_replicas,
        numOfHosts=hosts,
        suspend=suspend,
        template=pod_template or template(),
    )


def ray_cluster_spec(
    *groups: paths.Object, head: paths.Object | None = None, autoscaling: JsonValue = None
) -> paths.Object:
    return present(
        enableInTreeAutoscaling=autoscaling,
        headGroupSpec={"template": head or template()},
        workerGroupSpecs=list(groups) or None,
    )


def ray_cluster(
    *groups: paths.Object,
    head: paths.Object | None = None,
    autoscaling: JsonValue = None,
    suspend: JsonValue = None,
    **metadata: Unpack[Metadata],
) -> paths.Object:
    spec = {**ray_cluster_spec(*groups, head=head, autoscaling=autoscaling), **present(suspend=suspend)}
    return object_of("ray.io/v1", "RayCluster", spec, metadata)


def ray_job(
    *groups: paths.Object,
    head: paths.Object | None = None,
    autoscaling: JsonValue = None,
    cluster_selector: Mapping[str, str] | None = None,
    submitter: paths.Object | None = None,
    submission_mode: str | None = None,
    suspend: JsonValue = None,
    **metadata: Unpack[Metadata],
) -> paths.Object:
    """A RayJob with a cluster of its own, whether or not it selects one that is there."""
    spec = present(
        suspend=suspend,
        clusterSelector=cluster_selector,
        submissionMode=submission_mode,
        submitterPodTemplate=submitter,
        rayClusterSpec=ray_cluster_spec(*groups, head=head, autoscaling=autoscaling),
    )
    return object_of("ray.io/v1", "RayJob", spec, metadata)


def volcano_task(
    name: str = "worker", pod_template: paths.Object | None = None, *, replicas: JsonValue = None
) -> paths.Object:
    """One task of a Volcano Job."""
    return present(name=name, replicas=replicas, template=pod_template or template())


def volcano_job(*tasks: paths.Object, queue: str | None = None, **metadata: Unpack[Metadata]) -> paths.Object:
    spec = present(queue=queue, tasks=list(tasks) or [volcano_task(replicas=1)])
    return object_of("batch.volcano.sh/v1alpha1", "Job", spec, metadata)
