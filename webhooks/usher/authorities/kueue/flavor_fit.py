"""The verdict of Kueue on a workload in a queue: the flavors that take its pods, and the shortages.

KQ:pkg/scheduler/flavorassigner/flavorassigner.go:1065-1210 and 1263-1280. Each pod set gets the first flavor with room.
With `whenCanBorrow: TryNextFlavor` it gets the first in which the queue need not borrow, or else one in which the queue
borrows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue import topology as kueue_topology
from usher.authorities.kueue.capacity import Capacities, Supply
from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavors import Configuration, Flavor, FlavorRefusal, Topology
from usher.authorities.kueue.queues import NO_QUOTA, ClusterQueue, FlavorResource, ResourceGroup, plus
from usher.authorities.kueue.topology import TopologyNodes
from usher.authorities.verdict import Answer

Unit = Sequence[CountedPods]
"""Pod sets that must have the same flavor; usually a single pod set."""

_MOST_CHOOSING: Final = 64
"""The most units with several possible flavors; Kueue itself accepts 8 pod sets."""

_MOST_TRIES: Final = 500
"""The most choices that are tried; real queues need about as many as the workload has pod sets."""


class Cluster(Struct, frozen=True, kw_only=True):
    """The cluster-scoped objects; None for unknown kinds."""

    queues: Mapping[str, ClusterQueue] | None
    capacities: Capacities
    flavors: Mapping[str, Flavor] | None
    topologies: Mapping[str, Topology] | None
    nodes: TopologyNodes | None = None
    """The nodes for placement by topology."""


def total_request(unit: Unit, resource: str) -> int:
    """The amount of a resource that the pod sets of a unit ask for together."""
    found = 0
    for asked in unit:
        found = plus(found, asked.total(resource))
    return found


def can_assign(
    units: Sequence[Unit],
    allowed: Sequence[Sequence[str]],
    resources: Sequence[str],
    most: Callable[[FlavorResource], int],
) -> bool | None:
    """Whether each unit can have one of its flavors without exceeding the room of any flavor.

    Args:
        allowed: for each unit, the flavors that take it; at least one.
        resources: the resources to compare.
        most: the amount of a resource that a flavor can give.

    Returns:
        None where the choices are too many to try.
    """
    room = {flavor: [most((flavor, resource)) for resource in resources] for flavors in allowed for flavor in flavors}
    choosing: list[tuple[list[int], Sequence[str]]] = []
    for unit, flavors in zip(units, allowed, strict=True):
        amounts = [total_request(unit, resource) for resource in resources]
        if len(flavors) > 1:
            choosing.append((amounts, flavors))
        elif not has_room(amounts, room[flavors[0]]):
            return False
        else:
            room[flavors[0]] = room_left(room[flavors[0]], amounts)
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
            if not has_room(amounts, room):
                continue
            self._room[flavor] = room_left(room, amounts)
            found = self.fit(index + 1)
            self._room[flavor] = room
            if found is not False:
                return found
        return False


def has_room(amounts: Sequence[int], room: Sequence[int]) -> bool:
    """Whether there is room for each amount."""
    return all(amount <= each for amount, each in zip(amounts, room, strict=True))


def room_left(room: Sequence[int], amounts: Sequence[int]) -> list[int]:
    """The room that is left after some amounts."""
    return [each - amount for amount, each in zip(amounts, room, strict=True)]


class FlavorCapacity(Struct, frozen=True, kw_only=True):
    """The amounts of one resource that a queue could give in one flavor."""

    flavor: str
    own: int
    most: int


class FlavorShortage(Struct, frozen=True, kw_only=True):
    """A resource whose demand is higher than the queue could ever give."""

    resource: str
    pods: tuple[CountedPods, ...]
    """The pods that ask for the resource and must share it."""
    flavors: tuple[FlavorCapacity, ...]
    """Flavors that take the pods; the largest comes first."""
    together: bool = False
    """Whether there is enough of each resource, but not of all of them in one flavor."""
    fits: int = 0
    """The most that these pods could ask for together, if all other pods stay as they are."""
    lacks: int | None = None
    """How much more quota the only flavor needs so that all pods find room; None where that alone does not help."""

    @property
    def total(self) -> int:
        return total_request(self.pods, self.resource)


class UnmatchedPods(Struct, frozen=True, kw_only=True):
    """Pods that no flavor of a resource group takes."""

    pods: CountedPods
    resources: tuple[str, ...]
    refusals: tuple[FlavorRefusal, ...]


class PodSetLimit(Struct, frozen=True, kw_only=True):
    """The most pod sets of a Workload in a version of Kueue; the workload has more."""

    pod_sets: int
    most: int
    version: str


class FlavorChoice(Struct, frozen=True, kw_only=True):
    """The flavor that pods get for some of their resources."""

    pods: CountedPods
    resources: tuple[str, ...]
    flavor: str


class KueueVerdict(Struct, frozen=True, kw_only=True):
    answer: Answer
    """NEVER, UNKNOWN or COULD: the queue could admit it."""
    choices: tuple[FlavorChoice, ...] = ()
    """The chosen flavors; only where the answer is COULD and Kueue's own order finds room for every pod set."""
    takes_all: bool = True
    """False where all pods would fit, but Kueue may not find the room because it never revises a choice."""
    full: str = ""
    """The flavor that Kueue chooses for its quota although its nodes hold too few of the pods."""
    pod_set_limit: PodSetLimit | None = None
    """Set where the workload has more pod sets than Kueue accepts."""
    uncovered: tuple[str, ...] = ()
    """Resources without quota in any flavor of the queue."""
    unmatched: tuple[UnmatchedPods, ...] = ()
    shortages: tuple[FlavorShortage, ...] = ()
    unknowns: tuple[str, ...] = ()
    """Missing facts that make the answer UNKNOWN."""


LABELS_BY_VERSION: Final = (
    "Kueue before 0.17.6, 0.18.0 and 0.18.1 also refuse a flavor for a label that only another flavor declares, "
    "and usher does not know the version"
)


class MatchingFlavors(Struct, frozen=True, kw_only=True):
    """The flavors of a group that take a unit, in the order of the queue."""

    flavors: tuple[str, ...]
    sure: tuple[str, ...]
    """The flavors that take it in every version of Kueue that may run."""
    unmatched: UnmatchedPods | None = None
    """Set where no flavor takes the unit."""
    full: tuple[str, ...] = ()
    """The flavors that are left out because their nodes hold too few of the pods."""


class FlavorMatcher(Struct):
    """Compares pod sets with the flavors of one queue."""

    queue: ClusterQueue
    cluster: Cluster
    configuration: Configuration
    unknowns: dict[str, None] = field(default_factory=dict)
    """Missing facts about flavors."""

    def of(self, group: ResourceGroup, unit: Unit) -> MatchingFlavors:
        """The flavors of a group that take all pods of a unit."""
        found: list[str] = []
        sure: list[str] = []
        refusals: list[tuple[CountedPods, FlavorRefusal]] = []
        for name in group.flavors:
            refused = next(((each, no) for each in unit if (no := self._refusal(name, group, each))), None)
            if refused is None and (full := self._full(name, unit)) is not None:
                refused = (unit[0], full)
            if refused is not None:
                refusals.append(refused)
                continue
            found.append(name)
            if self._takes_in_every_version(name, group, unit):
                sure.append(name)
        if found:
            crowded = tuple(refusal.flavor for _, refusal in refusals if refusal.held is not None)
            return MatchingFlavors(flavors=tuple(found), sure=tuple(sure), full=crowded)
        unmatched = UnmatchedPods(
            pods=refusals[0][0] if refusals else unit[0],
            resources=tuple(sorted(name for name in group.resources if any(each.names(name) for each in unit))),
            refusals=tuple(refusal for _, refusal in refusals),
        )
        return MatchingFlavors(flavors=(), sure=(), unmatched=unmatched)

    def _refusal(self, name: str, group: ResourceGroup, asked: CountedPods) -> FlavorRefusal | None:
        flavor = self._flavor(name)
        if flavor is None:
            return None
        own = kueue_configuration.compares_declared_labels(self.configuration.version) is not False
        keys = flavor.node_labels.keys() if own else self._labels(group)
        refused = kueue_configuration.flavor_refusal(flavor, asked.as_admitted, keys)
        if refused is not None or not self.configuration.places_by_topology:
            return refused
        only, named = self._only_topologies(), kueue_demand.named_resources(asked.as_admitted)
        overlaps = not group.resources.isdisjoint(named)
        placed = flavor.topology and overlaps and (only or kueue_configuration.asks_topology(asked.pod_set))
        if placed and asked.pods and self._has_flavor_before(group, asked, named):
            # KQ:pkg/scheduler/flavorassigner/tas_flavorassigner.go:162
            reason = "another resource group gives the pods a flavor with a Topology too, and Kueue takes only one"
            return FlavorRefusal(flavor=name, reason=reason, by_topology=True)
        return kueue_configuration.topology_refusal(
            flavor, asked.pod_set, self._levels(flavor, asked), overlaps=overlaps, only_topologies=only
        )

    def _has_flavor_before(self, group: ResourceGroup, asked: CountedPods, named: frozenset[str]) -> bool:
        """Whether an earlier group of the queue gives the pods a flavor for what they ask for themselves."""
        groups = self.queue.quotas.groups
        earlier = (each.resources for each in groups[: groups.index(group)])
        return any(name in named and asked.names(name) for resources in earlier for name in resources)

    def _takes_in_every_version(self, name: str, group: ResourceGroup, unit: Unit) -> bool:
        flavor = (self.cluster.flavors or {}).get(name)
        if (
            flavor is None
            or flavor.problems
            or kueue_configuration.compares_declared_labels(self.configuration.version) is not None
        ):
            return True
        return not any(
            kueue_configuration.flavor_refusal(flavor, each.as_admitted, self._labels(group)) for each in unit
        )

    def _full(self, name: str, unit: Unit) -> FlavorRefusal | None:
        """Why the nodes of a flavor never hold the pods where its Topology has to place them."""
        flavor = (self.cluster.flavors or {}).get(name)
        topology = (self.cluster.topologies or {}).get(flavor.topology) if flavor is not None else None
        nodes = self.cluster.nodes
        if flavor is None or topology is None or flavor.problems or topology.problems or nodes is None:
            return None
        if self.queue.has_checks is not False or not self.configuration.places_by_topology:
            return None
        found = kueue_topology.room_refusal(flavor, topology, unit, nodes)
        if isinstance(found, str):
            self.unknowns[found] = None
            return None
        return found

    def _flavor(self, name: str) -> Flavor | None:
        """The flavor; None where it is unknown or unreadable, and the reason is recorded."""
        if self.cluster.flavors is None:
            self.unknowns["the ResourceFlavors are not known"] = None
            return None
        flavor = self.cluster.flavors.get(name)
        if flavor is None:
            self.unknowns[f"ResourceFlavor {name} does not exist"] = None
            return None
        self.unknowns |= dict.fromkeys(flavor.problems)
        return None if flavor.problems else flavor

    def _labels(self, group: ResourceGroup) -> frozenset[str]:
        """The labels that any flavor of the group declares."""
        known = self.cluster.flavors or {}
        return frozenset(key for name in group.flavors if name in known for key in known[name].node_labels)

    def _levels(self, flavor: Flavor, asked: CountedPods) -> tuple[str, ...] | None:
        if not flavor.topology or not kueue_configuration.asks_topology(asked.pod_set):
            return None
        if self.cluster.topologies is None:
            self.unknowns["the Topologies are not known"] = None
            return None
        topology = self.cluster.topologies.get(flavor.topology)
        if topology is None:
            self.unknowns[f"Topology {flavor.topology} does not exist"] = None
            return None
        self.unknowns |= dict.fromkeys(topology.problems)
        return None if topology.problems else topology.levels

    def _only_topologies(self) -> bool:
        """Whether all flavors of the queue have a Topology; an unknown flavor counts as having one."""
        known = self.cluster.flavors or {}
        return all(
            name not in known or known[name].topology or known[name].problems
            for group in self.queue.quotas.groups
            for name in group.flavors
        )


class _Left(Struct):
    """The rest of a flavor, and the amounts that earlier pod sets took, in the order of the resources."""

    room: list[int]
    taken: list[int]


def choose_in_order(
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
        supply: the room in the flavors of the queue.
    """
    order = _Order(resources, queue, supply)
    found: list[str] = []
    for unit, flavors in zip(units, allowed, strict=True):
        taken = order.take([total_request(unit, resource) for resource in resources], flavors)
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
            left.room = room_left(left.room, amounts)
            left.taken = [each + amount for each, amount in zip(left.taken, amounts, strict=True)]
        return taken

    def _chosen(self, amounts: list[int], flavors: Sequence[str]) -> str | None:
        policy = self._queue.fungibility
        borrowing: list[str] = []
        for flavor in flavors:
            if not has_room(amounts, self._of(flavor).room):
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


_Asking = Sequence[tuple[Unit, Sequence[str]]]
"""Units, each with the flavors that take it."""

_STEPS: Final = 64
"""Halvings that find any number of 64 bits."""


class GroupRoom(Struct, frozen=True, kw_only=True):
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
        explaining = self._units_to_explain(resource)
        names = dict.fromkeys(flavor for _, flavors in explaining for flavor in flavors)
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
            pods=tuple(each for unit, _ in explaining for each in unit if each.total(resource)),
            flavors=tuple(sorted(capacities, key=lambda each: -each.most)),
            together=together,
            fits=0 if together else self._largest(explaining, resource),
            lacks=self._missing_quota(next(iter(names)), resource) if len(names) == 1 and not together else None,
        )

    def _units_to_explain(self, resource: str) -> _Asking:
        """The units that explain a shortage best: those that need one flavor, or one that no flavor can hold."""
        asking = [
            (unit, flavors)
            for unit, flavors in zip(self.units, self.allowed, strict=True)
            if any(each.total(resource) for each in unit)
        ]
        for unit, flavors in asking:
            if len(flavors) > 1 and all(
                total_request(unit, resource) > self.most((name, resource)) for name in flavors
            ):
                return [(unit, flavors)]
            if len(flavors) == 1:
                bound = [each for each in asking if each[1] == flavors]
                if sum(total_request(each, resource) for each, _ in bound) > self.most((flavors[0], resource)):
                    return bound
        return asking

    def _largest(self, asking: _Asking, resource: str) -> int:
        """The most that some units could ask for together."""
        flavors = asking[0][1]
        if any(each != flavors for _, each in asking):
            # Each unit has a flavor that could hold all of them.
            return min(max(self.most((name, resource)) for name in names) for _, names in asking)
        bound = {id(unit) for unit, _ in asking}
        pod_set = asking[0][0][0].pod_set
        others = [(unit, names) for unit, names in zip(self.units, self.allowed, strict=True) if id(unit) not in bound]

        def fits(amount: int) -> bool:
            one = [CountedPods(pod_set=pod_set, pods=1, each={resource: amount})]
            units, allowed = [one, *(unit for unit, _ in others)], [flavors, *(names for _, names in others)]
            return can_assign(units, allowed, [resource], self.most) is True

        top = sum(total_request(unit, resource) for unit, _ in asking)
        return top - _least_number(0, top, lambda less: fits(top - less)) if fits(0) else 0

    def _missing_quota(self, flavor: str, resource: str) -> int | None:
        """The smallest additional quota of one flavor with which all units find room."""
        top = sum(total_request(unit, resource) for unit in self.units)

        def fits(amount: int) -> bool:
            def most(key: FlavorResource) -> int:
                return plus(self.most(key), amount if key == (flavor, resource) else 0)

            return can_assign(self.units, self.allowed, self.resources, most) is not False

        return _least_number(1, top, fits) if fits(top) else None

    def _fits(self, resources: Sequence[str]) -> bool | None:
        return can_assign(self.units, self.allowed, resources, self.most)


def _least_number(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The smallest number from `low` to `high` for which a condition holds that holds for all larger ones."""
    for _ in range(_STEPS):
        if low >= high:
            break
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
