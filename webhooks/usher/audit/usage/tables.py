"""Usage by team, namespace, queue, priority, product and capacity type. Each table adds up to the total."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from usher.audit import estate
from usher.audit.document.usage import Group, GroupTable, Usage
from usher.audit.usage import amounts, not_held
from usher.audit.usage.amounts import Now
from usher.audit.usage.attribution import Owner
from usher.audit.usage.ledger import Entry
from usher.audit.usage.not_held import Rest, Rests
from usher.audit.usage.prices import NodeType
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The GPUs that a pod of the estate holds now."""

    workload: int
    node_type: NodeType
    now: Now


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An entry, a holding or a workload with the values by which tables group."""

    owner: Owner
    node_type: NodeType
    entry: Entry | None = None
    now: Now | None = None


_Name = Callable[[Row], str]

_OF_NODES: Final[Mapping[str, Callable[[NodeType], str]]] = {
    "product": lambda node_type: node_type.product,
    "capacityType": lambda node_type: node_type.capacity_type.value,
}
"""The groupings that also apply to nodes, and so to GPUs that no pod held."""


def tables(  # noqa: PLR0913 - all addends by name
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
    }
    of_pods = [GroupTable(by=by, rows=_sorted(_groups(everything, name, currency))) for by, name in names.items()]
    return (*of_pods, *(_of_nodes(rows, rests, by, currency) for by in _OF_NODES))


def _members(workloads: Sequence[estate.Workload]) -> Iterator[Row]:
    """The workloads that run in a cluster. Leaves out templates, which make pods only for other workloads, and
    manifests.
    """
    for index, each in enumerate(workloads):
        if each.exists and (each.pods or not each.is_template):
            yield Row(owner=Owner(index, each.identity.namespace), node_type=NodeType(product=""))


def _of_nodes(rows: Iterable[Row], rests: Rests, by: str, currency: str) -> GroupTable:
    """A table with the GPUs that no pod held. A board that no pod held has a row too."""
    name = _OF_NODES[by]
    groups = {each.name: each for each in _groups(rows, lambda row: name(row.node_type), currency)}
    now, window = _by_name(rests.now, name), _by_name(rests.window, name)
    for missing in sorted((now.keys() | window.keys()) - groups.keys()):
        hours = 0.0 if missing in window else None
        groups[missing] = Group(
            name=missing, workloads=0, usage=Usage(allocated=hours, measured=hours, not_priced=hours)
        )
    found = [_with_rest(each, now.get(each.name), window.get(each.name)) for each in groups.values()]
    return GroupTable(by=by, rows=_sorted(found))


def _by_name(rests: Iterable[Rest] | None, name: Callable[[NodeType], str]) -> dict[str, list[Rest]]:
    found: dict[str, list[Rest]] = {}
    for each in rests or ():
        found.setdefault(name(each.node_type), []).append(each)
    return found


def _with_rest(group: Group, now: Sequence[Rest] | None, window: Sequence[Rest] | None) -> Group:
    return group.model_copy(
        update={
            "gpus_free": None if now is None else amounts.rounded(sum(each.free for each in now)),
            "gpus_out_of_use": None if now is None else amounts.rounded(sum(each.out_of_use for each in now)),
            "free": None if window is None else amounts.rounded(sum(each.free for each in window)),
            "out_of_use": None if window is None else amounts.rounded(sum(each.out_of_use for each in window)),
            "cost_free": not_held.money((each.free, each.price) for each in window or ()),
            "cost_out_of_use": not_held.money((each.out_of_use, each.price) for each in window or ()),
        }
    )


def _rows(entries: Iterable[Entry], holdings: Iterable[Holding], workloads: Sequence[estate.Workload]) -> Iterator[Row]:
    for entry in entries:
        yield Row(owner=entry.owner, node_type=entry.node_type, entry=entry)
    for each in holdings:
        namespace = workloads[each.workload].identity.namespace
        yield Row(owner=Owner(each.workload, namespace), node_type=each.node_type, now=each.now)


def _groups(rows: Iterable[Row], name: _Name, currency: str) -> list[Group]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(name(row), []).append(row)
    return [
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


def _sorted(groups: Iterable[Group]) -> tuple[Group, ...]:
    return tuple(
        sorted(groups, key=lambda group: (-(group.usage.idle or 0), -(group.usage.allocated or 0), group.name))
    )
