"""Measurements as entries of the document: usage and money, GPUs that no pod held, tables, prices and targets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct, field

from usher.audit.document import Cost, Group, GroupTable, Measurement, PriceEntry, Saving, Target, Usage
from usher.audit.gather import estate, gpus
from usher.audit.gather.gpus import NodeSplit, NodeType
from usher.audit.usage import gpu_hours
from usher.audit.usage.gpu_hours import AllDevices, Entry, Owner, Tally
from usher.audit.usage.held_gpus import NodeHours
from usher.audit.usage.usage_metrics import MEBIBYTE
from usher.check.findings import Identity
from usher.config.models import Prices, Range, Targets
from usher.config.selection import seconds

_DIGITS = 6


class Now(Struct, frozen=True, kw_only=True):
    """The GPUs that a pod holds now."""

    gpus: float
    price: float | None
    """Price of a GPU for an hour."""


def usage_of(entries: Iterable[Entry], now: Iterable[Now], *, currency: str) -> Usage:
    """The summed usage. Without entries it only has what pods hold now."""
    found, holding = list(entries), list(now)
    gpus = sum(each.gpus for each in holding)
    priced = [each.gpus * each.price for each in holding if each.price is not None]
    per_hour = rounded(sum(priced)) if priced else None
    if not found:
        return Usage(gpus_now=rounded(gpus), cost_per_hour=per_hour)
    tally = gpu_hours.total_tally(each.tally for each in found)
    return Usage(
        gpus_now=rounded(gpus),
        allocated=rounded(tally.allocated),
        measured=rounded(tally.measured),
        used=_measured(tally, tally.used),
        idle=_measured(tally, tally.idle),
        activity=rounded_or_none(tally.activity),
        memory_share=rounded_or_none(tally.memory_share),
        memory_peak=round(tally.memory_peak * MEBIBYTE) if tally.memory_peak else None,
        cost=cost_of(found, currency=currency),
        not_priced=rounded(sum(each.tally.allocated for each in found if each.price is None)),
        cost_per_hour=per_hour,
    )


def cost_of(entries: Iterable[Entry], *, currency: str) -> Cost | None:
    """The money of the entries that have a price; None if no entry has one, or the priced entries held no GPU."""
    priced = [(each.tally, each.price) for each in entries if each.price is not None]
    if not any(tally.allocated for tally, _ in priced):
        return None
    is_measured = any(tally.measured for tally, _ in priced)
    has_memory = any(tally.memory for tally, _ in priced)
    return Cost(
        currency=currency,
        allocated=rounded(sum(tally.allocated * price for tally, price in priced)),
        used=rounded(sum(tally.used * price for tally, price in priced)) if is_measured else None,
        idle=rounded(sum(tally.idle * price for tally, price in priced)) if is_measured else None,
        idle_memory=rounded(sum((tally.memory - tally.memory_used) * price for tally, price in priced))
        if has_memory
        else None,
    )


def rounded(value: float) -> float:
    """A number as the document writes it: six digits, and no -0."""
    return round(value, _DIGITS) + 0.0


def rounded_or_none(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _measured(tally: Tally, value: float) -> float | None:
    return rounded(value) if tally.measured else None


Price = Callable[[NodeType], float | None]


class Rest(Struct, frozen=True, kw_only=True):
    """The GPUs or GPU-hours of one node that no pod holds: GPUs now, or GPU-hours of the window."""

    node_type: NodeType
    price: float | None
    """Price of a GPU for an hour."""
    free: float
    out_of_use: float
    capacity: float = 0.0
    """GPUs of the node now; 0 for the window."""


class Rests(Struct, frozen=True, kw_only=True):
    """The rests of all nodes; None if the nodes are unknown or their hours were not measured."""

    now: tuple[Rest, ...] | None = None
    window: tuple[Rest, ...] | None = None


class NotHeld(Struct, frozen=True, kw_only=True):
    """GPUs that are free or out of use; None if unknown, not measured or not priced."""

    gpus_not_priced: float | None = None
    """How many GPUs of all current nodes have no price."""
    free_per_hour: float | None = None
    """Cost of the free GPUs for an hour."""
    out_of_use_per_hour: float | None = None
    free: float | None = None
    """Free GPU-hours of the window."""
    out_of_use: float | None = None
    cost_free: float | None = None
    """Cost of the free GPU-hours that have a price."""
    cost_out_of_use: float | None = None


def rests(
    splits: Sequence[NodeSplit] | None, hours: Mapping[str, NodeHours] | None, entries: Iterable[Entry], *, price: Price
) -> Rests:
    """The rest of each node.

    Args:
        splits: the GPUs of the current nodes; None if unknown.
        hours: the GPU-hours of the window by node; None if not measured.
        entries: what pods held; they name the board of a node that is gone.
        price: the price of a GPU for an hour.
    """
    boards = {entry.place.node: entry.node_type for entry in entries}
    boards |= {each.node.name: gpus.node_type_of(each.node) for each in splits or ()}
    return Rests(
        now=None if splits is None else tuple(_rest_of_now(each, price) for each in splits),
        window=None
        if hours is None
        else tuple(
            _rest_of_window(boards.get(name, NodeType(product="")), each, price) for name, each in hours.items()
        ),
    )


def _rest_of_now(split: NodeSplit, price: Price) -> Rest:
    found = gpus.node_type_of(split.node)
    return Rest(
        node_type=found, price=price(found), free=split.free, out_of_use=split.out_of_use, capacity=split.capacity
    )


def _rest_of_window(node_type: NodeType, hours: NodeHours, price: Price) -> Rest:
    return Rest(node_type=node_type, price=price(node_type), free=hours.free, out_of_use=hours.out_of_use)


def not_held_of(found: Rests) -> NotHeld:
    """The sums over all nodes."""
    now, window = found.now, found.window
    return NotHeld(
        gpus_not_priced=None if now is None else _rounded_sum(each.capacity for each in now if each.price is None),
        free_per_hour=money_of((each.free, each.price) for each in now or ()),
        out_of_use_per_hour=money_of((each.out_of_use, each.price) for each in now or ()),
        free=None if window is None else _rounded_sum(each.free for each in window),
        out_of_use=None if window is None else _rounded_sum(each.out_of_use for each in window),
        cost_free=money_of((each.free, each.price) for each in window or ()),
        cost_out_of_use=money_of((each.out_of_use, each.price) for each in window or ()),
    )


def _rounded_sum(values: Iterable[float]) -> float:
    return rounded(sum(values))


def money_of(parts: Iterable[tuple[float, float | None]]) -> float | None:
    """The money of the amounts that have a price; None if no amount has one."""
    everything = list(parts)
    there = [each for each in everything if each[0]] or everything
    priced = [number * price for number, price in there if price is not None]
    return _rounded_sum(priced) if priced else None


class Holding(Struct, frozen=True, kw_only=True):
    """The GPUs that a pod of the estate holds now."""

    workload: int
    node_type: NodeType
    now: Now


class GroupedRow(Struct, frozen=True, kw_only=True):
    """An entry, a holding or a workload with the values by which tables group."""

    owner: Owner
    node_type: NodeType
    entry: Entry | None = None
    now: Now | None = None


_NameOf = Callable[[GroupedRow], str]

_OF_NODES: Final[Mapping[str, Callable[[NodeType], str]]] = {
    "product": lambda node_type: node_type.product,
    "capacityType": lambda node_type: node_type.capacity_type.value,
}
"""The groupings that also apply to nodes, and so to GPUs that no pod held."""


def group_tables(  # noqa: PLR0913 - all addends by name
    entries: Iterable[Entry],
    holdings: Iterable[Holding],
    *,
    rests: Rests,
    workloads: Sequence[estate.Workload],
    teams: Mapping[str, str],
    currency: str,
) -> tuple[GroupTable, ...]:
    """The tables. `rests` are what no pod held; `teams` are the teams of namespaces, for pods whose workload is
    unknown.

    Each workload counts in its team, namespace, queue and priority, even if it holds no GPU, and in the products and
    capacity types that it held.
    """
    rows = [*_grouped_rows(entries, holdings, workloads)]
    everything = [*rows, *_members(workloads)]

    def of_workload(value: Callable[[estate.Workload], str]) -> _NameOf:
        return lambda row: value(workloads[row.owner.workload]) if row.owner.workload >= 0 else ""

    def team(row: GroupedRow) -> str:
        known = workloads[row.owner.workload].team if row.owner.workload >= 0 else ""
        return known or teams.get(row.owner.namespace, "")

    names: dict[str, _NameOf] = {
        "team": team,
        "namespace": lambda row: row.owner.namespace,
        "queue": of_workload(lambda workload: workload.queue),
        "priority": of_workload(lambda workload: workload.priority),
    }
    of_pods = [
        GroupTable(by=by, rows=_sorted_groups(_groups(everything, name, currency))) for by, name in names.items()
    ]
    return (*of_pods, *(_of_nodes(rows, rests, by, currency) for by in _OF_NODES))


def _members(workloads: Sequence[estate.Workload]) -> Iterator[GroupedRow]:
    """The workloads that run in a cluster. Leaves out templates, which make pods only for other workloads, and
    manifests.
    """
    for index, each in enumerate(workloads):
        if each.exists and (each.pods or not each.is_template):
            yield GroupedRow(owner=Owner(index, each.identity.namespace), node_type=NodeType(product=""))


def _of_nodes(rows: Iterable[GroupedRow], rests: Rests, by: str, currency: str) -> GroupTable:
    """A table with the GPUs that no pod held. A board that no pod held has a row too."""
    name = _OF_NODES[by]
    groups = {each.name: each for each in _groups(rows, lambda row: name(row.node_type), currency)}
    now, window = _rests_by_name(rests.now, name), _rests_by_name(rests.window, name)
    for missing in sorted((now.keys() | window.keys()) - groups.keys()):
        hours = 0.0 if missing in window else None
        groups[missing] = Group(
            name=missing, workloads=0, usage=Usage(allocated=hours, measured=hours, not_priced=hours)
        )
    found = [_with_rest(each, now.get(each.name), window.get(each.name)) for each in groups.values()]
    return GroupTable(by=by, rows=_sorted_groups(found))


def _rests_by_name(rests: Iterable[Rest] | None, name: Callable[[NodeType], str]) -> dict[str, list[Rest]]:
    found: dict[str, list[Rest]] = {}
    for each in rests or ():
        found.setdefault(name(each.node_type), []).append(each)
    return found


def _with_rest(group: Group, now: Sequence[Rest] | None, window: Sequence[Rest] | None) -> Group:
    return group.model_copy(
        update={
            "gpus_free": None if now is None else rounded(sum(each.free for each in now)),
            "gpus_out_of_use": None if now is None else rounded(sum(each.out_of_use for each in now)),
            "free": None if window is None else rounded(sum(each.free for each in window)),
            "out_of_use": None if window is None else rounded(sum(each.out_of_use for each in window)),
            "cost_free": money_of((each.free, each.price) for each in window or ()),
            "cost_out_of_use": money_of((each.out_of_use, each.price) for each in window or ()),
        }
    )


def _grouped_rows(
    entries: Iterable[Entry], holdings: Iterable[Holding], workloads: Sequence[estate.Workload]
) -> Iterator[GroupedRow]:
    for entry in entries:
        yield GroupedRow(owner=entry.owner, node_type=entry.node_type, entry=entry)
    for each in holdings:
        namespace = workloads[each.workload].identity.namespace
        yield GroupedRow(owner=Owner(each.workload, namespace), node_type=each.node_type, now=each.now)


def _groups(rows: Iterable[GroupedRow], name: _NameOf, currency: str) -> list[Group]:
    found: dict[str, list[GroupedRow]] = {}
    for row in rows:
        found.setdefault(name(row), []).append(row)
    return [
        Group(
            name=each,
            workloads=len({row.owner for row in mine if row.owner.workload >= 0}),
            usage=usage_of(
                (row.entry for row in mine if row.entry is not None),
                (row.now for row in mine if row.now is not None),
                currency=currency,
            ),
        )
        for each, mine in found.items()
    ]


def _sorted_groups(groups: Iterable[Group]) -> tuple[Group, ...]:
    return tuple(
        sorted(groups, key=lambda group: (-(group.usage.idle or 0), -(group.usage.allocated or 0), group.name))
    )


class _PriceKey(NamedTuple):
    product: str
    capacity_type: str
    rule: int
    """Index of the rule; -1 without a rule."""
    price: float
    formula: str


def price_rows(
    config: Prices, nodes: Mapping[str, estate.Node], entries: Iterable[Entry], *, is_measured: bool
) -> tuple[PriceEntry, ...]:
    """One row for each board, payment type and price; the rows with the most GPUs first.

    Args:
        entries: what pods held in the window, also on nodes that are gone.
        is_measured: whether a source of usage exists.
    """
    of_nodes: dict[_PriceKey, list[estate.Node]] = {}
    hours: dict[_PriceKey, float] = {}
    for node in nodes.values():
        of_nodes.setdefault(_price_key(config, gpus.node_type_of(node)), []).append(node)
    for entry in entries:
        key = _price_key(config, entry.node_type)
        hours[key] = hours.get(key, 0.0) + entry.tally.allocated
    result = [
        _price_row(key, of_nodes.get(key, ()), hours.get(key, 0.0) if is_measured else None)
        for key in of_nodes.keys() | hours.keys()
    ]
    return tuple(sorted(result, key=lambda row: (-row.gpus, row.product, row.capacity_type, row.rule, row.formula)))


def _price_key(config: Prices, node_type: NodeType) -> _PriceKey:
    place, price = gpus.deciding_rule(config, node_type), gpus.price_per_hour(config, node_type)
    if place is None or price is None:
        return _PriceKey(node_type.product, node_type.capacity_type.value, -1, 0.0, "")
    of_node = config.rules[place].per_node_hour
    formula = f"{price:g} {config.currency} per GPU and hour"
    if of_node is not None:
        formula = f"{of_node:g} {config.currency} per node and hour x {config.gpu_share:g} / {node_type.gpus} GPUs"
    return _PriceKey(node_type.product, node_type.capacity_type.value, place, price, formula)


def _price_row(key: _PriceKey, nodes: Sequence[estate.Node], allocated: float | None) -> PriceEntry:
    return PriceEntry(
        product=key.product,
        capacity_type=key.capacity_type,
        per_gpu_hour=rounded(key.price) if key.rule >= 0 else None,
        rule=f"audit.prices.rules[{key.rule}]" if key.rule >= 0 else "",
        formula=key.formula,
        nodes=len(nodes),
        gpus=rounded(sum(map(gpus.capacity_of, nodes))),
        allocated=rounded_or_none(allocated),
    )


def target_rows(
    wanted: Targets, *, devices: AllDevices | None, tally: Tally | None, queue_wait: float | None, wait_formula: str
) -> tuple[Target, ...]:
    """The targets; `actual` is None if it was not measured.

    Args:
        wanted: the section `audit.targets` of usher.yaml.
        devices: all devices of the cluster.
        tally: the sum of what pods held.
        queue_wait: the measured wait, in seconds.
        wait_formula: how usher computed the wait.
    """
    measured = devices.measured if devices is not None and devices.measured else None
    activity = devices.used / measured if devices is not None and measured else None
    return (
        _share_target(
            "activity",
            "Activity of all GPUs",
            wanted.activity,
            activity,
            "sum over all measured GPUs, held by a pod or not, of share of a GPU x hours x activity, divided by the "
            "same sum without activity",
            hours=measured,
        ),
        _share_target(
            "memory",
            "Memory of allocated GPUs in use",
            wanted.memory,
            tally.memory_share if tally is not None else None,
            "sum over allocated GPUs of share of a GPU x hours x used / total memory, divided by the same sum without "
            "used / total memory",
        ),
        Target(
            name="queueWaitP95",
            title="Wait in queues of 95 % of the workloads",
            high=seconds(wanted.queue_wait_p95),
            unit="seconds",
            actual=rounded_or_none(queue_wait),
            met=None if queue_wait is None else queue_wait <= seconds(wanted.queue_wait_p95),
            formula=wait_formula,
        ),
    )


def _share_target(  # noqa: PLR0913 - the fields of one target
    name: str, title: str, wanted: Range, actual: float | None, formula: str, *, hours: float | None = None
) -> Target:
    return Target(
        name=name,
        title=title,
        low=wanted.low,
        high=wanted.high,
        unit="share from 0 to 1",
        actual=rounded_or_none(actual),
        met=None if actual is None else wanted.low <= actual <= wanted.high,
        formula=formula,
        hours=rounded_or_none(hours),
    )


class Measured(Struct, frozen=True, kw_only=True):
    """The usage of an estate. Without a source only `gpus_now` and `cost_per_hour` are known."""

    measurement: Measurement = field(default_factory=lambda: Measurement(source="none"))
    total: Usage = field(default_factory=Usage)
    """The sum over all workloads, and over pods without a workload of the estate."""
    workloads: Mapping[Identity, Usage] = field(default_factory=dict)
    """By the identity of each workload of the estate."""
    groups: tuple[GroupTable, ...] = ()
    prices: tuple[PriceEntry, ...] = ()
    not_held: NotHeld = NotHeld()
    targets: tuple[Target, ...] = ()
    savings: tuple[Saving, ...] = ()
    queue_wait_p95_seconds: float | None = None
    currency: str = ""
    """The currency of all prices."""

    @property
    def savings_gpu_hours(self) -> float | None:
        """The summed GPU-hours of the savings that count; None if nothing was measured."""
        if self.total.measured is None:
            return None
        return round(sum(saving.gpu_hours for saving in self.savings if saving.adds_up), 6)

    @property
    def savings_cost(self) -> float | None:
        """The summed money of the savings that count; None if they have no price."""
        return self._sum(lambda saving: saving.cost)

    @property
    def savings_cost_saved(self) -> float | None:
        """The part of `savings_cost` on nodes that are billed only while they exist."""
        return self._sum(lambda saving: saving.cost_saved)

    @property
    def savings_cost_freed(self) -> float | None:
        """The part of `savings_cost` on nodes that are paid for anyway."""
        return self._sum(lambda saving: saving.cost_freed)

    def _sum(self, money: Callable[[Saving], float | None]) -> float | None:
        costs = [cost for saving in self.savings if saving.adds_up and (cost := money(saving)) is not None]
        return round(sum(costs), 6) if costs else None
