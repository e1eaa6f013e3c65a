"""Which GPUQuota holds for a namespace.

At most one may. Where two do, or nobody can tell, the answer is `Undecided`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Malformed, Quota, Requirement
from usher.authorities.priority import read as priority_read
from usher.config import models, selection
from usher.facts import namespaces
from usher.facts.store import Store
from usher.reading.lookup import Absence

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Nobody can say which quota holds; `reason` names those that may."""

    reason: str


def select(quotas: Iterable[Quota | Malformed], namespace: str, labels: Labels | None) -> Quota | Undecided | None:
    """The quota of a namespace; None where none holds.

    Args:
        quotas: all that there are, of the cluster and of usher.yaml.
        namespace: its name.
        labels: of the namespace; None where they are not known.
    """
    holding: list[Quota] = []
    unsure: list[str] = []
    for quota in quotas:
        if isinstance(quota, Malformed):
            if quota.namespaces is None or selection.matches(namespace, quota.namespaces):
                unsure.append(_malformed(quota))
            continue
        answer = holds(quota, namespace, labels)
        if answer is None:
            unsure.append(f"{quota} selects namespaces by labels, and those of {namespace} are not known")
        elif answer:
            holding.append(quota)
    if len(holding) > 1:
        unsure.insert(0, f"{_listed(holding)} all hold for namespace {namespace}, and only one may")
    if unsure:
        return Undecided(reason="; ".join(unsure[:5]))
    return holding[0] if holding else None


def holds(quota: Quota, namespace: str, labels: Labels | None) -> bool | None:
    """Whether a quota is for a namespace; None where labels decide that are not known."""
    if quota.namespaces and not selection.matches(namespace, quota.namespaces):
        return False
    if quota.requirements and labels is None:
        return None
    return all(_fits(each, labels or {}) for each in quota.requirements or ())


def _fits(requirement: Requirement, labels: Labels) -> bool:
    """As k8s.io/apimachinery pkg/labels has it: a label that is not there is in no list of values."""
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case _:
            return value is None


def _malformed(quota: Malformed) -> str:
    pointer, reason = quota.problems[0]
    return f"{quota} cannot be read: {pointer}: {reason}"


def _listed(quotas: Iterable[Quota]) -> str:
    names = sorted(str(quota) for quota in quotas)
    return ", ".join(names[:-1]) + f" and {names[-1]}"


_SELECTED_BY: Final = ((GROUP, KIND), ("", "Namespace"))

_MOST: Final = 4096
"""Namespaces whose quota is remembered; names come from whoever asks."""


def of_namespace(namespace: str, facts: Store, config: models.Config) -> Quota | Undecided | None:
    """The quota of a namespace; None where none holds. Selected anew only after a quota or a namespace has changed."""
    kept: dict[str, _Selected] = facts.derived("quotas of namespaces", _SELECTED_BY, dict)
    known = kept.get(namespace)
    # Configurations cannot be compared cheaply, and there is one at a time.
    if known is not None and known[0] is config:
        return known[1]
    everything = quotas(facts, config)
    found = select(everything, namespace, namespaces.labels(namespace, facts)) if everything else None
    if len(kept) < _MOST or known is not None:
        kept[namespace] = config, found
    return found


def quotas(facts: Store, config: models.Config) -> tuple[Quota | Malformed, ...]:
    """All quotas; those of usher.yaml last."""
    return (
        *facts.derived("quotas", [(GROUP, KIND)], lambda: _of_cluster(facts)),
        *map(definitions.of_entry, config.quotas),
    )


def labels_of_namespaces(facts: Store) -> Mapping[str, Labels | None] | None:
    """Of every namespace, None for those whose labels cannot be read; None where nobody gave any namespace."""
    found = facts.objects("", "Namespace")
    return None if isinstance(found, Absence) else {name: namespaces.labels(name, facts) for name in found}


_Selected = tuple[models.Config, Quota | Undecided | None]


def default_class(facts: Store, config: models.Config) -> str:
    """The PriorityClass of pods that name none; empty where there is none, and where nobody can say."""
    return priority_read.default_name(facts, config.priorities.global_default) or ""


def _of_cluster(facts: Store) -> tuple[Quota | Malformed, ...]:
    found = facts.objects(GROUP, KIND)
    return () if isinstance(found, Absence) else tuple(definitions.of_object(found[name]) for name in sorted(found))
