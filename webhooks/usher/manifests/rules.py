"""The rules of webhooks: which requests the API server asks about, from the registry of kinds."""

from collections.abc import Iterable, Sequence
from typing import Literal

from usher import paths
from usher.kinds.kind import Kind
from usher.kinds.registry import SCALES, WORKLOADS
from usher.review.scaling import SUB_RESOURCE

Scope = Literal["Namespaced", "Cluster", "*"]


def of_kinds(kinds: Iterable[Kind], *, operations: Sequence[str]) -> list[paths.Json]:
    """One rule for each group and set of versions; a rule for a kind that is not installed does no harm.

    Kinds that no API server serves are left out.
    """
    resources: dict[tuple[str, tuple[str, ...], Scope], list[str]] = {}
    for kind in filter(lambda each: each.plural, kinds):
        scope: Scope = "Cluster" if kind.cluster_scoped else "Namespaced"
        resources.setdefault((kind.group, kind.versions, scope), []).append(kind.plural)
    return [
        rule(group, versions, plurals, operations=operations, scope=scope)
        for (group, versions, scope), plurals in resources.items()
    ]


def of_scales() -> list[paths.Json]:
    """Rules for the scale of kinds that make pods. The scale of another kind arrives as an UPDATE of its target."""
    plurals: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for key in SCALES:
        kind = WORKLOADS.get(key)
        if kind is not None:
            plurals.setdefault((kind.group, kind.versions), []).append(f"{kind.plural}/{SUB_RESOURCE}")
    return [rule(group, served, resources, operations=["UPDATE"]) for (group, served), resources in plurals.items()]


def rule(
    group: str,
    versions: Sequence[str],
    resources: Sequence[str],
    *,
    operations: Sequence[str],
    scope: Scope = "Namespaced",
) -> paths.Object:
    """A rule for these resources of a group."""
    return {
        "apiGroups": [group],
        "apiVersions": list(versions),
        "resources": list(resources),
        "operations": list(operations),
        "scope": scope,
    }
