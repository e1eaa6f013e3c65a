"""Objects, workloads and findings of checks as entries of the audit document, and the document of a part of a cluster.

An object is named by its identity, and a manifest by its place too. Times are ISO 8601 in UTC, whole seconds. A part is
one namespace, or a shard. Its document does not judge the rest.

Pods may refute a finding: GKE and other clusters add tolerations at admission
(k8s.io/kubernetes plugin/pkg/admission/extendedresourcetoleration), and so do webhooks of others. The template of these
pods does not change. An audit sees both.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.audit.document import Audit, FindingEntry, GroupTable, Severity, Subject, Usage, WorkloadEntry, WorkloadState
from usher.audit.gather import gpus, needed_inputs
from usher.audit.gather.estate import Estate, Node, Pod, Scope, Workload
from usher.audit.gather.needed_inputs import Need
from usher.check import findings, runner
from usher.check.devices import added
from usher.cluster.facts.nodes import Taint
from usher.config.models import ExceptionRule
from usher.model import placement


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
    usual = gpus.node_of(workload, nodes)
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
        gpus=gpus.number(workload.asks, usual) if workload.asks_known else None,
        gpus_least=gpus.least(workload.asks, usual) if workload.asks_known else None,
        other_accelerators=gpus.numbers(gpus.others(workload.asks, usual)),
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
    usual = None if workload is None else gpus.node_of(workload, nodes)
    is_known = bool(holding) or result.accelerators_known
    return _Owned(
        team=teams.get(namespace, namespace) if workload is None else workload.team,
        gpus=(held or gpus.number(devices, usual)) if is_known else None,
        gpus_least=(held or gpus.least(devices, usual)) if is_known else None,
        others=gpus.numbers(gpus.others(devices, usual)),
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


ABOUT_ABSENCE: Final = frozenset({"USA010", "USA012", "USA020", "USA024", "USA032"})
"""Codes of findings that nothing uses or needs an object: true only if every part of a cluster reports it."""

ABOUT_WORKLOADS: Final = frozenset({"USA050", "USA051"})
"""Codes of findings without a namespace that count workloads: each part has the GPUs of its own workloads."""

_ABOUT_ABSENCE_OF_USE: Final = frozenset({"unused", "not needed"})
"""States of exceptions that only an audit of all workloads proves."""


def document_of_part(audit: Audit, scope: Scope) -> Audit:
    """The document without objects of other parts, and without statements that only all parts together prove.

    The part with the nodes reports objects without a namespace, so exactly one shard reports them.
    """
    if scope.is_whole:
        return audit
    narrowed = document_of_objects(audit, scope)
    findings = tuple(
        each
        for each in narrowed.findings
        if each.subject.namespace or (scope.has_nodes and each.code not in ABOUT_ABSENCE | ABOUT_WORKLOADS)
    )
    return needed_inputs.without_unknown(narrowed, needed_inputs.beyond_scope(scope)).model_copy(
        update={
            "findings": findings,
            "summary": needed_inputs.without_unknown(narrowed.summary, needed_inputs.beyond_scope(scope)).model_copy(
                update={"findings": _outcomes(findings)}
            ),
            "exceptions": tuple(each for each in audit.exceptions if each.state not in _ABOUT_ABSENCE_OF_USE),
        }
    )


def document_of_objects(audit: Audit, scope: Scope, *, keeping: Collection[str] = ()) -> Audit:
    """The document with the objects of the part only.

    Findings without a namespace stay, because all shards together know whether a queue has no workloads.

    Args:
        keeping: numbers of the summary, and sections, to keep although the part does not know them alone.
    """
    findings = tuple(each for each in audit.findings if not each.subject.namespace or scope.has(each.subject.namespace))
    workloads = tuple(each for each in audit.workloads if scope.has(each.subject.namespace))
    lacking = needed_inputs.beyond_scope(scope)
    summary = needed_inputs.without_unknown(audit.summary, lacking, keeping=keeping)
    cluster = audit.cluster if scope.has_nodes else audit.cluster.model_copy(update={"nodes": None})
    return needed_inputs.without_unknown(audit, lacking, keeping=keeping).model_copy(
        update={
            "cluster": cluster,
            "summary": summary.model_copy(update={"workloads": len(workloads), "findings": _outcomes(findings)}),
            "workloads": workloads,
            "findings": findings,
            "savings": tuple(each for each in audit.savings if scope.has(each.subject.namespace)),
            "other_accelerators": tuple(
                needed_inputs.without_unknown(each, lacking) for each in audit.other_accelerators
            ),
            "usage": tuple(_split_at_pod_start(table, lacking) for table in audit.usage),
        }
    )


def _split_at_pod_start(table: GroupTable, lacking: frozenset[Need]) -> GroupTable:
    """The table of the part, without GPUs that no pod held and without groups that its pods never held."""
    if not lacking:
        return table
    rows = [each for each in table.rows if each.workloads or each.usage.gpus_now or each.usage.allocated]
    return table.model_copy(update={"rows": tuple(needed_inputs.without_unknown(each, lacking) for each in rows)})


def _outcomes(findings: Iterable[FindingEntry]) -> Mapping[str, int]:
    return dict(sorted(Counter(each.outcome for each in findings).items()))


TOLERATION_CHECK: Final = "placement/gpu_toleration_present"

BECAUSE_OF_PODS: Final = "its pods have the toleration, because the cluster or a webhook adds it when they are made"


def settled_by_pods(report: findings.Report, estate: Estate) -> findings.Report:
    """The report, with a missing toleration as a mere note if the pods have it.

    Args:
        estate: the workloads with their pods and the nodes of these pods.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    refuted = frozenset(
        each.index
        for each in estate.workloads
        if each.index >= 0 and _concerned(report.results[each.index]) and _pods_tolerate(each, nodes)
    )
    if not refuted:
        return report
    results = tuple(
        replace(result, findings=tuple(_noted_findings(result))) if index in refuted else result
        for index, result in enumerate(report.results)
    )
    return replace(report, results=results, totals=runner.recounted(report.totals, results))


def _pods_tolerate(workload: Workload, nodes: Mapping[str, Node]) -> bool:
    """Whether its pods run on nodes whose taints keep pods off, and tolerate all of these taints.

    A running pod alone proves nothing: it may stay on a node that was tainted later.
    """
    places = [(pod, _guards(nodes[pod.node])) for pod in workload.pods if pod.holds and pod.node in nodes]
    tolerated = all(not placement.untolerated(pod.tolerations, guards) for pod, guards in places)
    return tolerated and any(guards for _, guards in places)


def _guards(node: Node) -> list[Taint]:
    found = (Taint(key=key, value=value, effect=effect) for key, value, effect in node.taints)
    return [taint for taint in found if taint.effect in placement.GUARDING]


def _concerned(result: findings.Result) -> bool:
    return any(each.judgement.finding.check == TOLERATION_CHECK for each in result.findings)


def _noted_findings(result: findings.Result) -> Iterator[findings.Finding]:
    """The findings with those notes, worst first."""
    noted = [
        _milder_finding(each) if each.judgement.finding.check == TOLERATION_CHECK else each for each in result.findings
    ]
    yield from sorted(noted, key=lambda each: list(model.Outcome).index(each.judgement.outcome))


def _milder_finding(found: findings.Finding) -> findings.Finding:
    if found.judgement.outcome is model.Outcome.AUDIT:
        return found
    return replace(found, judgement=replace(found.judgement, outcome=model.Outcome.AUDIT, because=BECAUSE_OF_PODS))
