"""The most that a ClusterQueue could give if Kueue admitted nothing else: its own quota, and what it can borrow.

The formula is that of potentialAvailable in KQ:pkg/cache/scheduler/resource_node.go (docs/domain/kueue.md#potential).
`local` is the amount that a node keeps for itself because of its lendingLimit. For every flavor and resource:

    local(node)     = lendingLimit set ? max(0, subtree(node) - lendingLimit) : 0
    subtree(queue)  = nominalQuota
    subtree(cohort) = nominalQuota + the sum over its children of subtree(child) - local(child)
    potential(node) = no parent ? subtree(node)
                    : min(subtree(node) + borrowingLimit [if set], local(node) + potential(parent))

A cohort without an object has no quota and no parent. A cohort that is its own ancestor has no capacity: Kueue does not
count its tree.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field
from typing import Final, Protocol

from usher.authorities.kueue.queues import (
    NO_QUOTA,
    UNLIMITED,
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    FlavorResource,
    minus,
    plus,
)
from usher.dataclass import dataclass

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


@dataclass(slots=True)
class Node:
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

    def __init__(self, queues: Iterable[ClusterQueue], cohorts: Iterable[Cohort], *, whole: bool = True) -> None:
        """`whole`: whether `cohorts` are all cohorts of the cluster."""
        self._whole = whole
        queues, cohorts = list(queues), list(cohorts)
        self._strays = [
            *(problem for queue in queues if queue.stray for problem in queue.problems),
            *(problem for cohort in cohorts if cohort.stray for problem in cohort.problems),
        ]
        self._nodes: dict[str, Node] = {
            cohort.name: Node(parent=cohort.parent, quotas=cohort.quotas, problems=cohort.problems)
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
            unread if self._whole else (*unread, f"usher does not know whether cohort {queue.cohort} has its own quota")
        )

    def borrows(self, queue: ClusterQueue, flavor_resource: FlavorResource, amount: int) -> bool | None:
        return bool(queue.cohort) and amount > queue.quotas.by_flavor.get(flavor_resource, NO_QUOTA).nominal

    @property
    def is_current(self) -> bool:
        return False

    def has_one_cohort(self, queue: ClusterQueue) -> bool:
        return queue.cohort in self.counted and not self.counted[queue.cohort].parent

    def _node(self, name: str) -> Node:
        return self._nodes.setdefault(name, Node(parent="", quotas=_NO_QUOTAS, problems=()))

    def _from_the_roots(self) -> list[str]:
        """Cohorts, each after its parent; without cohorts in a cycle or below one."""
        order = [name for name, node in self._nodes.items() if not node.parent]
        for name in order:
            order += self._nodes[name].cohorts
        return order

    def _sum_up(self, node: Node) -> None:
        total: defaultdict[FlavorResource, int] = defaultdict(int)
        for flavor_resource, quota in node.quotas.by_flavor.items():
            total[flavor_resource] = quota.nominal
        for name in node.cohorts:
            child = self._nodes[name]
            for flavor_resource, subtree in child.subtree.items():
                lending = child.quotas.by_flavor.get(flavor_resource, NO_QUOTA).lending
                total[flavor_resource] = plus(total[flavor_resource], minus(subtree, local(subtree, lending)))
        for queue in node.queues:
            for flavor_resource, quota in queue.quotas.by_flavor.items():
                lent = minus(quota.nominal, local(quota.nominal, quota.lending))
                total[flavor_resource] = plus(total[flavor_resource], lent)
        node.subtree = dict(total)

    def _hand_down(self, node: Node) -> None:
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


def local(subtree: int, lending: int | None) -> int:
    """The amount that a node keeps for itself because of its lendingLimit."""
    return 0 if lending is None else minus(subtree, lending)


def _potential(subtree: int, lending: int | None, borrowing: int | None, above: int) -> int:
    most = plus(local(subtree, lending), above)
    return most if borrowing is None else min(plus(subtree, borrowing), most)
