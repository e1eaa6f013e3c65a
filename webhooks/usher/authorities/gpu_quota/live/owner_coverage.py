"""Decides which pods a workload covers: as many as its own charge pays for, even if more pods name it as owner."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from usher.authorities.gpu_quota import amounts
from usher.authorities.gpu_quota.charge import ByClasses, together
from usher.authorities.gpu_quota.live.held import Held
from usher.authorities.gpu_quota.reconciliation import Holding

IsCharged = Callable[[Holding], bool]
"""Whether a ledger has an entry for an object."""

OwnerOf = Callable[[str, str], Holding | None]


def split(root: Holding, pods: Iterable[Holding], is_charged: IsCharged) -> tuple[list[Holding], list[Holding]]:
    """The pods that a workload covers, and the pods beyond its charge, which get their own charges."""
    charge = {} if root.finished else root.charge
    covered: list[Holding] = []
    alone: list[Holding] = []
    for pod in pods:
        (alone if is_charged(pod) else covered).append(pod)
    beyond = []
    for pod in sorted(alone, key=lambda each: each.name):
        if covers(charge, together(each.charge for each in (*covered, pod))):
            covered.append(pod)
        else:
            beyond.append(pod)
    return covered, beyond


def roots(
    everything: Iterable[Held], charged_owner: OwnerOf, is_charged: IsCharged, *, may_be_gone: Callable[[str], bool]
) -> list[Holding]:
    """All objects that no owner covers. Each has at least the sum of the pods that it covers.

    Args:
        everything: all objects of some namespaces.
        charged_owner: the topmost charged workload at or above an owner, by uid and namespace.
        is_charged: whether a ledger has an entry for an object.
        may_be_gone: whether the object with a uid may be deleted; it is not a root then.
    """
    found: dict[str, Holding] = {}
    pods: defaultdict[str, list[Holding]] = defaultdict(list)
    for held in everything:
        owner = charged_owner(held.owner, held.holding.namespace) if held.owner else None
        if owner is None:
            if not may_be_gone(held.holding.uid):
                found[held.holding.uid] = held.holding
        elif held.is_pod and not held.holding.finished:
            pods[owner.uid].append(held.holding)
    result = []
    for holding in found.values():
        covered, beyond = split(holding, pods.get(holding.uid, ()), is_charged)
        result += [at_least(holding, covered), *beyond]
    return result


def at_least(holding: Holding, pods: Iterable[Holding]) -> Holding:
    """A workload with at least the sum of the pods that it covers."""
    of_pods = together(pod.charge for pod in pods)
    if holding.finished:
        # The workload makes no more pods, but its running pods still hold their devices.
        return replace(holding, charge=of_pods, finished=False) if of_pods else holding
    if covers(holding.charge, of_pods):
        return holding
    classes = {*holding.charge, *of_pods}
    most = {each: amounts.highest([holding.charge.get(each, {}), of_pods.get(each, {})]) for each in classes}
    return replace(holding, charge=most)


def covers(charge: ByClasses, other: ByClasses) -> bool:
    """Whether a charge is at least another charge, over all classes: operators may change the class of pods."""
    has, needs = amounts.plus(*charge.values()), amounts.plus(*other.values())
    return all(has.get(unit, 0) >= nanos for unit, nanos in needs.items())
