"""Objects, workloads and findings of checks as entries of the audit document.

An object is named by its identity, and a manifest by its place too. Times are ISO 8601 in UTC, whole seconds.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from usher import model, paths
from usher.audit.document import FindingEntry, Severity, Usage, WorkloadEntry, WorkloadState
from usher.audit.document.audit_entries import Subject
from usher.audit.gather import gpus
from usher.audit.gather.estate import Estate, Node, Pod, Workload
from usher.check import findings
from usher.check.devices import added
from usher.config.models import ExceptionRule


def time_text(time: datetime | None) -> str:
    """`2026-11-23T06:00:00Z`; empty for an unknown time."""
    return "" if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def time_of_seconds(seconds: int) -> str:
    """The same text from seconds since 1970."""
    return time_text(datetime.fromtimestamp(seconds, tz=UTC))


def subject_of(identity: findings.Identity) -> Subject:
    """The subject entry of an identity."""
    return Subject(
        api_version=identity.api_version, kind=identity.kind, namespace=identity.namespace, name=identity.name
    )


def place_of(result: findings.Result, line: int = 0) -> str:
    """`jobs/bert.yaml:41`, the line of a finding or else of its object; empty for objects of a cluster."""
    return f"{result.source}:{line or result.line}" if result.line and not result.exists else ""


_WORST: Final = (*(outcome.value for outcome in model.Outcome), "unknown", "clean", "exempt")


def workload_entries(
    estate: Estate, report: findings.Report, usage: Mapping[findings.Identity, Usage]
) -> Iterator[WorkloadEntry]:
    """One entry for each workload that holds or wants accelerators.

    Args:
        usage: the measured usage, by the identity of the workload.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    indexes = {result.identity: index for index, result in enumerate(report.results) if result.makes_pods}
    for workload in estate.workloads:
        if not workload.is_template or workload.pods:
            judged = [report.results[index] for index in _indexes(workload, indexes)]
            yield _workload_entry(workload, judged, nodes, usage.get(workload.identity))


def _indexes(workload: Workload, indexes: Mapping[findings.Identity, int]) -> list[int]:
    """The indexes of the decisions about a workload: one for each pod of a pod group, otherwise one for the object."""
    if workload.index >= 0:
        return [workload.index]
    pods = (
        findings.Identity(api_version="v1", kind="Pod", namespace=pod.namespace, name=pod.name) for pod in workload.pods
    )
    return [indexes[pod] for pod in pods if pod in indexes]


def state_of(workload: Workload) -> WorkloadState:
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


def _workload_entry(
    workload: Workload, judged: list[findings.Result], nodes: Mapping[str, Node], usage: Usage | None
) -> WorkloadEntry:
    on = [nodes[pod.node] for pod in workload.pods if pod.holds and pod.node in nodes]
    waiting = waiting_pods(workload)
    now = gpus_now(workload, nodes)
    since = [pod.created for pod in waiting if pod.created is not None]
    suspended_since = workload.created if state_of(workload) is WorkloadState.SUSPENDED else None
    return WorkloadEntry(
        subject=subject_of(workload.identity),
        team=workload.team,
        queue=workload.queue,
        priority=workload.priority,
        role=workload.role.value,
        state=state_of(workload),
        products=tuple(sorted({node.product for node in on if node.product})),
        capacity_types=tuple(sorted({node.capacity_type.value for node in on})),
        accelerators=gpus.numbers(workload.asks),
        gpus=gpus.number(workload.asks) if workload.asks_known else None,
        gpus_least=gpus.least(workload.asks) if workload.asks_known else None,
        other_accelerators=gpus.numbers(gpus.others(workload.asks)),
        pods_wanted=workload.wanted.maximum,
        pods_running=sum(pod.holds for pod in workload.pods),
        pods_waiting=len(waiting),
        created=time_text(workload.created),
        waiting_since=time_text(min(since, default=suspended_since)),
        outcome=_worst_outcome(judged),
        findings=sum(len(result.findings) for result in judged),
        place=next((place_of(result) for result in judged), ""),
        usage=Usage(gpus_now=now) if usage is None else usage.model_copy(update={"gpus_now": now}),
    )


def _worst_outcome(judged: list[findings.Result]) -> str:
    """The worst outcome; an object without a decision is in an exempt namespace."""
    return min((result.outcome for result in judged), key=_WORST.index, default="exempt")


_FINGERPRINT_DIGITS = 32
"""Hexadecimal digits of a fingerprint: 128 bits."""


class _Owned(Struct, frozen=True, kw_only=True):
    """The values of an entry that come from the workload of its object."""

    team: str
    gpus: float | None
    gpus_least: float | None
    others: Mapping[str, float]
    since: str = ""


def finding_entries(
    report: findings.Report, estate: Estate, exceptions: Sequence[ExceptionRule]
) -> Iterator[FindingEntry]:
    """One entry for each finding, in the order of the report.

    Args:
        estate: the workloads, for teams and times.
        exceptions: the exceptions of usher.yaml, in its order.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    by_place = {workload.index: workload for workload in estate.workloads if workload.index >= 0}
    seen = Counter[str]()
    for number, result in enumerate(report.results):
        owned = _owned(result, by_place.get(number), estate.teams, nodes)
        for finding in result.findings:
            base = "\0".join(_lasting(result, finding))
            seen[base] += 1
            yield _finding_entry(
                result,
                finding,
                owned,
                report,
                fingerprint=_digest(base, seen[base]),
                exception=_ticket(finding.judgement, exceptions),
            )


def _owned(
    result: findings.Result, workload: Workload | None, teams: Mapping[str, str], nodes: Mapping[str, Node]
) -> _Owned:
    """The owned values of an object: from its workload, or only the team of its namespace if it has no accelerators."""
    namespace, pods = result.identity.namespace, () if workload is None else workload.pods
    holding = [pod for pod in pods if pod.holds]
    held = gpus.of_pods(holding, nodes)
    devices = added(pod.devices for pod in holding) or result.accelerators
    is_known = bool(holding) or result.accelerators_known
    return _Owned(
        team=teams.get(namespace, namespace) if workload is None else workload.team,
        gpus=(held or gpus.number(devices)) if is_known else None,
        gpus_least=(held or gpus.least(devices)) if is_known else None,
        others=gpus.numbers(gpus.others(devices)),
        since="" if workload is None else time_text(workload.created),
    )


def _lasting(result: findings.Result, finding: findings.Finding) -> tuple[str, ...]:
    """The parts of a finding that last: an upgrade of the API version does not change them."""
    key = findings.fingerprint(result, finding)
    group = key.api_version.rpartition("/")[0]
    return finding.judgement.code or key.check, group, key.kind, key.namespace, key.name, key.path


def _digest(base: str, number: int) -> str:
    """A fingerprint. The number distinguishes several findings at similar places of one object."""
    text = base if number == 1 else f"{base}\0{number}"
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_FINGERPRINT_DIGITS]


def _finding_entry(  # noqa: PLR0913 - the parts of an entry
    result: findings.Result,
    finding: findings.Finding,
    owned: _Owned,
    report: findings.Report,
    *,
    fingerprint: str,
    exception: str,
) -> FindingEntry:
    judgement = finding.judgement
    rule = report.rules.get(judgement.finding.check)
    severity = rule.severity if rule is not None else None
    path = judgement.finding.path
    return FindingEntry(
        fingerprint=fingerprint,
        code=judgement.code,
        name=judgement.name,
        title=rule.title if rule is not None else judgement.name,
        category=judgement.finding.check.partition("/")[0],
        outcome=judgement.outcome.value,
        severity=Severity(severity.value) if severity is not None else Severity.MEDIUM,
        subject=subject_of(result.identity),
        path=paths.readable(path) if path else "",
        message=judgement.finding.message,
        remedy=judgement.finding.remedy,
        team=owned.team,
        gpus=owned.gpus,
        gpus_least=owned.gpus_least,
        other_accelerators=owned.others,
        because=judgement.because,
        exception=exception,
        place=place_of(result, 0 if finding.place is None else finding.place.line),
        since=owned.since,
        mended_by=result.change.mends.get(judgement.finding.check, "") if result.change is not None else "",
    )


def _ticket(judgement: model.Judgement, exceptions: Sequence[ExceptionRule]) -> str:
    place = judgement.exception
    return exceptions[place].ticket if place is not None and place < len(exceptions) else ""


def counts_by_outcome(entries: Sequence[FindingEntry]) -> Mapping[str, int]:
    """The number of findings by outcome, without outcomes that have no finding."""
    found = Counter(entry.outcome for entry in entries)
    return {outcome.value: found[outcome.value] for outcome in model.Outcome if found[outcome.value]}
