"""What namespaces have for tests of feasibility."""

from collections.abc import Mapping

import builders
from usher import paths


def quota(
    hard: Mapping[str, str],
    *,
    used: Mapping[str, str] | None = None,
    scopes: list[str] | None = None,
    selector: list[Mapping[str, builders.JsonValue]] | None = None,
) -> paths.Object:
    """A ResourceQuota; `selector` are the expressions of its scopeSelector."""
    spec: dict[str, builders.JsonValue] = {"hard": hard}
    if scopes is not None:
        spec["scopes"] = scopes
    if selector is not None:
        spec["scopeSelector"] = {"matchExpressions": selector}
    value = builders.custom("v1", "ResourceQuota", spec, name="quota")
    return value if used is None else {**value, "status": {"used": dict(used)}}


def of_class(operator: str, *values: str) -> Mapping[str, builders.JsonValue]:
    """A requirement on the PriorityClass of pods."""
    return {"scopeName": "PriorityClass", "operator": operator, **({"values": list(values)} if values else {})}
