"""Obstacles between a pod and a place. The nearest place has the fewest kinds of obstacles, then the smallest."""

from collections.abc import Container, Iterator
from fractions import Fraction

from usher.accelerators import mig
from usher.accelerators.mig import Profile
from usher.authorities.nodes.places import NodeTemplate, Place
from usher.authorities.nodes.pod_demand import Alternative, PodDemand
from usher.cluster.facts.nodes import PODS, Amounts, Taint
from usher.dataclass import dataclass
from usher.model import placement
from usher.model.placement import Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingAmount:
    """A resource that one node has less of than the pod asks for."""

    resource: str
    asked: int
    """The amount that the pod asks for, in the scheduler's units like `most`."""
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacles:
    amounts: tuple[MissingAmount, ...] = ()
    taints: tuple[Taint, ...] = ()
    labels: tuple[Requirement, ...] = ()
    """Unmet requirements on labels."""
    names: tuple[Requirement, ...] = ()
    """Unmet requirements on the name of the node."""
    nowhere: bool = False
    """Whether the affinity cannot match any node, with any labels."""

    def __bool__(self) -> bool:
        return any((self.amounts, self.taints, self.labels, self.names, self.nowhere))

    @property
    def weight(self) -> tuple[int, Fraction]:
        """The number of kinds of obstacles, and their size together.

        A taint or a label weighs 1. A resource weighs its missing part, and 2 where the node does not have the
        resource, which is a kind of its own: a node without GPUs is farther away than a node with an untolerated taint
        or with too few of them.
        """
        without = any(not each.most for each in self.amounts)
        kinds = (self.amounts, without, self.taints, self.labels or self.nowhere, self.names)
        size = Fraction(len(self.taints) + len(self.labels) + len(self.names) + self.nowhere)
        for each in self.amounts:
            size += Fraction(each.asked - each.most, each.asked) if each.most else 2
        return sum(map(bool, kinds)), size


def of_taints(demand: PodDemand, place: Place) -> tuple[Taint, ...]:
    """The taints that keep the pod off. Only evicting taints keep off a pod that names its node."""
    found = placement.untolerated(demand.tolerations, place.taints)
    return tuple(taint for taint in found if not demand.node_name or taint.effect == "NoExecute")


def of_labels(alternative: Alternative, place: Place, own: Container[str]) -> list[Requirement]:
    """The requirements that the nodes of the place do not meet, except for labels that differ from node to node."""
    labels = place.labels
    if place.template is not None:
        # Other labels of future nodes are unknown, and count as matching.
        return [
            each for each in alternative.on_labels if each.key in labels and not placement.labels_match(each, labels)
        ]
    return [each for each in alternative.on_labels if each.key not in own and not placement.labels_match(each, labels)]


def fits_amounts(demand: PodDemand, amounts: Amounts, template: NodeTemplate | None) -> bool:
    """Whether one node with these amounts has what the pod asks for."""
    if template is not None:
        return next(of_amounts(demand, amounts, template), None) is None
    for name, asked in demand.amounts.items():
        most = amounts.get(name, 0)
        if asked > most and (most or name not in demand.from_classes):
            return False
    return amounts.get(PODS, 1) > 0


def of_amounts(demand: PodDemand, amounts: Amounts, template: NodeTemplate | None) -> Iterator[MissingAmount]:
    """The amounts that one node with these amounts lacks."""
    divided = _slices(demand) if template is not None and template.board is not None else {}
    for name, asked in demand.amounts.items():
        if name in amounts and (amounts[name] or name not in demand.from_classes):
            if asked > amounts[name]:
                yield MissingAmount(resource=name, asked=asked, most=amounts[name])
        elif (template is not None and template.offers(name)) or name in demand.from_classes or name in divided:
            continue
        else:
            yield MissingAmount(resource=name, asked=asked, most=0)
    if amounts.get(PODS, 1) < 1:
        yield MissingAmount(resource=PODS, asked=1, most=0)
    if template is not None and template.board is not None:
        yield from _of_slices(divided, demand, template)


def _of_slices(divided: dict[str, Profile], demand: PodDemand, template: NodeTemplate) -> Iterator[MissingAmount]:
    assert template.board is not None  # noqa: S101 - asked before
    instances = {profile: demand.amounts[name] for name, profile in divided.items()}
    needed = mig.gpus_needed(template.board, instances)
    if needed is None or needed.at_least > template.gpus:
        for name, profile in divided.items():
            alone = mig.gpus_needed(template.board, {profile: 1})
            room = 0 if alone is None else (mig.room_beside(template.board, {}) or {}).get(profile, 1) * template.gpus
            yield MissingAmount(resource=name, asked=demand.amounts[name], most=min(room, demand.amounts[name] - 1))


def _slices(demand: PodDemand) -> dict[str, Profile]:
    """The exclusive MIG instances that a pod asks for, by resource."""
    found = {name: mig.profile_of_resource(name) for name in demand.amounts}
    return {name: each.profile for name, each in found.items() if each is not None and not each.shared}


def least(demand: PodDemand, place: Place, own: Container[str]) -> Obstacles:
    """The obstacles for the alternative and the nodes of a place that have the fewest."""
    guarding = of_taints(demand, place)
    missing = min(
        (tuple(of_amounts(demand, amounts, place.template)) for amounts in place.frontier),
        key=lambda each: Obstacles(amounts=each).weight,
    )
    if not demand.alternatives:
        return Obstacles(amounts=missing, taints=guarding, nowhere=True)
    labels = min((tuple(of_labels(alternative, place, own)) for alternative in demand.alternatives), key=len)
    return Obstacles(amounts=missing, taints=guarding, labels=labels)
