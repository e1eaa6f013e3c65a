"""The findings of checks on single objects, as entries of the audit document."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from usher import model, paths
from usher.audit import gpus, subjects, times
from usher.audit.document import FindingEntry, Severity
from usher.audit.estate import Estate, Node, Workload
from usher.check import findings
from usher.check.devices import added
from usher.config.models import ExceptionRule
from usher.dataclass import dataclass

_DIGITS = 32
"""Hexadecimal digits of a fingerprint: 128 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owned:
    """The values of an entry that come from the workload of its object."""

    team: str
    gpus: float | None
    gpus_least: float | None
    others: Mapping[str, float]
    since: str = ""


def entries(report: findings.Report, estate: Estate, exceptions: Sequence[ExceptionRule]) -> Iterator[FindingEntry]:
    """One entry for each finding, in the order of the report.

    Args:
        report: the decisions.
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
            yield _entry(
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
        since="" if workload is None else times.text(workload.created),
    )


def _lasting(result: findings.Result, finding: findings.Finding) -> tuple[str, ...]:
    """The parts of a finding that last: an upgrade of the API version does not change them."""
    key = findings.fingerprint(result, finding)
    group = key.api_version.rpartition("/")[0]
    return finding.judgement.code or key.check, group, key.kind, key.namespace, key.name, key.path


def _digest(base: str, number: int) -> str:
    """A fingerprint. The number distinguishes several findings at similar places of one object."""
    text = base if number == 1 else f"{base}\0{number}"
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


def _entry(  # noqa: PLR0913 - the parts of an entry
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
        subject=subjects.of(result.identity),
        path=paths.readable(path) if path else "",
        message=judgement.finding.message,
        remedy=judgement.finding.remedy,
        team=owned.team,
        gpus=owned.gpus,
        gpus_least=owned.gpus_least,
        other_accelerators=owned.others,
        because=judgement.because,
        exception=exception,
        place=subjects.place(result, 0 if finding.place is None else finding.place.line),
        since=owned.since,
        mended_by=result.change.mends.get(judgement.finding.check, "") if result.change is not None else "",
    )


def _ticket(judgement: model.Judgement, exceptions: Sequence[ExceptionRule]) -> str:
    place = judgement.exception
    return exceptions[place].ticket if place is not None and place < len(exceptions) else ""


def counts(entries: Sequence[FindingEntry]) -> Mapping[str, int]:
    """The number of findings by outcome, without outcomes that have no finding."""
    found = Counter(entry.outcome for entry in entries)
    return {outcome.value: found[outcome.value] for outcome in model.Outcome if found[outcome.value]}
