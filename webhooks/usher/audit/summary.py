"""The headline numbers of an audit. `docs/audit.md` has the formula and the source of each number."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from usher.audit import capacity, check_findings, gpus
from usher.audit.capacity import Split
from usher.audit.document import ExceptionEntry, FindingEntry, Summary
from usher.audit.document.readiness import ReadinessItem
from usher.audit.estate import Estate, Node, Workload
from usher.audit.sections import Sections
from usher.audit.standing import half_started
from usher.audit.workload_entries import gpus_now, waiting_pods
from usher.check import devices


def of(
    estate: Estate, findings: Sequence[FindingEntry], exceptions: Iterable[ExceptionEntry], sections: Sections
) -> Summary:
    """The headline numbers."""
    nodes = {node.name: node for node in estate.nodes or ()}
    splits = capacity.splits(estate)
    workloads = [each for each in estate.workloads if not each.is_template or each.pods]
    never = {entry.subject: entry.known_gpus for entry in findings if entry.never}
    holding = [pod for workload in workloads for pod in workload.pods if pod.holds]
    measured, usage = sections.measured, sections.measured.total
    cost, rest = usage.cost, measured.not_held
    money = (cost, usage.cost_per_hour, rest.free_per_hour, rest.out_of_use_per_hour)
    return Summary(
        gpus=_sum(splits, lambda each: each.capacity),
        gpus_allocatable=_sum(splits, lambda each: gpus.allocatable(each.node)),
        gpus_usable=_sum(splits, lambda each: each.usable),
        gpus_allocated=_rounded(gpus_now(workload, nodes) for workload in workloads),
        gpus_free=_sum(splits, lambda each: each.free),
        gpus_out_of_use=_sum(splits, lambda each: each.out_of_use),
        gpus_not_priced=rest.gpus_not_priced,
        cost_per_hour_allocated=usage.cost_per_hour,
        cost_per_hour_free=rest.free_per_hour,
        cost_per_hour_out_of_use=rest.out_of_use_per_hour,
        gpus_waiting=_rounded(waiting(workload, nodes) for workload in workloads),
        gpus_never=_rounded(never.values()),
        gpus_half_started=_rounded(entry.known_gpus for entry in findings if entry.code == half_started.CODE),
        accelerators=gpus.numbers(devices.added(pod.devices for pod in holding)),
        workloads=len(workloads),
        workloads_never=len(never),
        findings=check_findings.counts(findings),
        allocated=usage.allocated,
        measured=usage.measured,
        used=usage.used,
        idle=usage.idle,
        capacity=_added(usage.allocated, rest.free, rest.out_of_use),
        free=rest.free,
        out_of_use=rest.out_of_use,
        activity=usage.activity,
        memory_share=usage.memory_share,
        currency=measured.currency if any(each is not None for each in money) else "",
        cost_allocated=None if cost is None else cost.allocated,
        cost_idle=None if cost is None else cost.idle,
        cost_free=rest.cost_free,
        cost_out_of_use=rest.cost_out_of_use,
        not_priced=usage.not_priced,
        savings_gpu_hours=measured.savings_gpu_hours,
        savings_cost=measured.savings_cost,
        savings_cost_saved=measured.savings_cost_saved,
        savings_cost_freed=measured.savings_cost_freed,
        queue_wait_p95_seconds=measured.queue_wait_p95_seconds,
        exceptions_ending=sum(each.ends_soon for each in exceptions),
        readiness=_standings(sections.readiness),
    )


def waiting(workload: Workload, nodes: Mapping[str, Node]) -> float:
    """The GPUs of pods that wait for a node, and those that a suspended workload lacks."""
    if workload.suspended and workload.exists:
        return max(0.0, gpus.number(workload.asks) - gpus_now(workload, nodes))
    return _rounded(gpus.number(pod.devices) for pod in waiting_pods(workload))


def _standings(items: Iterable[ReadinessItem]) -> Mapping[str, int]:
    return dict(sorted(Counter(item.standing.value for item in items).items()))


def _sum(splits: Iterable[Split] | None, number: Callable[[Split], float]) -> float | None:
    """The sum of a number over all nodes; None if the nodes are unknown."""
    return None if splits is None else _rounded(map(number, splits))


def _added(*hours: float | None) -> float | None:
    """The sum of hours; None if one of them was not measured."""
    known = [each for each in hours if each is not None]
    return _rounded(known) if len(known) == len(hours) else None


def _rounded(values: Iterable[float]) -> float:
    return round(sum(values), 6)
