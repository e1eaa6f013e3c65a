"""A GPUQuota in the Rego input: the namespaces for which it holds, and other quotas that hold there."""

from collections.abc import Iterator, Mapping
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.authorities.authority import Case
from usher.authorities.gpu_quota import assignment, definitions
from usher.authorities.gpu_quota.assignment import Labels
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Quota
from usher.authorities.knowledge import Knowledge
from usher.kinds import registry

_ANY_LIMITS: Final[paths.Json] = [{"hard": {"gpus": 0}}]
"""Replaces unreadable limits: the namespaces of a quota do not depend on its limits."""

_PLACE: Final = "/spec/namespace"
"""The start of the paths of fields that select namespaces. A view leaves out fields of a wrong type."""

_MOST: Final = 5
"""How many namespaces and quotas are named."""


class Rival(TypedDict):
    """Another quota that holds for some of the namespaces. Only one quota may hold for a namespace."""

    name: str
    """The kind and name of the quota: `GPUQuota research`."""
    namespaces: list[str]
    """Some of the shared namespaces, in order."""


class QuotaObject(TypedDict):
    """The namespaces of a GPUQuota. Unknown fields are absent."""

    holds: NotRequired[bool]
    """Whether it holds for any existing namespace."""
    rivals: NotRequired[list[Rival]]


def of(case: Case, known: Knowledge) -> QuotaObject | None:
    """The namespaces of a GPUQuota; None for other objects and for an unreadable GPUQuota."""
    workload = case.workload
    if (workload.group, workload.kind) != (GROUP, KIND):
        return None
    quota = _quota(workload)
    if quota is None:
        return None
    labels = assignment.labels_of_namespaces(known.facts)
    if labels is None:
        return {}
    held = [name for name in sorted(labels) if assignment.holds(quota, name, labels[name])]
    result: QuotaObject = {"holds": bool(held)}
    if known.facts.knows(GROUP, KIND):
        result["rivals"] = list(_rivals(quota, held, labels, known))[:_MOST]
    return result


def _quota(workload: model.Workload) -> Quota | None:
    if any(unknown.path.startswith(_PLACE) for unknown in workload.unknowns):
        return None
    spec = workload.view.get(registry.BY_KEY[GROUP, KIND].key, {}).get("spec", {})
    said = {key: spec[key] for key in ("namespaces", "namespaceSelector") if key in spec}
    found = definitions.of_object({"metadata": {"name": workload.name}, "spec": {**said, "limits": _ANY_LIMITS}})
    return found if isinstance(found, Quota) else None


def _rivals(quota: Quota, held: list[str], labels: Mapping[str, Labels | None], known: Knowledge) -> Iterator[Rival]:
    for other in assignment.quotas(known):
        if isinstance(other, Quota) and str(other) != str(quota):
            shared = [name for name in held if assignment.holds(other, name, labels[name])]
            if shared:
                yield {"name": str(other), "namespaces": shared[:_MOST]}
