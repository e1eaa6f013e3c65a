"""How far a workload answers for its pods: as far as its own charge goes, whichever of them name it as their owner."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from usher.authorities.gpu_quota import amounts
from usher.authorities.gpu_quota.charge import ByClasses, together
from usher.authorities.gpu_quota.reconciliation import Holding

Charged = Callable[[Holding], bool]
"""Whether a ledger has an entry for an object."""


def divided(root: Holding, pods: Iterable[Holding], charged: Charged) -> tuple[list[Holding], list[Holding]]:
    """The pods for which a workload answers, and those that are charged by themselves beyond what it is charged."""
    charge = {} if root.finished else root.charge
    within: list[Holding] = []
    alone: list[Holding] = []
    for pod in pods:
        (alone if charged(pod) else within).append(pod)
    beyond = []
    for pod in sorted(alone, key=lambda each: each.name):
        if covers(charge, together(each.charge for each in (*within, pod))):
            within.append(pod)
        else:
            beyond.append(pod)
    return within, beyond


def at_least(holding: Holding, pods: Iterable[Holding]) -> Holding:
    """A workload with no less than the pods take together for which it answers."""
    of_pods = together(pod.charge for pod in pods)
    if holding.finished:
        # It makes no pods any more, and holds what those have that it left running.
        return replace(holding, charge=of_pods, finished=False) if of_pods else holding
    if covers(holding.charge, of_pods):
        return holding
    classes = {*holding.charge, *of_pods}
    most = {each: amounts.highest([holding.charge.get(each, {}), of_pods.get(each, {})]) for each in classes}
    return replace(holding, charge=most)


def covers(charge: ByClasses, other: ByClasses) -> bool:
    """Whether a charge is no less, all classes together: operators may give pods another class than their template."""
    has, needs = amounts.plus(*charge.values()), amounts.plus(*other.values())
    return all(has.get(unit, 0) >= nanos for unit, nanos in needs.items())
