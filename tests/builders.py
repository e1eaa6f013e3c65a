"""Kubernetes objects for tests, one function a kind. Nothing is asked for and nothing is set that a test does not say.

Fields of specs that the functions do not name go in as keywords spelt as in manifests: `pod(nodeSelector={"a": "b"})`.
Fields given as None are left out; `replaced` puts any value anywhere, null included. Every call makes new objects.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

import orjson

from usher import paths

GPU = "nvidia.com/gpu"

JsonValue = (
    Mapping[str, "JsonValue"] | Sequence["JsonValue"] | paths.Json  # read-only views, so that narrower types fit
)


class Metadata(TypedDict, total=False):
    """What goes into `metadata`; the name and the namespace have defaults."""

    name: str | None
    namespace: str | None
    generate_name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    owner_kind: str
    deletion_timestamp: str


def container(
    name: str = "main",
    *,
    gpus: int | str | None = None,
    requests: Mapping[str, JsonValue] | None = None,
    limits: Mapping[str, JsonValue] | None = None,
    env: Mapping[str, paths.Json] | None = None,
    claims: Sequence[str] = (),
    **fields: JsonValue,
) -> paths.Object:
    """A container; `gpus` is a limit of nvidia.com/gpu, and an object in `env` is a `valueFrom`."""
    gpu_limit = {} if gpus is None else {GPU: gpus}
    resources = _present(
        requests=requests,
        limits={**gpu_limit, **(limits or {})} or None,
        claims=[{"name": claim} for claim in claims] or None,
    )
    variables = [
        _present(name=key, valueFrom=value) if isinstance(value, dict) else {"name": key, "value": value}
        for key, value in (env or {}).items()
    ]
    return _present(
        name=name, image="registry.example.com/image:1", resources=resources or None, env=variables or None, **fields
    )


def sidecar(name: str = "sidecar", *, gpus: int | str | None = None) -> paths.Object:
    """An init container that goes on running."""
    return container(name, gpus=gpus, restartPolicy="Always")


def pod_spec(*containers: paths.Object, **fields: JsonValue) -> paths.Object:
    return _present(containers=list(containers) or [container()], **fields)


def template(
    *containers: paths.Object,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: JsonValue,
) -> paths.Object:
    """A pod template."""
    metadata = _present(labels=labels, annotations=annotations)
    return _present(metadata=metadata or None, spec=pod_spec(*containers, **spec))


def toleration(
    key: str | None = None, *, operator: str | None = None, value: JsonValue = None, effect: str | None = None
) -> paths.Object:
    return _present(key=key, operator=operator, value=value, effect=effect)


def expression(key: str, operator: str, *values: str) -> paths.Object:
    """A requirement of a node selector term."""
    return _present(key=key, operator=operator, values=list(values) or None)


def term(*expressions: paths.Object, fields: Sequence[paths.Object] = ()) -> paths.Object:
    """A node selector term; without anything in it, it matches no node."""
    return _present(matchExpressions=list(expressions) or None, matchFields=list(fields) or None)


def node_affinity(*terms: paths.Object) -> paths.Object:
    """An `affinity` that requires a node of one of the terms."""
    required = {"nodeSelectorTerms": list(terms)}
    return _json({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})


def pod(
    *containers: paths.Object,
    name: str | None = "example",
    namespace: str | None = "ml-research",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner_kind: str = "",
    **spec: JsonValue,
) -> paths.Object:
    metadata: Metadata = {"name": name, "namespace": namespace, "owner_kind": owner_kind}
    if labels is not None:
        metadata["labels"] = labels
    if annotations is not None:
        metadata["annotations"] = annotations
    return _object("v1", "Pod", pod_spec(*containers, **spec), metadata)


def node(
    name: str = "node-0",
    *,
    gpus: int | str | None = None,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[str] = (),
    allocatable: Mapping[str, JsonValue] | None = None,
    **spec: JsonValue,
) -> paths.Object:
    """A node with 96 CPUs and 1Ti of memory; taints as kubectl writes them, `key=value:NoSchedule`."""
    amounts = {"cpu": "96", "memory": "1Ti", "ephemeral-storage": "2Ti", "pods": "110"}
    amounts |= {} if gpus is None else {GPU: str(gpus)}
    entries = []
    for taint in taints:
        named, _, effect = taint.rpartition(":")
        key, _, value = named.partition("=")
        entries.append(_present(key=key, value=value or None, effect=effect))
    return _json(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "spec": _present(taints=entries or None, **spec),
            "status": {"allocatable": {**amounts, **(allocatable or {})}},
        }
    )


def deployment(
    pod_template: paths.Object | None = None,
    *,
    replicas: JsonValue = None,
    max_surge: JsonValue = None,
    strategy: str | None = None,
    **metadata: Unpack[Metadata],
) -> paths.Object:
    rolling = None if max_surge is None else {"maxSurge": max_surge}
    update = _present(type=strategy, rollingUpdate=rolling)
    spec = _present(replicas=replicas, strategy=update or None, template=pod_template or template())
    return _object("apps/v1", "Deployment", spec, metadata)


def stateful_set(
    pod_template: paths.Object | None = None, *, replicas: JsonValue = None, **metadata: Unpack[Metadata]
) -> paths.Object:
    return _object("apps/v1", "StatefulSet", _present(replicas=replicas, template=pod_template or template()), metadata)


def replica_set(
    pod_template: paths.Object | None = None, *, replicas: JsonValue = None, **metadata: Unpack[Metadata]
) -> paths.Object:
    return _object("apps/v1", "ReplicaSet", _present(replicas=replicas, template=pod_template or template()), metadata)


def daemon_set(pod_template: paths.Object | None = None, **metadata: Unpack[Metadata]) -> paths.Object:
    return _object("apps/v1", "DaemonSet", _present(template=pod_template or template()), metadata)


def job_spec(
    pod_template: paths.Object | None = None,
    *,
    parallelism: JsonValue = None,
    completions: JsonValue = None,
    suspend: JsonValue = None,
) -> paths.Object:
    return _present(
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
    return _object("batch/v1", "Job", spec, metadata)


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
    job_template = _present(
        metadata=None if job_labels is None else {"labels": job_labels},
        spec=job_spec(pod_template, parallelism=parallelism, completions=completions),
    )
    spec = _present(
        schedule="0 3 * * *", concurrencyPolicy=concurrency_policy, suspend=suspend, jobTemplate=job_template
    )
    return _object("batch/v1", "CronJob", spec, metadata)


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
    replica_specs = _present(
        Master=None if master is None else {"replicas": 1, "template": master},
        Worker=_present(replicas=workers, template=worker or template()),
    )
    spec = _present(elasticPolicy=elastic_policy, runPolicy=run_policy, pytorchReplicaSpecs=replica_specs)
    return _object("kubeflow.org/v1", "PyTorchJob", spec, metadata)


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
    replica_specs = _present(
        Launcher={"template": launcher or template()},
        Worker=_present(replicas=workers, template=worker or template()) if workers_wanted else None,
    )
    spec = _present(runPolicy=run_policy, mpiReplicaSpecs=replica_specs)
    return _object("kubeflow.org/v2beta1", "MPIJob", spec, metadata)


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
    return _present(name=name, replicas=replicas, template={"spec": spec})


def job_set(*replicated_jobs: paths.Object, suspend: JsonValue = None, **metadata: Unpack[Metadata]) -> paths.Object:
    spec = _present(suspend=suspend, replicatedJobs=list(replicated_jobs) or [replicated_job()])
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", spec, metadata)


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
    return _present(
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
    return _present(
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
    spec = {**ray_cluster_spec(*groups, head=head, autoscaling=autoscaling), **_present(suspend=suspend)}
    return _object("ray.io/v1", "RayCluster", spec, metadata)


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
    spec = _present(
        suspend=suspend,
        clusterSelector=cluster_selector,
        submissionMode=submission_mode,
        submitterPodTemplate=submitter,
        rayClusterSpec=ray_cluster_spec(*groups, head=head, autoscaling=autoscaling),
    )
    return _object("ray.io/v1", "RayJob", spec, metadata)


def volcano_task(
    name: str = "worker", pod_template: paths.Object | None = None, *, replicas: JsonValue = None
) -> paths.Object:
    """One task of a Volcano Job."""
    return _present(name=name, replicas=replicas, template=pod_template or template())


def volcano_job(*tasks: paths.Object, queue: str | None = None, **metadata: Unpack[Metadata]) -> paths.Object:
    spec = _present(queue=queue, tasks=list(tasks) or [volcano_task(replicas=1)])
    return _object("batch.volcano.sh/v1alpha1", "Job", spec, metadata)


def custom(api_version: str, kind: str, spec: Mapping[str, JsonValue], **metadata: Unpack[Metadata]) -> paths.Object:
    """An object of any kind."""
    return _object(api_version, kind, _json(spec), metadata)


def replaced(value: paths.Object, pointer: str, other: paths.Json) -> paths.Object:
    """A copy with something else at a place; the place may be new, what holds it must be there."""
    changed = _json(value)
    holder_pointer, _, _ = pointer.rpartition("/")
    key = paths.split(pointer)[-1]
    holder = paths.resolve(changed, holder_pointer)
    if isinstance(holder, list):
        holder[int(key)] = other
    elif isinstance(holder, dict):
        holder[key] = other
    else:
        raise LookupError(pointer)
    return changed


def _object(api_version: str, kind: str, spec: paths.Object, metadata: Metadata) -> paths.Object:
    owner_kind = metadata.get("owner_kind")
    owner = {"apiVersion": "example.com/v1", "kind": owner_kind, "name": "owner", "uid": "1", "controller": True}
    return _present(
        apiVersion=api_version,
        kind=kind,
        metadata=_present(
            name=metadata.get("name", None if "generate_name" in metadata else "example"),
            generateName=metadata.get("generate_name"),
            namespace=metadata.get("namespace", "ml-research"),
            labels=metadata.get("labels"),
            annotations=metadata.get("annotations"),
            ownerReferences=[owner] if owner_kind else None,
            deletionTimestamp=metadata.get("deletion_timestamp"),
        ),
        spec=spec,
    )


def _present(**fields: JsonValue) -> paths.Object:
    return _json({name: value for name, value in fields.items() if value is not None})


def _json(value: Mapping[str, JsonValue]) -> paths.Object:
    """A copy as JSON, so that no two objects share a part."""
    result: paths.Object = orjson.loads(orjson.dumps(value))
    return result
