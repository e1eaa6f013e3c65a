"""The workloads of an estate, as entries of the audit document."""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model
from usher.audit import gpus, subjects, times
from usher.audit.document import Usage, WorkloadEntry, WorkloadState
from usher.audit.estate import Estate, Node, Pod, Workload
from usher.check import findings

_WORST: Final = (*(outcome.value for outcome in model.Outcome), "unknown", "clean", "exempt")


def entries(
    estate: Estate, report: findings.Report, usage: Mapping[findings.Identity, Usage]
) -> Iterator[WorkloadEntry]:
    """One entry for each workload that holds or wants accelerators.

    Args:
        estate: the workloads.
        report: the decisions about them.
        usage: the measured usage, by the identity of the workload.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    indexes = {result.identity: index for index, result in enumerate(report.results) if result.makes_pods}
    for workload in estate.workloads:
        if not workload.is_template or workload.pods:
            judged = [report.results[index] for index in _indexes(workload, indexes)]
            yield _entry(workload, judged, nodes, usage.get(workload.identity))


def _indexes(workload: Workload, indexes: Mapping[findings.Identity, int]) -> list[int]:
    """The indexes of the decisions about a workload: one for each pod of a pod group, otherwise one for the object."""
    if workload.index >= 0:
        return [workload.index]
    pods = (
        findings.Identity(api_version="v1", kind="Pod", namespace=pod.namespace, name=pod.name) for pod in workload.pods
    )
    return [indexes[pod] for pod in pods if pod in indexes]


def state(workload: Workload) -> WorkloadState:
    """The state of a workload: where its pods are."""
    held = sum(pod.holds for pod in workload.pods)
    waiting = len(waiting_pods(workload))
    if held:
        return WorkloadState.PARTLY if waiting else WorkloadState.RUNNING
    if workload.suspended and workload.exists:
        return WorkloadState.SUSPENDED
    return WorkloadState.PENDING if waiting else WorkloadState.EMPTY


def waiting_pods(workload: Workload) -> list[Pod]:
    """The pods that wait for a node, without those that are being deleted."""
    return [pod for pod in workload.pods if not pod.holds and not pod.terminating]


def gpus_now(workload: Workload, nodes: Mapping[str, Node]) -> float:
    """The GPUs that its pods hold."""
    return gpus.of_pods(workload.pods, nodes)


def _entry(
    workload: Workload, judged: list[findings.Result], nodes: Mapping[str, Node], usage: Usage | None
) -> WorkloadEntry:
    on = [nodes[pod.node] for pod in workload.pods if pod.holds and pod.node in nodes]
    waiting = waiting_pods(workload)
    now = gpus_now(workload, nodes)
    since = [pod.created for pod in waiting if pod.created is not None]
    suspended_since = workload.created if state(workload) is WorkloadState.SUSPENDED else None
    return WorkloadEntry(
        subject=subjects.of(workload.identity),
        team=workload.team,
        queue=workload.queue,
        priority=workload.priority,
        role=workload.role.value,
        state=state(workload),
        products=tuple(sorted({node.product for node in on if node.product})),
        capacity_types=tuple(sorted({node.capacity_type.value for node in on})),
        accelerators=gpus.numbers(workload.asks),
        gpus=gpus.number(workload.asks) if workload.asks_known else None,
        gpus_least=gpus.least(workload.asks) if workload.asks_known else None,
        other_accelerators=gpus.numbers(gpus.others(workload.asks)),
        pods_wanted=workload.wanted.maximum,
        pods_running=sum(pod.holds for pod in workload.pods),
        pods_waiting=len(waiting),
        created=times.text(workload.created),
        waiting_since=times.text(min(since, default=suspended_since)),
        outcome=_outcome(judged),
        findings=sum(len(result.findings) for result in judged),
        place=next((subjects.place(result) for result in judged), ""),
        usage=Usage(gpus_now=now) if usage is None else usage.model_copy(update={"gpus_now": now}),
    )


def _outcome(judged: list[findings.Result]) -> str:
    """The worst outcome; an object without a decision is in an exempt namespace."""
    return min((result.outcome for result in judged), key=_WORST.index, default="exempt")
