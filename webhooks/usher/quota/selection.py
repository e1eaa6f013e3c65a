"""Which quota holds for a namespace. For each at most one may; where two do, or nobody can tell, none is guessed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from usher.config import selection
from usher.quota.definitions import Malformed, Quota, Requirement

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Nobody can say which quota holds; `reason` names those that may."""

    reason: str


def of_namespace(
    quotas: Iterable[Quota | Malformed], namespace: str, labels: Labels | None
) -> Quota | Undecided | None:
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
