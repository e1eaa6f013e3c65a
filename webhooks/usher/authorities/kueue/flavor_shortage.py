"""Explains why pod sets find no room in the flavors of a resource group, and which numbers would help."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavor_choice import Unit, assigned, total
from usher.authorities.kueue.queues import NO_QUOTA, ClusterQueue, FlavorResource, plus
from usher.authorities.kueue.verdict import FlavorCapacity, FlavorShortage
from usher.dataclass import dataclass

_Asking = Sequence[tuple[Unit, Sequence[str]]]
"""Units, each with the flavors that take it."""

_STEPS: Final = 64
"""Halvings that find any number of 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The units of one resource group, and the room in its flavors."""

    queue: ClusterQueue
    units: Sequence[Unit]
    allowed: Sequence[Sequence[str]]
    """For each unit, the flavors that take it."""
    resources: Sequence[str]
    most: Callable[[FlavorResource], int]

    def shortages(self) -> Iterator[FlavorShortage]:
        """The resources that are short on their own; else all resources, because no flavor has enough of each."""
        alone = [resource for resource in self.resources if self._fits([resource]) is False]
        for resource in alone or self.resources:
            yield self._shortage(resource, together=not alone)

    def _shortage(self, resource: str, *, together: bool) -> FlavorShortage:
        told = self._told(resource)
        names = dict.fromkeys(flavor for _, flavors in told for flavor in flavors)
        capacities = [
            FlavorCapacity(
                flavor=name,
                own=self.queue.quotas.by_flavor.get((name, resource), NO_QUOTA).nominal,
                most=self.most((name, resource)),
            )
            for name in names
        ]
        return FlavorShortage(
            resource=resource,
            pods=tuple(each for unit, _ in told for each in unit if each.total(resource)),
            flavors=tuple(sorted(capacities, key=lambda each: -each.most)),
            together=together,
            fits=0 if together else self._largest(told, resource),
            more=self._more(next(iter(names)), resource) if len(names) == 1 and not together else None,
        )

    def _told(self, resource: str) -> _Asking:
        """The units that explain a shortage best: those that need one flavor, or one that no flavor can hold."""
        asking = [
            (unit, flavors)
            for unit, flavors in zip(self.units, self.allowed, strict=True)
            if any(each.total(resource) for each in unit)
        ]
        for unit, flavors in asking:
            if len(flavors) > 1 and all(total(unit, resource) > self.most((name, resource)) for name in flavors):
                return [(unit, flavors)]
            if len(flavors) == 1:
                bound = [each for each in asking if each[1] == flavors]
                if sum(total(each, resource) for each, _ in bound) > self.most((flavors[0], resource)):
                    return bound
        return asking

    def _largest(self, told: _Asking, resource: str) -> int:
        """The most that some units could ask for together."""
        flavors = told[0][1]
        if any(each != flavors for _, each in told):
            # Each unit has a flavor that could hold all of them.
            return min(max(self.most((name, resource)) for name in names) for _, names in told)
        bound = {id(unit) for unit, _ in told}
        pod_set = told[0][0][0].pod_set
        others = [(unit, names) for unit, names in zip(self.units, self.allowed, strict=True) if id(unit) not in bound]

        def fits(amount: int) -> bool:
            one = [CountedPods(pod_set=pod_set, pods=1, each={resource: amount})]
            units, allowed = [one, *(unit for unit, _ in others)], [flavors, *(names for _, names in others)]
            return assigned(units, allowed, [resource], self.most) is True

        top = sum(total(unit, resource) for unit, _ in told)
        return top - _least(0, top, lambda less: fits(top - less)) if fits(0) else 0

    def _more(self, flavor: str, resource: str) -> int | None:
        """The smallest additional quota of one flavor with which all units find room."""
        top = sum(total(unit, resource) for unit in self.units)

        def fits(more: int) -> bool:
            def most(key: FlavorResource) -> int:
                return plus(self.most(key), more if key == (flavor, resource) else 0)

            return assigned(self.units, self.allowed, self.resources, most) is not False

        return _least(1, top, fits) if fits(top) else None

    def _fits(self, resources: Sequence[str]) -> bool | None:
        return assigned(self.units, self.allowed, resources, self.most)


def _least(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The smallest number from `low` to `high` for which a condition holds that holds for all larger ones."""
    for _ in range(_STEPS):
        if low >= high:
            break
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
