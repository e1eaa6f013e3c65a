"""The headline numbers of an audit. `docs/audit.md` has the formula and the source of each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from usher.audit import check_findings, gpus
from usher.audit.document import ExceptionEntry, FindingEntry, Summary
from usher.audit.document.readiness import ReadinessItem
from usher.audit.estate import Estate, Node, Workload
from usher.audit.sections import Sections
from usher.audit.standing import half_started
from usher.audit.workload_entries import gpus_now, numbers, waiting_pods
from usher.dataclass import dataclass
from usher.scan import devices

ENDING_DAYS: Final = 14
"""An exception that ends within so many days is about to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Capacity:
    """GPUs of all nodes; None where the nodes are not known."""

    all: float | None = None
    allocatable: float | None = None
    usable: float | None = None
    """Of nodes that are ready and not cordoned."""
    free: float | None = None


def of(
    estate: Estate, findings: Sequence[FindingEntry], exceptions: Iterable[ExceptionEntry], sections: Sections
) -> Summary:
    """The headline numbers."""
    nodes = {node.name: node for node in estate.nodes or ()}
    capacity = _capacity(estate)
    workloads = [each for each in estate.workloads if not each.is_template or each.pods]
    never = {entry.subject: entry.gpus for entry in findings if entry.never}
    holding = [pod for workload in workloads for pod in workload.pods if pod.holds]
    usage, cost = sections.totals.usage, sections.totals.usage.cost
    return Summary(
        gpus=capacity.all,
        gpus_allocatable=capacity.allocatable,
        gpus_usable=capacity.usable,
        gpus_allocated=_rounded(gpus_now(workload, nodes) for workload in workloads),
        gpus_free=capacity.free,
        gpus_waiting=_rounded(waiting(workload, nodes) for workload in workloads),
        gpus_never=_rounded(never.values()),
        gpus_half_started=_rounded(entry.gpus for entry in findings if entry.code == half_started.CODE),
        accelerators=numbers(devices.added(pod.devices for pod in holding)),
        workloads=len(workloads),
        workloads_never=len(never),
        findings=check_findings.counts(findings),
        allocated=usage.allocated,
        measured=usage.measured,
        used=usage.used,
        idle=usage.idle,
        activity=usage.activity,
        memory_share=usage.memory_share,
        currency="" if cost is None else cost.currency,
        cost_allocated=None if cost is None else cost.allocated,
        cost_idle=None if cost is None else cost.idle,
        not_priced=usage.not_priced,
        savings_gpu_hours=sections.totals.savings_gpu_hours,
        savings_cost=sections.totals.savings_cost,
        queue_wait_p95_seconds=sections.totals.queue_wait_p95_seconds,
        exceptions_ending=sum(0 <= each.days_left <= ENDING_DAYS for each in exceptions),
        readiness=_standings(sections.readiness),
    )


def waiting(workload: Workload, nodes: Mapping[str, Node]) -> float:
    """The GPUs of pods that wait for a node, and those of a suspended workload that it does not hold."""
    if workload.suspended:
        return max(0.0, gpus.number(workload.asks) - gpus_now(workload, nodes))
    return _rounded(gpus.number(pod.devices) for pod in waiting_pods(workload))


def _capacity(estate: Estate) -> _Capacity:
    if estate.nodes is None:
        return _Capacity()
    held = defaultdict[str, float](float)
    nodes = {node.name: node for node in estate.nodes}
    for workload in estate.workloads:
        for pod in workload.pods:
            if pod.node in nodes:
                held[pod.node] += gpus.held([pod], nodes[pod.node])
    usable = [node for node in estate.nodes if node.ready and not node.cordoned]
    return _Capacity(
        all=_rounded(map(gpus.capacity, estate.nodes)),
        allocatable=_rounded(map(gpus.allocatable, estate.nodes)),
        usable=_rounded(map(gpus.allocatable, usable)),
        free=_rounded(max(0.0, gpus.allocatable(node) - held[node.name]) for node in usable),
    )


def _standings(items: Iterable[ReadinessItem]) -> Mapping[str, int]:
    return dict(sorted(Counter(item.standing.value for item in items).items()))


def _rounded(values: Iterable[float]) -> float:
    return round(sum(values), 6)
