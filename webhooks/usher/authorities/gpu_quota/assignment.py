"""Decides which quota holds for a namespace, by the GPUQuotas of the cluster and the quotas of usher.yaml.

At most one quota may hold for a namespace. `Undecided` says that several quotas hold, or that the answer is unknown.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Malformed, Quota, Requirement
from usher.authorities.knowledge import Knowledge
from usher.authorities.priority import read as priority_read
from usher.cluster.facts import store
from usher.cluster.facts.store import Store
from usher.config import selection
from usher.dataclass import dataclass
from usher.kinds.reading.values import Absence

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """usher cannot decide which quota holds; `reason` names the quotas that may hold."""

    reason: str


def select(quotas: Iterable[Quota | Malformed], namespace: str, labels: Labels | None) -> Quota | Undecided | None:
    """The quota of a namespace; None where no quota holds.

    Args:
        quotas: all quotas of the cluster and of usher.yaml.
        namespace: the name of the namespace.
        labels: the labels of the namespace; None where they are unknown.
    """
    holding: list[Quota] = []
    unsure: list[str] = []
    for quota in quotas:
        if isinstance(quota, Malformed):
            if quota.namespaces is None or selection.matches_pattern(namespace, quota.namespaces):
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
    """Whether a quota holds for a namespace; None where unknown labels decide."""
    if quota.namespaces and not selection.matches_pattern(namespace, quota.namespaces):
        return False
    if quota.requirements and labels is None:
        return None
    return all(_fits(each, labels or {}) for each in quota.requirements or ())


def _fits(requirement: Requirement, labels: Labels) -> bool:
    """Whether labels meet a requirement. As in k8s.io/apimachinery pkg/labels, a missing label matches no value."""
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
"""The kinds of facts that decide the assignment."""

_MOST: Final = 4096
"""How many namespaces are remembered with their quota. A bound is necessary: names come from users."""


def read(known: Knowledge, namespace: str) -> Quota | Undecided | None:
    """The quota of a namespace; None where no quota holds. Remembered until a quota or a namespace changes."""
    remembered: dict[str, Quota | Undecided | None] = known.derived("quotas of namespaces", SELECTED_BY, dict)
    if namespace in remembered:
        return remembered[namespace]
    everything = quotas(known)
    found = select(everything, namespace, store.namespace_labels(namespace, known.facts)) if everything else None
    if len(remembered) < _MOST:
        remembered[namespace] = found
    return found


def quotas(known: Knowledge) -> tuple[Quota | Malformed, ...]:
    """All quotas; the quotas of usher.yaml come last."""
    return known.derived("quotas", [(GROUP, KIND)], lambda: (*_of_cluster(known.facts), *_declared(known)))


def labels_of_namespaces(facts: Store) -> Mapping[str, Labels | None] | None:
    """Labels by namespace, None for unreadable labels; None for the whole map where the namespaces are unknown."""
    found = facts.objects("", "Namespace")
    return None if isinstance(found, Absence) else {name: store.namespace_labels(name, facts) for name in found}


def default_class(known: Knowledge) -> str:
    """The PriorityClass of pods without a class name; empty where there is no default class, or it is unknown."""
    return priority_read.default_name(known.facts, known.config.priorities.global_default) or ""


def _of_cluster(facts: Store) -> tuple[Quota | Malformed, ...]:
    found = facts.objects(GROUP, KIND)
    return () if isinstance(found, Absence) else tuple(definitions.of_object(found[name]) for name in sorted(found))


def _declared(known: Knowledge) -> tuple[Quota, ...]:
    return tuple(map(definitions.of_entry, known.config.quotas))
