"""What keeps a pod from a place, and by how much: the fewest kinds of it, and then the least, is nearest."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction

from usher.accelerators import mig, profiles
from usher.accelerators.profiles import Profile
from usher.authorities.nodes.places import Place, Template
from usher.authorities.nodes.pod_demand import Ask, Way
from usher.facts.node_reading import PODS, Amounts, Taint
from usher.scheduling import requirements, taints
from usher.scheduling.requirements import Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """More is asked for of a resource than one node has."""

    resource: str
    asked: int
    """As the scheduler counts, `most` as well."""
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacles:
    shortages: tuple[Shortage, ...] = ()
    taints: tuple[Taint, ...] = ()
    labels: tuple[Requirement, ...] = ()
    """Requirements on labels that are not met."""
    names: tuple[Requirement, ...] = ()
    """Requirements on the name of the node that are not met."""
    nowhere: bool = False
    """Whether its affinity matches no node at all, whatever the labels."""

    def __bool__(self) -> bool:
        return any((self.shortages, self.taints, self.labels, self.names, self.nowhere))

    @property
    def weight(self) -> tuple[int, Fraction]:
        """How many kinds of obstacles there are, and how large they are together.

        A taint or a label weighs 1, a resource the part of it that is missing, and 2 where nothing of it is there:
        a node without GPUs is farther away than one whose taint is not tolerated.
        """
        kinds = (self.shortages, self.taints, self.labels or self.nowhere, self.names)
        size = Fraction(len(self.taints) + len(self.labels) + len(self.names) + self.nowhere)
        for each in self.shortages:
            size += Fraction(each.asked - each.most, each.asked) if each.most else 2
        return sum(map(bool, kinds)), size


def of_taints(ask: Ask, place: Place) -> tuple[Taint, ...]:
    """The taints that keep the pod off; a pod that names its node is kept off by those alone that evict it."""
    found = taints.untolerated(ask.tolerations, place.taints)
    return tuple(taint for taint in found if not ask.node_name or taint.effect == "NoExecute")


def of_labels(way: Way, place: Place, own: Container[str]) -> list[Requirement]:
    """The requirements on labels that nodes of the place do not meet, but for labels that stand beside the classes."""
    labels = place.labels
    if place.template is not None:
        # What else such nodes carry is not known, and counts as fitting.
        return [each for each in way.on_labels if each.key in labels and not requirements.labels_match(each, labels)]
    return [each for each in way.on_labels if each.key not in own and not requirements.labels_match(each, labels)]


def fits_amounts(ask: Ask, amounts: Amounts, template: Template | None) -> bool:
    """Whether one node with these amounts has what the pod asks for."""
    if template is not None:
        return next(of_amounts(ask, amounts, template), None) is None
    for name, asked in ask.amounts.items():
        most = amounts.get(name, 0)
        if asked > most and (most or name not in ask.from_classes):
            return False
    return amounts.get(PODS, 1) > 0


def of_amounts(ask: Ask, amounts: Amounts, template: Template | None) -> Iterator[Shortage]:
    """What one node with these amounts lacks."""
    divided = _slices(ask) if template is not None and template.board is not None else {}
    for name, asked in ask.amounts.items():
        if name in amounts and (amounts[name] or name not in ask.from_classes):
            if asked > amounts[name]:
                yield Shortage(resource=name, asked=asked, most=amounts[name])
        elif (template is not None and template.offers(name)) or name in ask.from_classes or name in divided:
            continue
        else:
            yield Shortage(resource=name, asked=asked, most=0)
    if amounts.get(PODS, 1) < 1:
        yield Shortage(resource=PODS, asked=1, most=0)
    if template is not None and template.board is not None:
        yield from _of_slices(divided, ask, template)


def _of_slices(divided: dict[str, Profile], ask: Ask, template: Template) -> Iterator[Shortage]:
    assert template.board is not None  # noqa: S101 - asked before
    instances = {profile: ask.amounts[name] for name, profile in divided.items()}
    needed = mig.gpus_needed(template.board, instances)
    if needed is None or needed.at_least > template.gpus:
        for name, profile in divided.items():
            alone = mig.gpus_needed(template.board, {profile: 1})
            room = 0 if alone is None else (mig.room_beside(template.board, {}) or {}).get(profile, 1) * template.gpus
            yield Shortage(resource=name, asked=ask.amounts[name], most=min(room, ask.amounts[name] - 1))


def _slices(ask: Ask) -> dict[str, Profile]:
    """The MIG instances of its own that a pod asks for, by resource."""
    found = {name: profiles.of_resource(name) for name in ask.amounts}
    return {name: each.profile for name, each in found.items() if each is not None and not each.shared}


def least(ask: Ask, place: Place, own: Container[str]) -> Obstacles:
    """What keeps a pod from a place on the way, and on the nodes, that have the least of it."""
    guarding = of_taints(ask, place)
    shortages = min(
        (tuple(of_amounts(ask, amounts, place.template)) for amounts in place.frontier),
        key=lambda each: Obstacles(shortages=each).weight,
    )
    if not ask.ways:
        return Obstacles(shortages=shortages, taints=guarding, nowhere=True)
    labels = min((tuple(of_labels(way, place, own)) for way in ask.ways), key=len)
    return Obstacles(shortages=shortages, taints=guarding, labels=labels)
