"""Quotas of namespaces: our GPUQuota and the ResourceQuota of Kubernetes."""

from collections.abc import Mapping, Sequence
from typing import Any

from builders.objects import JsonValue, as_json, custom
from usher import paths


def gpu_quota(
    name: str = "research", gpus: Any = 16, *, status: Mapping[str, Any] | None = None, **spec: Any
) -> paths.Object:
    """A GPUQuota of so many GPUs for all namespaces, unless `namespaces` or `limits` say otherwise; None leaves out."""
    fields: dict[str, Any] = {"namespaces": ["*"], "limits": [{"hard": {"gpus": gpus}}], **spec}
    present = {key: value for key, value in fields.items() if value is not None}
    value = custom("gpu-usher.io/v1alpha1", "GPUQuota", present, name=name, namespace=None)
    return value if status is None else {**value, "status": as_json(status)}


def resource_quota(
    hard: Mapping[str, JsonValue],
    *,
    used: Mapping[str, JsonValue] | None = None,
    scopes: Sequence[str] | None = None,
    selector: Sequence[Mapping[str, JsonValue]] | None = None,
    name: str = "quota",
    namespace: str = "ml-research",
) -> paths.Object:
    """A ResourceQuota; `selector` are the expressions of its scopeSelector, and without `used` it has no status."""
    spec: dict[str, JsonValue] = {"hard": hard}
    if scopes is not None:
        spec["scopes"] = scopes
    if selector is not None:
        spec["scopeSelector"] = {"matchExpressions": selector}
    value = custom("v1", "ResourceQuota", spec, name=name, namespace=namespace)
    return value if used is None else {**value, "status": as_json({"hard": hard, "used": used})}
