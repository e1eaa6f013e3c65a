"""Decides which quota holds for a namespace, and finds problems of the quotas in usher.yaml.

At most one quota may hold for a namespace. `Undecided` says that several quotas hold, or that the answer is unknown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from usher.accelerators import boards
from usher.authorities import priority
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Malformed, Quota, Requirement
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts import store
from usher.cluster.facts.store import Store
from usher.config import pools as config_quotas
from usher.config import selection
from usher.kinds.reading.values import Absence

Labels = Mapping[str, str]


class Undecided(Struct, frozen=True, kw_only=True):
    """usher cannot decide which quota holds; `reason` names the quotas that may hold."""

    reason: str


def select_quota(
    quotas: Iterable[Quota | Malformed], namespace: str, labels: Labels | None
) -> Quota | Undecided | None:
    """The quota of a namespace; None where no quota holds.

    Args:
        quotas: all quotas of the cluster and of usher.yaml.
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


SELECTING_KINDS: Final = ((GROUP, KIND), ("", "Namespace"))
"""The kinds of facts that decide the assignment."""

_MOST: Final = 4096
"""How many namespaces are remembered with their quota. A bound is necessary: names come from users."""


def quota_of_namespace(known: Knowledge, namespace: str) -> Quota | Undecided | None:
    """The quota of a namespace; None where no quota holds. Remembered until a quota or a namespace changes."""
    remembered: dict[str, Quota | Undecided | None] = known.derived("quotas of namespaces", SELECTING_KINDS, dict)
    if namespace in remembered:
        return remembered[namespace]
    everything = all_quotas(known)
    found = select_quota(everything, namespace, store.namespace_labels(namespace, known.facts)) if everything else None
    if len(remembered) < _MOST:
        remembered[namespace] = found
    return found


def all_quotas(known: Knowledge) -> tuple[Quota | Malformed, ...]:
    """All quotas; the quotas of usher.yaml come last."""
    return known.derived("quotas", [(GROUP, KIND)], lambda: (*_of_cluster(known.facts), *_declared(known)))


def labels_of_namespaces(facts: Store) -> Mapping[str, Labels | None] | None:
    """Labels by namespace, None for unreadable labels; None for the whole map where the namespaces are unknown."""
    found = facts.objects("", "Namespace")
    return None if isinstance(found, Absence) else {name: store.namespace_labels(name, facts) for name in found}


def default_class(known: Knowledge) -> str:
    """The PriorityClass of pods without a class name; empty where there is no default class, or it is unknown."""
    return priority.default_class_name(known.facts, known.config.priorities.global_default) or ""


def _of_cluster(facts: Store) -> tuple[Quota | Malformed, ...]:
    found = facts.objects(GROUP, KIND)
    return () if isinstance(found, Absence) else tuple(definitions.of_object(found[name]) for name in sorted(found))


def _declared(known: Knowledge) -> tuple[Quota, ...]:
    return tuple(map(definitions.of_entry, known.config.quotas))


Problem = tuple[str, str]
"""A JSON Pointer into usher.yaml, and the problem there."""


def config_problems(quotas: Sequence[config_quotas.Quota]) -> Iterator[Problem]:
    """Errors: quotas that select the same namespaces by name, and unknown boards."""
    for index, number in _overlapping_pairs(quotas):
        if not _look_at_labels(quotas[number], quotas[index]):
            name = quotas[number].name
            text = f"quota {name} (entry {number}) can select the same namespace, but only one quota may hold for it"
            yield f"/quotas/{index}", text
    for index, quota in enumerate(quotas):
        board = None if quota.assumes is None else quota.assumes.board
        if board is not None and boards.by_name(board) is None:
            known = ", ".join(each.name for each in boards.BOARDS)
            yield f"/quotas/{index}/assumes/board", f"{board} is not a board that gpu-usher knows; it knows {known}"


def config_warnings(quotas: Sequence[config_quotas.Quota]) -> Iterator[Problem]:
    """Warnings: quotas that may select the same namespace by labels. usher.yaml does not contain these labels."""
    for index, number in _overlapping_pairs(quotas):
        if _look_at_labels(quotas[number], quotas[index]):
            name = quotas[number].name
            text = f"quota {name} (entry {number}) may select the same namespace; then neither is enforced there"
            yield f"/quotas/{index}", text


def _overlapping_pairs(quotas: Sequence[config_quotas.Quota]) -> Iterator[tuple[int, int]]:
    """Indexes of two quotas that may select the same namespace; the later quota comes first."""
    read = [definitions.of_entry(quota).requirements or () for quota in quotas]
    for index, quota in enumerate(quotas):
        for number, before in enumerate(quotas[:index]):
            by_name = selection.patterns_meet(quota.namespaces or ["*"], before.namespaces or ["*"])
            if by_name and not any(_contradict(one, other) for one in read[number] for other in read[index]):
                yield index, number


def _look_at_labels(first: config_quotas.Quota, second: config_quotas.Quota) -> bool:
    return first.namespace_selector is not None or second.namespace_selector is not None


def _contradict(first: Requirement, second: Requirement) -> bool:
    """Whether no namespace can have labels that meet both; only requirements on one label are compared."""
    if first.key != second.key:
        return False
    operators = {first.operator, second.operator}
    if operators == {"In"}:
        return first.values.isdisjoint(second.values)
    if operators == {"In", "NotIn"}:
        wanted, refused = (first, second) if first.operator == "In" else (second, first)
        return wanted.values <= refused.values
    return operators in ({"In", "DoesNotExist"}, {"Exists", "DoesNotExist"})
