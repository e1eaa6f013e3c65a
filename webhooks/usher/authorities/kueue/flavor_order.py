"""The flavors that Kueue chooses in its own order; it never revises a choice.

KQ:pkg/scheduler/flavorassigner/flavorassigner.go:1065-1210 and 1263-1280. Each pod set gets the first flavor with room.
With `whenCanBorrow: TryNextFlavor` it gets the first in which the queue need not borrow, or else one in which the queue
borrows.
"""

from collections.abc import Sequence

from usher.authorities.kueue.capacity import Supply
from usher.authorities.kueue.flavor_choice import Unit, fits, less, total
from usher.authorities.kueue.queues import ClusterQueue
from usher.dataclass import dataclass


@dataclass(slots=True)
class _Left:
    """The rest of a flavor, and the amounts that earlier pod sets took, in the order of the resources."""

    room: list[int]
    taken: list[int]


def in_order(
    units: Sequence[Unit],
    allowed: Sequence[Sequence[str]],
    resources: Sequence[str],
    queue: ClusterQueue,
    supply: Supply,
) -> tuple[str, ...] | None:
    """One flavor for each unit; None where a unit finds no room, or usher does not know the choice.

    Args:
        units: pod sets that need flavors, in their order.
        allowed: for each unit, the flavors that take it, in their order.
        resources: the resources to compare.
        queue: the queue.
        supply: the room in its flavors.
    """
    order = _Order(resources, queue, supply)
    found: list[str] = []
    for unit, flavors in zip(units, allowed, strict=True):
        taken = order.take([total(unit, resource) for resource in resources], flavors)
        if taken is None:
            return None
        found.append(taken)
    return tuple(found)


class _Order:
    def __init__(self, resources: Sequence[str], queue: ClusterQueue, supply: Supply) -> None:
        self._resources = resources
        self._queue = queue
        self._supply = supply
        self._left: dict[str, _Left] = {}

    def take(self, amounts: list[int], flavors: Sequence[str]) -> str | None:
        """Takes amounts from the flavor that Kueue chooses for them."""
        taken = self._chosen(amounts, flavors)
        if taken is not None:
            left = self._of(taken)
            left.room = less(left.room, amounts)
            left.taken = [each + amount for each, amount in zip(left.taken, amounts, strict=True)]
        return taken

    def _chosen(self, amounts: list[int], flavors: Sequence[str]) -> str | None:
        policy = self._queue.fungibility
        borrowing: list[str] = []
        for flavor in flavors:
            if not fits(amounts, self._of(flavor).room):
                if self._supply.is_current and policy.may_preempt_first:
                    return None
                continue
            borrows = self._borrows(amounts, flavor) if policy.borrows_last else False
            if borrows is None:
                return None
            if not borrows:
                return flavor
            borrowing.append(flavor)
        # Among several flavors, Kueue prefers the one that it borrows from the nearest cohort.
        clear = len(borrowing) == 1 or self._supply.has_one_cohort(self._queue)
        return borrowing[0] if borrowing and clear else None

    def _borrows(self, amounts: list[int], flavor: str) -> bool | None:
        answers = {
            self._supply.borrows(self._queue, (flavor, resource), before + amount)
            for resource, before, amount in zip(self._resources, self._of(flavor).taken, amounts, strict=True)
            if amount
        }
        if True in answers:
            return True
        return None if None in answers else False

    def _of(self, flavor: str) -> _Left:
        if flavor not in self._left:
            room = [self._supply.of(self._queue, (flavor, resource)) for resource in self._resources]
            self._left[flavor] = _Left(room=room, taken=[0] * len(room))
        return self._left[flavor]
