"""Objects that let others grow, one function a kind. Nothing is set that a test does not say but what has to be."""

from typing import Unpack

import builders
from usher import model, paths
from usher.kinds.reading.counts import Growth
from usher.workloads import grown_workloads


def horizontal_pod_autoscaler(
    *,
    kind: str = "Deployment",
    api_version: str | None = "apps/v1",
    target: str = "vllm",
    version: str = "v2",
    minimum: builders.JsonValue = None,
    maximum: builders.JsonValue = 10,
    **metadata: Unpack[builders.Metadata],
) -> paths.Object:
    reference = {"apiVersion": api_version, "kind": kind, "name": target}
    spec = {
        "scaleTargetRef": {key: text for key, text in reference.items() if text is not None},
        **({} if minimum is None else {"minReplicas": minimum}),
        **({} if maximum is None else {"maxReplicas": maximum}),
    }
    return builders.custom(f"autoscaling/{version}", "HorizontalPodAutoscaler", spec, **metadata)


def scaled_object(
    spec: dict[str, builders.JsonValue] | None = None,
    *,
    target: dict[str, builders.JsonValue] | None = None,
    **metadata: Unpack[builders.Metadata],
) -> paths.Object:
    """A ScaledObject with more fields in its spec, and in its reference to a target called `vllm`."""
    reference = {"name": "vllm", **(target or {})}
    return builders.custom(
        "keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": reference, **(spec or {})}, **metadata
    )


def scale(replicas: builders.JsonValue = None, **metadata: Unpack[builders.Metadata]) -> paths.Object:
    return builders.custom("autoscaling/v1", "Scale", {} if replicas is None else {"replicas": replicas}, **metadata)


def role_scaler(
    replicas: builders.JsonValue = None, *, name: str = "llm-decode", set_name: str = "llm", role: str = "decode"
) -> paths.Object:
    """The scaler that the controller makes for one role of a DisaggregatedSet."""
    labels = {"disaggregatedset.x-k8s.io/name": set_name, "disaggregatedset.x-k8s.io/role": role}
    spec = {} if replicas is None else {"replicas": replicas}
    return builders.custom("disaggregatedset.x-k8s.io/v1", "DisaggregatedSetRoleScaler", spec, name=name, labels=labels)


def growth_of(value: paths.Object, *, namespace: str = "") -> Growth:
    growth = grown_workloads.growth_of(value, namespace=namespace)
    assert growth is not None, "the object lets nothing grow"
    return growth


def readable_growth(value: paths.Object) -> Growth:
    """The growth of an object in which nothing is unknown."""
    growth = growth_of(value)
    assert growth.unknowns == ()
    return growth


def unknowns(value: paths.Object) -> list[tuple[str, str]]:
    """Path and reason of all that could not be read."""
    return [(unknown.path, unknown.reason) for unknown in growth_of(value).unknowns]


def unknown(path: str, reason: str) -> model.Unknown:
    return model.Unknown(path=path, reason=reason)
