"""Workloads of Kubernetes itself."""

from collections.abc import Mapping
from typing import Unpack

from builders.objects import JsonValue, Metadata, object_of, present
from builders.pods import container, template
from usher import paths


def deployment(
    pod_template: paths.Object | None = None,
    *,
    replicas: JsonValue = None,
    max_surge: JsonValue = None,
    strategy: str | None = None,
    **metadata: Unpack[Metadata],
) -> paths.Object:
    rolling = None if max_surge is None else {"maxSurge": max_surge}
    update = present(type=strategy, rollingUpdate=rolling)
    spec = present(replicas=replicas, strategy=update or None, template=pod_template or template())
    return object_of("apps/v1", "Deployment", spec, metadata)


def stateful_set(
    pod_template: paths.Object | None = None, *, replicas: JsonValue = None, **metadata: Unpack[Metadata]
) -> paths.Object:
    return object_of(
        "apps/v1", "StatefulSet", present(replicas=replicas, template=pod_template or template()), metadata
    )


def replica_set(
    pod_template: paths.Object | None = None, *, replicas: JsonValue = None, **metadata: Unpack[Metadata]
) -> paths.Object:
    return object_of("apps/v1", "ReplicaSet", present(replicas=replicas, template=pod_template or template()), metadata)


def daemon_set(pod_template: paths.Object | None = None, **metadata: Unpack[Metadata]) -> paths.Object:
    return object_of("apps/v1", "DaemonSet", present(template=pod_template or template()), metadata)


def job_spec(
    pod_template: paths.Object | None = None,
    *,
    parallelism: JsonValue = None,
    completions: JsonValue = None,
    suspend: JsonValue = None,
) -> paths.Object:
    return present(
        parallelism=parallelism, completions=completions, suspend=suspend, template=pod_template or template()
    )


def job(
    pod_template: paths.Object | None = None,
    *,
    parallelism: JsonValue = None,
    completions: JsonValue = None,
    suspend: JsonValue = None,
    **metadata: Unpack[Metadata],
) -> paths.Object:
    spec = job_spec(pod_template, parallelism=parallelism, completions=completions, suspend=suspend)
    return object_of("batch/v1", "Job", spec, metadata)


def gpu_job(gpus: int = 8, *, pods: int = 1, **metadata: Unpack[Metadata]) -> paths.Object:
    """A Job that runs all its pods at once, each with so many GPUs."""
    return job(template(container(gpus=gpus), restartPolicy="Never"), parallelism=pods, completions=pods, **metadata)


def cron_job(
    pod_template: paths.Object | None = None,
    *,
    parallelism: JsonValue = None,
    completions: JsonValue = None,
    concurrency_policy: str | None = None,
    suspend: JsonValue = None,
    job_labels: Mapping[str, str] | None = None,
    **metadata: Unpack[Metadata],
) -> paths.Object:
    """`job_labels` are those of the job template, which the Jobs get."""
    job_template = present(
        metadata=None if job_labels is None else {"labels": job_labels},
        spec=job_spec(pod_template, parallelism=parallelism, completions=completions),
    )
    spec = present(
        schedule="0 3 * * *", concurrencyPolicy=concurrency_policy, suspend=suspend, jobTemplate=job_template
    )
    return object_of("batch/v1", "CronJob", spec, metadata)
