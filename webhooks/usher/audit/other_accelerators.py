"""The use of accelerators other than GPUs: on nodes, held by pods, free, or wanted by waiting pods.

It has the same numbers as for GPUs (`usher.audit.capacity`, `usher.audit.summary`), by resource and in its own units.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from usher.accelerators import names
from usher.accelerators.names import Unit
from usher.audit import capacity, gpus
from usher.audit.capacity import Split
from usher.audit.document import AcceleratorEntry, FindingEntry
from usher.audit.estate import Estate, Node, Workload
from usher.audit.workload_entries import waiting_pods
from usher.check import devices

Amounts = Mapping[str, float]
"""Numbers by resource."""

_ON_NO_NODE: Final = frozenset({Unit.SHARE, Unit.MEMORY, Unit.MEMORY_FRACTION, Unit.CORES})
"""Units that schedulers and device plugins give to pods while nodes report no number (docs/domain/accelerators.md)."""


def entries(estate: Estate, findings: Iterable[FindingEntry]) -> tuple[AcceleratorEntry, ...]:
    """One entry for each resource that a node has, or that a workload holds or wants, by name."""
    workloads = [each for each in estate.workloads if not each.is_template or each.pods]
    nodes = {node.name: node for node in estate.nodes or ()}
    on_nodes = _on_nodes(workloads, nodes)
    splits = _splits(nodes.values(), on_nodes)
    held = _sum(on_nodes.values())

    def of_nodes(name: str) -> Sequence[Split] | None:
        """The split of each node; None if their number of devices is unknown."""
        is_known = estate.nodes is not None and (name in splits or (name not in held and _is_reported(name)))
        return splits.get(name, ()) if is_known else None

    waiting = _sum(map(_waiting, workloads))
    never = _sum({each.subject: each.other_accelerators for each in findings if each.never}.values())
    asked = _sum(_others(each.asks) for each in workloads)
    return tuple(
        AcceleratorEntry(
            resource=name,
            nodes=None if (found := of_nodes(name)) is None else len(found),
            capacity=_total(found, lambda each: each.capacity),
            usable=_total(found, lambda each: each.usable),
            allocated=held[name],
            free=_total(found, lambda each: each.free),
            out_of_use=_total(found, lambda each: each.out_of_use),
            waiting=waiting[name],
            never=never[name],
            asked=asked[name],
        )
        for name in sorted({*splits, *held, *waiting, *asked})
    )


def _is_reported(name: str) -> bool:
    """Whether a node with the resource reports it, so that a cluster without a report has 0."""
    meaning = names.meaning_of(name)
    return not devices.is_shares(name) and (meaning is None or meaning.unit not in _ON_NO_NODE)


def _splits(nodes: Iterable[Node], held: Mapping[str, Amounts]) -> Mapping[str, list[Split]]:
    """The splits by resource, one for each node that has some."""
    found = defaultdict[str, list[Split]](list)
    for node in nodes:
        allocatable, here = _others(node.allocatable), held.get(node.name, {})
        for name, number in _others(node.capacity).items():
            # Access to the metrics of all devices of a node is not a device.
            meaning = names.meaning_of(name)
            if meaning is None or meaning.unit is not Unit.MONITORING:
                offered = allocatable.get(name, 0.0)
                found[name].append(capacity.split(node, capacity=number, allocatable=offered, held=here.get(name, 0.0)))
    return found


def _on_nodes(workloads: Iterable[Workload], nodes: Mapping[str, Node]) -> Mapping[str, Counter[str]]:
    """The accelerators that pods hold, by node and resource."""
    found = defaultdict[str, Counter[str]](Counter)
    for workload in workloads:
        for pod in workload.pods:
            if pod.holds:
                found[pod.node].update(gpus.numbers(gpus.others(pod.devices, nodes.get(pod.node))))
    return found


def _waiting(workload: Workload) -> Amounts:
    if not (workload.suspended and workload.exists):
        return _sum(_others(pod.devices) for pod in waiting_pods(workload))
    held = _sum(_others(pod.devices) for pod in workload.pods if pod.holds)
    return {name: max(0.0, number - held[name]) for name, number in _others(workload.asks).items()}


def _others(found: devices.Devices) -> Amounts:
    return gpus.numbers(gpus.others(found))


def _sum(parts: Iterable[Amounts]) -> Counter[str]:
    total = Counter[str]()
    for part in parts:
        total.update(part)
    return total


def _total(found: Iterable[Split] | None, number: Callable[[Split], float]) -> float | None:
    return None if found is None else round(sum(map(number, found)), 6)
