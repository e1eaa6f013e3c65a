"""The room of a ClusterQueue now: its capacity, minus the reservations in its tree.

The formula is that of `available` in KQ:pkg/cache/scheduler/resource_node.go. `local` is as in `capacity`. For every
flavor and resource:

    usage(queue)    = status.flavorsReservation
    usage(cohort)   = the sum over its children of max(0, usage(child) - local(child))
    available(node) = no parent ? subtree(node) - usage(node)
                    : max(0, local(node) - usage(node)) + above, where above is
                      min(available(parent), subtree(node) - local(node) - max(0, usage(node) - local(node))
                                             + borrowingLimit [if set])

Preemption does not count.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from usher import errors, paths, quantities
from usher.authorities.kueue import queues as kueue_queues
from usher.authorities.kueue.capacity import Capacities, local
from usher.authorities.kueue.queues import (
    GROUP,
    NO_QUOTA,
    UNLIMITED,
    ClusterQueue,
    FlavorQuotas,
    FlavorResource,
    problems_of,
)
from usher.cluster.facts.store import Objects, Store
from usher.dataclass import dataclass
from usher.kinds.reading.values import Absence, Reading

_PLACE = "/status/flavorsReservation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """The amounts that a ClusterQueue has reserved for workloads."""

    by_flavor: Mapping[FlavorResource, int]
    """Reserved amounts."""
    problems: tuple[str, ...] = ()
    """Why the queue may have reserved more."""


def read(name: str, value: Mapping[str, paths.Json]) -> Reserved:
    """The reservations in the status of a ClusterQueue; unknown without a status, as in manifests."""
    reading = Reading()
    status = value.get("status")
    listed = status.get("flavorsReservation") if isinstance(status, dict) else None
    if listed is None:
        return Reserved(by_flavor={}, problems=(f"the current reservations of ClusterQueue {name} are not known",))
    found: dict[FlavorResource, int] = {}
    for path, flavor in reading.items(listed, _PLACE):
        flavor_name = reading.text(flavor.get("name"), path + "/name")
        for place, resource in reading.items(flavor.get("resources"), path + "/resources"):
            resource_name = reading.text(resource.get("name"), place + "/name")
            try:
                total = quantities.parse(resource.get("total", "0"))
            except errors.QuantityError as error:
                reading.unknown(place + "/total", str(error))
                continue
            found[flavor_name, resource_name] = max(kueue_queues.amount(resource_name, total), 0)
    return Reserved(by_flavor=found, problems=problems_of("ClusterQueue", name, reading))


def of(facts: Store, capacities: Capacities) -> "Free":
    """The free amounts of a cluster; the same value until a ClusterQueue or its status changes."""
    found = facts.objects(GROUP, "ClusterQueue")
    if isinstance(found, Absence):
        return Free(capacities, {})
    # A status changes without a new revision, but each change replaces the objects.
    kept: dict[str, tuple[Objects, Capacities, Free]] = facts.derived("free in kueue", [(GROUP, "ClusterQueue")], dict)
    last = kept.get("")
    if last is None or last[0] is not found or last[1] is not capacities:
        free = Free(capacities, {name: read(name, value) for name, value in found.items()})
        last = kept[""] = found, capacities, free
    return last[2]


@dataclass(slots=True)
class _Use:
    """The usage of a cohort."""

    amounts: dict[FlavorResource, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """Problems of the whole tree; all its cohorts share one list."""


class Free:
    """The free amounts of all ClusterQueues of a cluster; a `capacity.Supply`."""

    def __init__(self, capacities: Capacities, reserved: Mapping[str, Reserved]) -> None:
        self._capacities = capacities
        self._reserved = reserved
        self._cohorts: dict[str, _Use] = {}
        for name, node in capacities.counted.items():
            self._cohorts[name] = _Use(problems=self._cohorts[node.parent].problems if node.parent else [])
            for queue in node.queues:
                self._cohorts[name].problems += self._of(queue).problems
        for name in reversed(capacities.counted):
            self._cohorts[name].amounts = self._sum(name)

    def reserved(self, queue: ClusterQueue, flavor_resource: FlavorResource) -> int | None:
        """The amount that the queue itself has reserved; None where it is unknown."""
        found = self._of(queue)
        return None if found.problems else found.by_flavor.get(flavor_resource, 0)

    def of(self, queue: ClusterQueue, flavor_resource: FlavorResource) -> int:
        """The amount that is free for certain; 0 where usage is unknown."""
        return 0 if self.problems(queue) else self._available(queue, flavor_resource)

    def bound(self, queue: ClusterQueue, flavor_resource: FlavorResource) -> int:
        """The most that may be free; unknown usage counts as 0."""
        most = self._capacities.bound(queue, flavor_resource)
        return most if self._capacities.problems(queue) else min(most, self._available(queue, flavor_resource))

    def problems(self, queue: ClusterQueue) -> tuple[str, ...]:
        use = self._cohorts.get(queue.cohort)
        reserved = self._of(queue).problems if use is None else use.problems
        return tuple(dict.fromkeys((*self._capacities.problems(queue), *reserved)))

    def borrows(self, queue: ClusterQueue, flavor_resource: FlavorResource, amount: int) -> bool | None:
        reserved = self.reserved(queue, flavor_resource)
        return None if reserved is None else self._capacities.borrows(queue, flavor_resource, reserved + amount)

    @property
    def is_current(self) -> bool:
        return True

    def has_one_cohort(self, queue: ClusterQueue) -> bool:
        return self._capacities.has_one_cohort(queue)

    def _of(self, queue: ClusterQueue) -> Reserved:
        return self._reserved.get(queue.name) or read(queue.name, {})

    def _sum(self, name: str) -> dict[FlavorResource, int]:
        node = self._capacities.counted[name]
        total: defaultdict[FlavorResource, int] = defaultdict(int)
        for child_name in node.cohorts:
            child = self._capacities.counted[child_name]
            for key, amount in self._cohorts[child_name].amounts.items():
                total[key] += max(0, amount - _kept(child.quotas, key, child.subtree.get(key, 0)))
        for queue in node.queues:
            for key, amount in self._of(queue).by_flavor.items():
                total[key] += max(0, amount - _kept(queue.quotas, key, _nominal(queue, key)))
        return dict(total)

    def _available(self, queue: ClusterQueue, key: FlavorResource) -> int:
        path = [_Place(queue.quotas, _nominal(queue, key), self._of(queue).by_flavor.get(key, 0))]
        parent = queue.cohort if queue.cohort in self._capacities.counted else ""
        while parent:
            node = self._capacities.counted[parent]
            used = self._cohorts[parent].amounts.get(key, 0)
            path.append(_Place(node.quotas, node.subtree.get(key, 0), used))
            parent = node.parent
        # As in Kueue, an intermediate result may be below 0: after a quota is lowered, usage may exceed it.
        root = path.pop()
        found = root.subtree - root.used
        for place in reversed(path):
            kept = _kept(place.quotas, key, place.subtree)
            borrowing = place.quotas.by_flavor.get(key, NO_QUOTA).borrowing
            if borrowing is not None:
                found = min(found, place.subtree - kept - max(0, place.used - kept) + borrowing)
            found += max(0, kept - place.used)
        return min(max(found, 0), UNLIMITED)


class _Place(NamedTuple):
    """A queue or a cohort on the way to the root, with its amounts of one flavor and resource."""

    quotas: FlavorQuotas
    subtree: int
    used: int


def _nominal(queue: ClusterQueue, key: FlavorResource) -> int:
    return queue.quotas.by_flavor.get(key, NO_QUOTA).nominal


def _kept(quotas: FlavorQuotas, key: FlavorResource, subtree: int) -> int:
    return local(subtree, quotas.by_flavor.get(key, NO_QUOTA).lending)
