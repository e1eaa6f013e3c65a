"""Judges whether pod sets can choose flavors so that all of them find room together."""

from collections.abc import Callable, Sequence
from typing import Final

from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.queues import FlavorResource, plus

Unit = Sequence[CountedPods]
"""Pod sets that must have the same flavor; usually a single pod set."""

_MOST_CHOOSING: Final = 64
"""The most units with several possible flavors; Kueue itself accepts 8 pod sets."""

_MOST_TRIES: Final = 500
"""The most choices that are tried; real queues need about as many as the workload has pod sets."""


def total(unit: Unit, resource: str) -> int:
    """The amount of a resource that the pod sets of a unit ask for together."""
    found = 0
    for asked in unit:
        found = plus(found, asked.total(resource))
    return found


def assigned(
    units: Sequence[Unit],
    allowed: Sequence[Sequence[str]],
    resources: Sequence[str],
    most: Callable[[FlavorResource], int],
) -> bool | None:
    """Whether each unit can have one of its flavors without exceeding the room of any flavor.

    Args:
        units: pod sets that need flavors.
        allowed: for each unit, the flavors that take it; at least one.
        resources: the resources to compare.
        most: the amount of a resource that a flavor can give.

    Returns:
        None where the choices are too many to try.
    """
    room = {flavor: [most((flavor, resource)) for resource in resources] for flavors in allowed for flavor in flavors}
    choosing: list[tuple[list[int], Sequence[str]]] = []
    for unit, flavors in zip(units, allowed, strict=True):
        amounts = [total(unit, resource) for resource in resources]
        if len(flavors) > 1:
            choosing.append((amounts, flavors))
        elif not fits(amounts, room[flavors[0]]):
            return False
        else:
            room[flavors[0]] = less(room[flavors[0]], amounts)
    if len(choosing) > _MOST_CHOOSING:
        return None
    # The largest units come first: if they do not fit, the search ends early.
    choosing.sort(key=lambda each: (len(each[1]), [-amount for amount in each[0]]))
    return _Choices(choosing, room).fit(0)


class _Choices:
    def __init__(self, choosing: Sequence[tuple[list[int], Sequence[str]]], room: dict[str, list[int]]) -> None:
        self._choosing = choosing
        self._room = room
        self._tries = 0

    def fit(self, index: int) -> bool | None:
        """Whether the units from `index` on fit into the remaining room; _MOST_CHOOSING bounds the recursion."""
        if index == len(self._choosing):
            return True
        amounts, flavors = self._choosing[index]
        for flavor in flavors:
            self._tries += 1
            if self._tries > _MOST_TRIES:
                return None
            room = self._room[flavor]
            if not fits(amounts, room):
                continue
            self._room[flavor] = less(room, amounts)
            found = self.fit(index + 1)
            self._room[flavor] = room
            if found is not False:
                return found
        return False


def fits(amounts: Sequence[int], room: Sequence[int]) -> bool:
    """Whether there is room for each amount."""
    return all(amount <= each for amount, each in zip(amounts, room, strict=True))


def less(room: Sequence[int], amounts: Sequence[int]) -> list[int]:
    """The room that is left after some amounts."""
    return [each - amount for amount, each in zip(amounts, room, strict=True)]
