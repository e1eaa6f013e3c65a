"""Whether pod sets can choose flavors so that all of them find room together."""

from collections.abc import Callable, Sequence
from typing import Final

from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.queues import FlavorResource, plus

Unit = Sequence[CountedPods]
"""Pod sets that must have the same flavor; mostly one."""

_MOST_CHOOSING: Final = 64
"""Units with several possible flavors; Kueue itself accepts 8 pod sets."""

_MOST_TRIES: Final = 500
"""Choices that are tried; real queues need about as many as the workload has pod sets."""


def total(unit: Unit, resource: str) -> int:
    """What the pod sets of a unit ask of a resource together."""
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
    """Whether every unit can have one of its flavors, so that no flavor has to give more than it can.

    Args:
        units: pod sets that need flavors.
        allowed: the flavors that take each of them; at least one.
        resources: the resources to compare.
        most: what a flavor can give of a resource.

    Returns:
        None where there are too many choices to try.
    """
    room = {flavor: [most((flavor, resource)) for resource in resources] for flavors in allowed for flavor in flavors}
    choosing: list[tuple[list[int], Sequence[str]]] = []
    for unit, flavors in zip(units, allowed, strict=True):
        amounts = [total(unit, resource) for resource in resources]
        if len(flavors) > 1:
            choosing.append((amounts, flavors))
        elif not _fits(amounts, room[flavors[0]]):
            return False
        else:
            room[flavors[0]] = _less(room[flavors[0]], amounts)
    if len(choosing) > _MOST_CHOOSING:
        return None
    # The largest first: if they do not fit, no other choice is tried.
    choosing.sort(key=lambda each: (len(each[1]), [-amount for amount in each[0]]))
    return _Choices(choosing, room).fit(0)


def in_order(
    units: Sequence[Unit],
    allowed: Sequence[Sequence[str]],
    resources: Sequence[str],
    most: Callable[[FlavorResource], int],
) -> tuple[str, ...] | None:
    """The flavors that Kueue finds: it gives each unit the first flavor with room, and never revises a choice.

    Args:
        units: pod sets that need flavors, in their order.
        allowed: the flavors that take each of them, in their order.
        resources: the resources to compare.
        most: what a flavor can give of a resource.

    Returns:
        One for each unit; None where a unit finds no room.
    """
    room = {flavor: [most((flavor, resource)) for resource in resources] for flavors in allowed for flavor in flavors}
    found: list[str] = []
    for unit, flavors in zip(units, allowed, strict=True):
        amounts = [total(unit, resource) for resource in resources]
        taken = next((flavor for flavor in flavors if _fits(amounts, room[flavor])), None)
        if taken is None:
            return None
        room[taken] = _less(room[taken], amounts)
        found.append(taken)
    return tuple(found)


class _Choices:
    def __init__(self, choosing: Sequence[tuple[list[int], Sequence[str]]], room: dict[str, list[int]]) -> None:
        self._choosing = choosing
        self._room = room
        self._tries = 0

    def fit(self, index: int) -> bool | None:
        """Whether the units from an index on fit into the remaining room; _MOST_CHOOSING bounds the recursion."""
        if index == len(self._choosing):
            return True
        amounts, flavors = self._choosing[index]
        for flavor in flavors:
            self._tries += 1
            if self._tries > _MOST_TRIES:
                return None
            room = self._room[flavor]
            if not _fits(amounts, room):
                continue
            self._room[flavor] = _less(room, amounts)
            found = self.fit(index + 1)
            self._room[flavor] = room
            if found is not False:
                return found
        return False


def _fits(amounts: Sequence[int], room: Sequence[int]) -> bool:
    return all(amount <= each for amount, each in zip(amounts, room, strict=True))


def _less(room: Sequence[int], amounts: Sequence[int]) -> list[int]:
    return [each - amount for amount, each in zip(amounts, room, strict=True)]
