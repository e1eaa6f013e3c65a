"""The verdict of a queue in the Rego input: the shortages, with numbers for messages."""

from collections.abc import Sequence
from itertools import islice
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.authorities.kueue import queues
from usher.authorities.kueue.flavors import FlavorRefusal
from usher.authorities.kueue.verdict import FlavorCapacity, FlavorShortage, KueueVerdict, UnmatchedPods
from usher.authorities.verdict import Answer, worst
from usher.kinds.reading.shapes import Amount, amount_of

MOST: Final = 8
"""How many entries of a list a message may name."""


class UncoveredInput(TypedDict):
    """A resource without quota in the queue."""

    resource: str
    path: NotRequired[str]
    """The path of the request."""


class FlavorRefusalInput(TypedDict):
    flavor: str
    reason: str
    byTopology: NotRequired[bool]
    """Whether topology is the only reason."""
    level: NotRequired[str]
    """The level that its Topology lacks."""
    levels: NotRequired[list[str]]
    """The levels of its Topology."""
    held: NotRequired[int]
    """The most of the pods that its nodes could hold by topology, if this is too few."""


class UnmatchedPodsInput(TypedDict):
    """A pod set that no flavor of a resource group takes."""

    podSet: int
    """The index in `podSets`."""
    resources: list[str]
    flavors: list[FlavorRefusalInput]


class FlavorPartInput(TypedDict):
    """The demand of the pods of one pod set."""

    podSet: int
    pods: int
    each: Amount


class FlavorCapacityInput(TypedDict):
    """The most that the queue could give in a flavor."""

    flavor: str
    own: Amount
    borrowed: Amount
    most: Amount


class FlavorShortageInput(TypedDict):
    resource: str
    asked: Amount
    parts: list[FlavorPartInput]
    flavors: list[FlavorCapacityInput]
    fits: Amount
    """The most that these pods could ask for together, if all other pods stay as they are."""
    together: bool
    """Whether there is enough of each resource, but not of all of them in one flavor."""


class PodSetLimitInput(TypedDict):
    """The most pod sets that a version of Kueue accepts; the workload has more."""

    podSets: int
    most: int
    version: str


class KueueVerdictInput(TypedDict):
    outcome: str
    podSetLimit: NotRequired[PodSetLimitInput]
    uncovered: list[UncoveredInput]
    unmatched: list[UnmatchedPodsInput]
    shortages: list[FlavorShortageInput]
    unknowns: list[str]
    fitsIn: NotRequired[str]
    """Another LocalQueue of the namespace that could admit the workload."""


_OUTCOMES: Final = {Answer.NEVER: "never admissible", Answer.UNKNOWN: "unknown", Answer.COULD: "admissible"}


def verdict_input(found: Sequence[KueueVerdict], workload: model.Workload) -> KueueVerdictInput:
    """One verdict on the object, from the verdicts on all parts that Kueue admits separately."""
    uncovered = dict.fromkeys(name for verdict in found for name in verdict.uncovered)
    unmatched = [each for verdict in found for each in verdict.unmatched]
    shortages = [each for verdict in found for each in verdict.shortages]
    unknowns = dict.fromkeys(each for verdict in found for each in verdict.unknowns)
    limit = next((verdict.pod_set_limit for verdict in found if verdict.pod_set_limit is not None), None)
    result: KueueVerdictInput = {
        "outcome": _OUTCOMES[worst([Answer.COULD, *(verdict.answer for verdict in found)])],
        "uncovered": [_uncovered(name, workload) for name in islice(uncovered, MOST)],
        "unmatched": [_unmatched(each, workload) for each in unmatched[:MOST]],
        "shortages": [_shortage(each, workload) for each in shortages[:MOST]],
        "unknowns": list(islice(unknowns, MOST)),
    }
    if limit is not None:
        result["podSetLimit"] = {"podSets": limit.pod_sets, "most": limit.most, "version": limit.version}
    return result


def _uncovered(resource: str, workload: model.Workload) -> UncoveredInput:
    for pod_set in workload.pod_sets:
        for container in pod_set.containers:
            if resource in container.requests or resource in container.limits:
                return {"resource": resource, "path": container.first_path(resource)}
    return {"resource": resource}


def _unmatched(unmatched: UnmatchedPods, workload: model.Workload) -> UnmatchedPodsInput:
    return {
        "podSet": _index(unmatched.pods.pod_set, workload),
        "resources": list(unmatched.resources[:MOST]),
        "flavors": [_refusal(refusal) for refusal in unmatched.refusals[:MOST]],
    }


def _shortage(shortage: FlavorShortage, workload: model.Workload) -> FlavorShortageInput:
    resource = shortage.resource
    return {
        "resource": resource,
        "asked": _amount(resource, shortage.total),
        "parts": [
            {
                "podSet": _index(each.pod_set, workload),
                "pods": each.pods,
                "each": _amount(resource, each.total(resource) // each.pods),
            }
            for each in shortage.pods[:MOST]
        ],
        "flavors": [_capacity(resource, each) for each in shortage.flavors[:MOST]],
        "fits": _amount(resource, shortage.fits),
        "together": shortage.together,
    }


def _index(pod_set: model.PodSet, workload: model.Workload) -> int:
    return next(index for index, each in enumerate(workload.pod_sets) if each is pod_set)


def _capacity(resource: str, capacity: FlavorCapacity) -> FlavorCapacityInput:
    return {
        "flavor": capacity.flavor,
        "own": _amount(resource, min(capacity.own, capacity.most)),
        "borrowed": _amount(resource, max(capacity.most - capacity.own, 0)),
        "most": _amount(resource, capacity.most),
    }


def _refusal(refusal: FlavorRefusal) -> FlavorRefusalInput:
    result: FlavorRefusalInput = {"flavor": refusal.flavor, "reason": refusal.reason}
    if refusal.by_topology:
        result["byTopology"] = True
    if refusal.held is not None:
        result["held"] = refusal.held
    if refusal.level:
        result["level"] = refusal.level
        result["levels"] = list(refusal.levels)
    return result


def _amount(resource: str, number: int) -> Amount:
    return amount_of(queues.quantity_of(resource, number))
