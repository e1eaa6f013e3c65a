"""The most that a ClusterQueue could give if Kueue admitted nothing else, and the room that it has now.

The formula is that of potentialAvailable in KQ:pkg/cache/scheduler/resource_node.go (docs/domain/kueue.md#potential).
`local` is the amount that a node keeps for itself because of its lendingLimit. For every flavor and resource:

    local(node)     = lendingLimit set ? max(0, subtree(node) - lendingLimit) : 0
    subtree(queue)  = nominalQuota
    subtree(cohort) = nominalQuota + the sum over its children of subtree(child) - local(child)
    potential(node) = no parent ? subtree(node)
                    : min(subtree(node) + borrowingLimit [if set], local(node) + potential(parent))

A cohort without an object has no quota and no parent. A cohort that is its own ancestor has no capacity: Kueue does not
count its tree.

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
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Protocol

from msgspec import Struct, field

from usher import errors, paths, quantities
from usher.authorities.kueue import queues as kueue_queues
from usher.authorities.kueue.queues import (
    GROUP,
    NO_QUOTA,
    UNLIMITED,
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    FlavorResource,
    minus,
    plus,
    problems_of,
)
from usher.cluster.facts.store import Objects, Store
from usher.kinds.reading.values import Absence, Reading

_Amounts = dict[FlavorResource, int]

_NO_QUOTAS: Final = FlavorQuotas(groups=(), by_flavor={})

_LONGEST_CYCLE: Final = 8
"""How many names of a cycle a message lists."""


class Supply(Protocol):
    """The amounts that a queue can give: in an empty cluster (`Capacities`), or now (`Free`)."""

    def of(self, queue: ClusterQueue, flavor_resource: FlavorResource, /) -> int:
        """The amount that the queue gives for certain."""

    def bound(self, queue: ClusterQueue, flavor_resource: FlavorResource, /) -> int:
        """The most that the queue may give; equals `of` where the queue has no problems."""

    def problems(self, queue: ClusterQueue, /) -> tuple[str, ...]:
        """Why `of` and `bound` may differ."""

    def borrows(self, queue: ClusterQueue, flavor_resource: FlavorResource, amount: int, /) -> bool | None:
        """Whether the queue has to borrow for an amount; None where its own usage is unknown."""

    def has_one_cohort(self, queue: ClusterQueue, /) -> bool:
        """Whether the queue can borrow from one cohort only, because this cohort has no parent."""

    @property
    def is_current(self) -> bool:
        """Whether other workloads may use a part."""


class CohortNode(Struct):
    """A cohort in its tree."""

    parent: str
    quotas: FlavorQuotas
    problems: tuple[str, ...]
    cohorts: list[str] = field(default_factory=list)
    queues: list[ClusterQueue] = field(default_factory=list)
    subtree: _Amounts = field(default_factory=dict)
    potential: _Amounts = field(default_factory=dict)
    tree: list[str] = field(default_factory=list)
    """Problems of the whole tree; all its nodes share one list."""


class Capacities:
    """The capacities of all ClusterQueues of a cluster, computed once."""

    def __init__(self, queues: Iterable[ClusterQueue], cohorts: Iterable[Cohort], *, complete: bool = True) -> None:
        """`complete`: whether `cohorts` are all cohorts of the cluster."""
        self._complete = complete
        queues, cohorts = list(queues), list(cohorts)
        self._strays = [
            *(problem for queue in queues if queue.stray for problem in queue.problems),
            *(problem for cohort in cohorts if cohort.stray for problem in cohort.problems),
        ]
        self._nodes: dict[str, CohortNode] = {
            cohort.name: CohortNode(parent=cohort.parent, quotas=cohort.quotas, problems=cohort.problems)
            for cohort in cohorts
        }
        for queue in queues:
            if queue.cohort:
                self._node(queue.cohort).queues.append(queue)
        for name, node in list(self._nodes.items()):
            if node.parent:
                self._node(node.parent).cohorts.append(name)
        order = self._from_the_roots()
        for name in reversed(order):
            self._sum_up(self._nodes[name])
        for name in order:
            self._hand_down(self._nodes[name])
        self.counted = {name: self._nodes[name] for name in order}
        """The cohorts that Kueue can count; each comes after its parent."""

    def of(self, queue: ClusterQueue, flavor_resource: FlavorResource) -> int:
        """The amount of a resource that the queue can give in a flavor; unreadable quota counts as 0."""
        quota = queue.quotas.by_flavor.get(flavor_resource, NO_QUOTA)
        if not queue.cohort or queue.cohort not in self.counted:
            return quota.nominal
        above = self._nodes[queue.cohort].potential.get(flavor_resource, 0)
        return _potential(quota.nominal, quota.lending, quota.borrowing, above)

    def bound(self, queue: ClusterQueue, flavor_resource: FlavorResource) -> int:
        """The most that the queue can ever give; equals `of`, unless part of its tree is unknown."""
        if not self.problems(queue):
            return self.of(queue, flavor_resource)
        quota = queue.quotas.by_flavor.get(flavor_resource, NO_QUOTA)
        if queue.problems or quota.borrowing is None:
            return UNLIMITED
        return plus(quota.nominal, quota.borrowing)

    def problems(self, queue: ClusterQueue) -> tuple[str, ...]:
        """Unreadable or unknown parts of the queue's tree; they may let it give more than `of`."""
        if not queue.cohort:
            return queue.problems
        if queue.cohort not in self.counted:
            return (*queue.problems, self._cycle(queue.cohort))
        unread = tuple(dict.fromkeys((*queue.problems, *self._nodes[queue.cohort].tree, *self._strays)))
        return (
            unread
            if self._complete
            else (*unread, f"usher does not know whether cohort {queue.cohort} has its own quota")
        )

    def borrows(self, queue: ClusterQueue, flavor_resource: FlavorResource, amount: int) -> bool | None:
        return bool(queue.cohort) and amount > queue.quotas.by_flavor.get(flavor_resource, NO_QUOTA).nominal

    @property
    def is_current(self) -> bool:
        return False

    def has_one_cohort(self, queue: ClusterQueue) -> bool:
        return queue.cohort in self.counted and not self.counted[queue.cohort].parent

    def _node(self, name: str) -> CohortNode:
        return self._nodes.setdefault(name, CohortNode(parent="", quotas=_NO_QUOTAS, problems=()))

    def _from_the_roots(self) -> list[str]:
        """Cohorts, each after its parent; without cohorts in a cycle or below one."""
        order = [name for name, node in self._nodes.items() if not node.parent]
        for name in order:
            order += self._nodes[name].cohorts
        return order

    def _sum_up(self, node: CohortNode) -> None:
        total: defaultdict[FlavorResource, int] = defaultdict(int)
        for flavor_resource, quota in node.quotas.by_flavor.items():
            total[flavor_resource] = quota.nominal
        for name in node.cohorts:
            child = self._nodes[name]
            for flavor_resource, subtree in child.subtree.items():
                lending = child.quotas.by_flavor.get(flavor_resource, NO_QUOTA).lending
                total[flavor_resource] = plus(total[flavor_resource], minus(subtree, local_amount(subtree, lending)))
        for queue in node.queues:
            for flavor_resource, quota in queue.quotas.by_flavor.items():
                lent = minus(quota.nominal, local_amount(quota.nominal, quota.lending))
                total[flavor_resource] = plus(total[flavor_resource], lent)
        node.subtree = dict(total)

    def _hand_down(self, node: CohortNode) -> None:
        if not node.parent:
            node.potential = node.subtree
        else:
            parent = self._nodes[node.parent]
            node.potential = dict(parent.potential)
            for flavor_resource in {*node.subtree, *node.quotas.by_flavor}:
                subtree = node.subtree.get(flavor_resource, 0)
                quota = node.quotas.by_flavor.get(flavor_resource, NO_QUOTA)
                above = parent.potential.get(flavor_resource, 0)
                node.potential[flavor_resource] = _potential(subtree, quota.lending, quota.borrowing, above)
            node.tree = parent.tree
        node.tree += node.problems
        node.tree += (problem for queue in node.queues for problem in queue.problems)

    def _cycle(self, name: str) -> str:
        seen: dict[str, None] = {}
        while name not in seen:
            seen[name] = None
            name = self._nodes[name].parent
        names = list(seen)
        cycle = [*names[names.index(name) :], name]
        shown = cycle if len(cycle) <= _LONGEST_CYCLE else [*cycle[:_LONGEST_CYCLE], "..."]
        return f"cohort {name} is its own ancestor ({' -> '.join(shown)}), so Kueue cannot count its quota"


def local_amount(subtree: int, lending: int | None) -> int:
    """The amount that a node keeps for itself because of its lendingLimit."""
    return 0 if lending is None else minus(subtree, lending)


def _potential(subtree: int, lending: int | None, borrowing: int | None, above: int) -> int:
    most = plus(local_amount(subtree, lending), above)
    return most if borrowing is None else min(plus(subtree, borrowing), most)


_PLACE = "/status/flavorsReservation"


class Reserved(Struct, frozen=True, kw_only=True):
    """The amounts that a ClusterQueue has reserved for workloads."""

    by_flavor: Mapping[FlavorResource, int]
    """Reserved amounts."""
    problems: tuple[str, ...] = ()
    """Why the queue may have reserved more."""


def read_reservations(name: str, value: Mapping[str, paths.Json]) -> Reserved:
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


def free_amounts(facts: Store, capacities: Capacities) -> "Free":
    """The free amounts of a cluster; the same value until a ClusterQueue or its status changes."""
    found = facts.objects(GROUP, "ClusterQueue")
    if isinstance(found, Absence):
        return Free(capacities, {})
    # A status changes without a new revision, but each change replaces the objects.
    kept: dict[str, tuple[Objects, Capacities, Free]] = facts.derived("free in kueue", [(GROUP, "ClusterQueue")], dict)
    last = kept.get("")
    if last is None or last[0] is not found or last[1] is not capacities:
        free = Free(capacities, {name: read_reservations(name, value) for name, value in found.items()})
        last = kept[""] = found, capacities, free
    return last[2]


class _Use(Struct):
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
        return self._reserved.get(queue.name) or read_reservations(queue.name, {})

    def _sum(self, name: str) -> dict[FlavorResource, int]:
        node = self._capacities.counted[name]
        total: defaultdict[FlavorResource, int] = defaultdict(int)
        for child_name in node.cohorts:
            child = self._capacities.counted[child_name]
            for key, amount in self._cohorts[child_name].amounts.items():
                total[key] += max(0, amount - _kept_amount(child.quotas, key, child.subtree.get(key, 0)))
        for queue in node.queues:
            for key, amount in self._of(queue).by_flavor.items():
                total[key] += max(0, amount - _kept_amount(queue.quotas, key, _nominal(queue, key)))
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
            kept = _kept_amount(place.quotas, key, place.subtree)
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


def _kept_amount(quotas: FlavorQuotas, key: FlavorResource, subtree: int) -> int:
    return local_amount(subtree, quotas.by_flavor.get(key, NO_QUOTA).lending)
