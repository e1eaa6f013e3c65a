"""What the cluster says of a GPUQuota itself: for which namespaces it is, and which other quotas are so as well."""

from collections.abc import Iterator, Mapping
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.authorities.gpu_quota import assignment, definitions
from usher.authorities.gpu_quota.assignment import Labels
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Quota
from usher.config import models
from usher.facts.store import Store
from usher.kinds import registry

_ANY_LIMITS: Final[paths.Json] = [{"hard": {"gpus": 0}}]
"""Which namespaces a quota is for does not hang on its limits."""

_PLACE: Final = "/spec/namespace"
"""What the paths of all begin with that says which these are; a view leaves out what has a wrong type."""

_MOST: Final = 5
"""Namespaces and quotas that are named."""


class Rival(TypedDict):
    """Another quota that holds for some of the namespaces; for each of them only one may."""

    name: str
    """As people say it: `GPUQuota research`."""
    namespaces: list[str]
    """Some of them, in order."""


class QuotaObject(TypedDict):
    """Each field is absent where nobody can say."""

    holds: NotRequired[bool]
    """Whether there is any namespace that it is for."""
    rivals: NotRequired[list[Rival]]


def of(workload: model.Workload, facts: Store, config: models.Config) -> QuotaObject | None:
    """What is known of the namespaces of a GPUQuota; None for other objects, and for one that cannot be read."""
    if (workload.group, workload.kind) != (GROUP, KIND):
        return None
    quota = _quota(workload)
    if quota is None:
        return None
    labels = assignment.labels_of_namespaces(facts)
    if labels is None:
        return {}
    held = [name for name in sorted(labels) if assignment.holds(quota, name, labels[name])]
    result: QuotaObject = {"holds": bool(held)}
    if facts.knows(GROUP, KIND):
        result["rivals"] = list(_rivals(quota, held, labels, facts, config))[:_MOST]
    return result


def _quota(workload: model.Workload) -> Quota | None:
    if any(unknown.path.startswith(_PLACE) for unknown in workload.unknowns):
        return None
    spec = workload.view.get(registry.BY_KEY[GROUP, KIND].key, {}).get("spec", {})
    said = {key: spec[key] for key in ("namespaces", "namespaceSelector") if key in spec}
    found = definitions.of_object({"metadata": {"name": workload.name}, "spec": {**said, "limits": _ANY_LIMITS}})
    return found if isinstance(found, Quota) else None


def _rivals(
    quota: Quota, held: list[str], labels: Mapping[str, Labels | None], facts: Store, config: models.Config
) -> Iterator[Rival]:
    for other in assignment.quotas(facts, config):
        itself = not isinstance(other, Quota) or (other.name == quota.name and not other.declared)
        if isinstance(other, Quota) and not itself:
            shared = [name for name in held if assignment.holds(other, name, labels[name])]
            if shared:
                yield {"name": str(other), "namespaces": shared[:_MOST]}
