"""The findings of checks on single objects, as entries of the audit document."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from usher import model, paths
from usher.audit import subjects, times
from usher.audit.document import FindingEntry, Severity
from usher.audit.gather import gpus
from usher.audit.gather.estate import Estate, Node, Workload
from usher.config.models import ExceptionRule
from usher.dataclass import dataclass
from usher.scan import findings, fingerprints
from usher.scan.devices import added

_DIGITS = 32
"""Hexadecimal digits of a fingerprint: 128 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owned:
    """What an entry takes from the workload that its object belongs to."""

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
        exceptions: those of usher.yaml, in its order.
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
    """An object holds accelerators or asks for them; an object without any has the team of its namespace."""
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
    """What stays the same while the finding is the same: an upgrade of the API version changes nothing."""
    key = fingerprints.of(result, finding)
    group = key.api_version.rpartition("/")[0]
    return finding.judgement.code or key.check, group, key.kind, key.namespace, key.name, key.path


def _digest(base: str, number: int) -> str:
    """Several findings at like places of one object differ by their number."""
    text = base if number == 1 else f"{base}\0{number}"
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


def _entry(  # noqa: PLR0913 - what an entry is made of
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
    """How many findings there are by outcome; outcomes without findings are left out."""
    found = Counter(entry.outcome for entry in entries)
    return {outcome.value: found[outcome.value] for outcome in model.Outcome if found[outcome.value]}
