"""Pods with their parts, and the nodes that they run on."""

from collections.abc import Mapping, Sequence

from builders.objects import GPU, JsonValue, Metadata, as_json, object_of, present
from usher import paths


def container(
    name: str = "main",
    *,
    image: str = "registry.example.com/image:1",
    gpus: int | str | None = None,
    requests: Mapping[str, JsonValue] | None = None,
    limits: Mapping[str, JsonValue] | None = None,
    env: Mapping[str, paths.Json] | None = None,
    claims: Sequence[str] = (),
    **fields: JsonValue,
) -> paths.Object:
    """A container; `gpus` is a limit of nvidia.com/gpu, and an object in `env` is a `valueFrom`."""
    gpu_limit = {} if gpus is None else {GPU: gpus}
    resources = present(
        requests=requests,
        limits={**gpu_limit, **(limits or {})} or None,
        claims=[{"name": claim} for claim in claims] or None,
    )
    variables = [
        present(name=key, valueFrom=value) if isinstance(value, dict) else {"name": key, "value": value}
        for key, value in (env or {}).items()
    ]
    return present(name=name, image=image, resources=resources or None, env=variables or None, **fields)


def sidecar(name: str = "sidecar", *, gpus: int | str | None = None) -> paths.Object:
    """An init container that goes on running."""
    return container(name, gpus=gpus, restartPolicy="Always")


def pod_spec(*containers: paths.Object, **fields: JsonValue) -> paths.Object:
    return present(containers=list(containers) or [container()], **fields)


def template(
    *containers: paths.Object,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: JsonValue,
) -> paths.Object:
    """A pod template."""
    metadata = present(labels=labels, annotations=annotations)
    return present(metadata=metadata or None, spec=pod_spec(*containers, **spec))


def toleration(
    key: str | None = None, *, operator: str | None = None, value: JsonValue = None, effect: str | None = None
) -> paths.Object:
    return present(key=key, operator=operator, value=value, effect=effect)


def expression(key: str, operator: str, *values: str) -> paths.Object:
    """A requirement of a node selector term."""
    return present(key=key, operator=operator, values=list(values) or None)


def term(*expressions: paths.Object, fields: Sequence[paths.Object] = ()) -> paths.Object:
    """A node selector term; without anything in it, it matches no node."""
    return present(matchExpressions=list(expressions) or None, matchFields=list(fields) or None)


def node_affinity(*terms: paths.Object) -> paths.Object:
    """An `affinity` that requires a node of one of the terms."""
    required = {"nodeSelectorTerms": list(terms)}
    return as_json({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})


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
    return object_of("v1", "Pod", pod_spec(*containers, **spec), metadata)


def mutated_pod(name: str | None = "example", namespace: str | None = "ml-research") -> paths.Object:
    """A Pod without accelerators as the mutating webhook leaves it: its container sees no devices."""
    return pod(container(env={"NVIDIA_VISIBLE_DEVICES": "void"}), name=name, namespace=namespace)


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
        entries.append(present(key=key, value=value or None, effect=effect))
    return as_json(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "spec": present(taints=entries or None, **spec),
            "status": {"allocatable": {**amounts, **(allocatable or {})}},
        }
    )
