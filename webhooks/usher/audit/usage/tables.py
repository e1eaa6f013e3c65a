"""Usage by team, namespace, queue, priority, product and capacity type. Each table adds up to the total."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from usher.audit import estate
from usher.audit.document.usage import Group, GroupTable
from usher.audit.usage import amounts
from usher.audit.usage.amounts import Now
from usher.audit.usage.attribution import Owner
from usher.audit.usage.ledger import Entry
from usher.audit.usage.prices import NodeType
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What a pod of the estate holds now."""

    workload: int
    node_type: NodeType
    now: Now


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An entry, a holding or a workload with the values that tables group by."""

    owner: Owner
    node_type: NodeType
    entry: Entry | None = None
    now: Now | None = None


_Name = Callable[[Row], str]

_OF_NODES: Final = ("product", "capacityType")
"""Groups that a workload without a GPU does not have."""


def tables(
    entries: Iterable[Entry],
    holdings: Iterable[Holding],
    *,
    workloads: Sequence[estate.Workload],
    teams: Mapping[str, str],
    currency: str,
) -> tuple[GroupTable, ...]:
    """The tables. `teams` are those of namespaces, for pods whose workload is not known.

    Each workload counts in its team, namespace, queue and priority, also one that holds nothing, and in the products
    and capacity types that it held.
    """
    rows = [*_rows(entries, holdings, workloads)]
    everything = [*rows, *_members(workloads)]

    def of_workload(value: Callable[[estate.Workload], str]) -> _Name:
        return lambda row: value(workloads[row.owner.workload]) if row.owner.workload >= 0 else ""

    def team(row: Row) -> str:
        known = workloads[row.owner.workload].team if row.owner.workload >= 0 else ""
        return known or teams.get(row.owner.namespace, "")

    names: dict[str, _Name] = {
        "team": team,
        "namespace": lambda row: row.owner.namespace,
        "queue": of_workload(lambda workload: workload.queue),
        "priority": of_workload(lambda workload: workload.priority),
        "product": lambda row: row.node_type.product,
        "capacityType": lambda row: row.node_type.capacity_type.value,
    }
    return tuple(
        GroupTable(by=by, rows=_groups(rows if by in _OF_NODES else everything, name, currency))
        for by, name in names.items()
    )


def _members(workloads: Sequence[estate.Workload]) -> Iterator[Row]:
    """The workloads of a cluster: without templates, which make pods only for others, and without manifests."""
    for index, each in enumerate(workloads):
        if each.exists and (each.pods or not each.is_template):
            yield Row(owner=Owner(index, each.identity.namespace), node_type=NodeType(product=""))


def _rows(entries: Iterable[Entry], holdings: Iterable[Holding], workloads: Sequence[estate.Workload]) -> Iterator[Row]:
    for entry in entries:
        yield Row(owner=entry.owner, node_type=entry.node_type, entry=entry)
    for each in holdings:
        namespace = workloads[each.workload].identity.namespace
        yield Row(owner=Owner(each.workload, namespace), node_type=each.node_type, now=each.now)


def _groups(rows: Iterable[Row], name: _Name, currency: str) -> tuple[Group, ...]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(name(row), []).append(row)
    groups = [
        Group(
            name=each,
            workloads=len({row.owner for row in mine if row.owner.workload >= 0}),
            usage=amounts.usage(
                (row.entry for row in mine if row.entry is not None),
                (row.now for row in mine if row.now is not None),
                currency=currency,
            ),
        )
        for each, mine in found.items()
    ]
    return tuple(
        sorted(groups, key=lambda group: (-(group.usage.idle or 0), -(group.usage.allocated or 0), group.name))
    )
