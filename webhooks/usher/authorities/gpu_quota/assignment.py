"""Which quota holds for a namespace, by the GPUQuotas of the cluster and the quotas of usher.yaml.

At most one quota may hold for a namespace. `Undecided` says that several do, or that it is not known.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Malformed, Quota, Requirement
from usher.authorities.knowledge import Knowledge
from usher.authorities.priority import read as priority_read
from usher.config import selection
from usher.facts import namespaces
from usher.facts.store import Store
from usher.reading.lookup import Absence

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """It is undecided which quota holds; `reason` names those that may."""

    reason: str


def select(quotas: Iterable[Quota | Malformed], namespace: str, labels: Labels | None) -> Quota | Undecided | None:
    """The quota of a namespace; None where none holds.

    Args:
        quotas: all quotas, of the cluster and of usher.yaml.
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
            unsure.append(f"{quota} selects namespaces by labels, and the labels of {namespace} are not known")
        elif answer:
            holding.append(quota)
    if len(holding) > 1:
        unsure.insert(0, f"{_listed(holding)} hold for namespace {namespace}, but only one quota may")
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


SELECTED_BY: Final = ((GROUP, KIND), ("", "Namespace"))
"""Kinds of facts on which the assignment rests."""

_MOST: Final = 4096
"""Namespaces whose quota is remembered; names come from users."""


def read(known: Knowledge, namespace: str) -> Quota | Undecided | None:
    """The quota of a namespace; None where none holds. Remembered until a quota or a namespace changes."""
    remembered: dict[str, Quota | Undecided | None] = known.derived("quotas of namespaces", SELECTED_BY, dict)
    if namespace in remembered:
        return remembered[namespace]
    everything = quotas(known)
    found = select(everything, namespace, namespaces.labels(namespace, known.facts)) if everything else None
    if len(remembered) < _MOST:
        remembered[namespace] = found
    return found


def quotas(known: Knowledge) -> tuple[Quota | Malformed, ...]:
    """All quotas; those of usher.yaml last."""
    return known.derived("quotas", [(GROUP, KIND)], lambda: (*_of_cluster(known.facts), *_declared(known)))


def labels_of_namespaces(facts: Store) -> Mapping[str, Labels | None] | None:
    """Labels by namespace, None where they cannot be read; None where no namespaces are known."""
    found = facts.objects("", "Namespace")
    return None if isinstance(found, Absence) else {name: namespaces.labels(name, facts) for name in found}


def default_class(known: Knowledge) -> str:
    """The PriorityClass of pods that name none; empty where there is no such class, or it is not known."""
    return priority_read.default_name(known.facts, known.config.priorities.global_default) or ""


def _of_cluster(facts: Store) -> tuple[Quota | Malformed, ...]:
    found = facts.objects(GROUP, KIND)
    return () if isinstance(found, Absence) else tuple(definitions.of_object(found[name]) for name in sorted(found))


def _declared(known: Knowledge) -> tuple[Quota, ...]:
    return tuple(map(definitions.of_entry, known.config.quotas))
