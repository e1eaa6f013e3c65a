"""The sections of an audit: findings about the cluster as a whole, the production checklist, and prevented GPU-hours.

Findings complement the checks on single objects: waiting workloads, unused quotas, gaps in coverage and others.
`situation` explains each of them. A kind that is not known leads to no finding. An item of the checklist
passes, fails, is not known or does not apply, with evidence; a kind that may not be listed makes an item not known,
never a pass.

usher's own rules would have prevented idle and stuck GPU-hours, by the rule that denies the workloads. A rule that only
warns prevents nothing. It has a row of its own if a finding about the cluster names it: what it would have prevented if
it denied. A workload whose mistake the mutations of admission mend would have run as well.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, NamedTuple

from msgspec import Struct, field

from usher.audit.document import FindingEntry, Prevented, ReadinessItem, Severity, Standing, Subject, WorkloadEntry
from usher.audit.gather.estate import Estate
from usher.audit.readiness import capacity_items, checklist, protection_items
from usher.audit.readiness.checklist import Item, Look
from usher.audit.standing import cluster_equipment, node_health, policy_coverage, queues_and_quotas, waiting_workloads
from usher.audit.standing import situation as standing_situation
from usher.audit.standing.situation import Situation
from usher.audit.usage import usage_amounts
from usher.audit.usage.usage_amounts import Measured
from usher.authorities.knowledge import Knowledge
from usher.check import findings as scan
from usher.config import models

Key = tuple[str, ...]

_ABOUT_THE_CLUSTER: Final = "cluster"


class _Rule(NamedTuple):
    code: str
    denies: bool


def prevented(
    findings: Iterable[FindingEntry], workloads: Iterable[WorkloadEntry], *, window: timedelta, now: datetime
) -> tuple[Prevented, ...]:
    """One row for each rule: rules that deny first, then by GPU-hours, the most first.

    Args:
        findings: the findings; usher skips those with an exception, because admission would let their workloads in.
        window: stuck GPU-hours count only within it.
    """
    entries = {_key(entry.subject): entry for entry in workloads}
    by_rule: dict[_Rule, list[FindingEntry]] = {}
    titles: dict[str, str] = {}
    for finding in findings:
        titles.setdefault(finding.code, finding.title)
        for rule in _rules(finding):
            if not finding.exception and _key(finding.subject) in entries:
                by_rule.setdefault(rule, []).append(finding)
    rows = []
    for rule, found in by_rule.items():
        title = titles.get(rule.code, found[0].title)
        held = [entries[key] for key in sorted({_key(each.subject) for each in found})]
        row = _row(rule, title, held, _stuck(found, window, now))
        if row.idle or row.stuck or any(_about_the_cluster(each) for each in found):
            rows.append(row)
    return tuple(sorted(rows, key=lambda row: (not row.denies, -max(row.idle or 0, row.stuck), -row.gpus, row.code)))


def _rules(finding: FindingEntry) -> Iterator[_Rule]:
    """The rules that would have refused the object."""
    if finding.prevented_by:
        yield _Rule(finding.prevented_by, denies=True)
    elif finding.preventable_by:
        yield _Rule(finding.preventable_by, denies=False)
    elif finding.outcome == "deny" and not finding.mended_by and not _about_the_cluster(finding):
        yield _Rule(finding.code, denies=True)


def _about_the_cluster(finding: FindingEntry) -> bool:
    return finding.category == _ABOUT_THE_CLUSTER


def _stuck(found: Iterable[FindingEntry], window: timedelta, now: datetime) -> dict[Key, float]:
    """The hours since an authority began to hold back each workload. A finding about another mistake has no
    authority.
    """
    hours: dict[Key, float] = {}
    for finding in found:
        if _about_the_cluster(finding) and finding.held_by:
            key = _key(finding.subject)
            hours[key] = max(hours.get(key, 0.0), _hours_since(finding.since, window, now))
    return hours


def _row(rule: _Rule, title: str, entries: Sequence[WorkloadEntry], stuck: Mapping[Key, float]) -> Prevented:
    idle = [entry.usage.idle for entry in entries if entry.usage.idle is not None]
    held = [entry.usage.gpus_now * stuck.get(_key(entry.subject), 0.0) for entry in entries]
    costs = [cost for entry in entries if (cost := _cost(entry, stuck.get(_key(entry.subject), 0.0))) is not None]
    return Prevented(
        code=rule.code,
        title=title,
        denies=rule.denies,
        workloads=len(entries),
        gpus=usage_amounts.rounded(sum(entry.usage.gpus_now or entry.known_gpus for entry in entries)),
        idle=usage_amounts.rounded(sum(idle)) if idle else None,
        stuck=usage_amounts.rounded(sum(held)),
        cost=usage_amounts.rounded(sum(costs)) if costs else None,
    )


def _cost(entry: WorkloadEntry, hours: float) -> float | None:
    """The cost of the idle or the stuck GPU-hours, whichever is more: a stuck GPU is idle too."""
    usage = entry.usage
    idle = usage.cost.idle if usage.cost is not None else None
    stuck = usage.cost_per_hour * hours if usage.cost_per_hour is not None and hours else None
    return max((each for each in (idle, stuck) if each is not None), default=None)


def _hours_since(since: str, window: timedelta, now: datetime) -> float:
    try:
        began = datetime.fromisoformat(since)
        length = now - began
    except (ValueError, TypeError):
        return 0.0
    return max(min(length, window).total_seconds(), 0.0) / 3600


def _key(subject: Subject) -> Key:
    return subject.api_version.partition("/")[0], subject.kind, subject.namespace, subject.name


class Sections(Struct, frozen=True, kw_only=True):
    """One value for each analysis."""

    standing: tuple[FindingEntry, ...] = ()
    """Findings about the cluster as a whole."""
    readiness: tuple[ReadinessItem, ...] = ()
    """The production checklist."""
    measured: Measured = field(default_factory=Measured)
    """Usage and money."""
    window: timedelta = timedelta(days=7)
    """The window of the usage."""


_SEVERITIES = list(Severity)

_FIND = (
    waiting_workloads.waiting_findings,
    waiting_workloads.half_started_findings,
    policy_coverage.admission_findings,
    policy_coverage.exception_findings,
    queues_and_quotas.queue_findings,
    queues_and_quotas.queue_quota_findings,
    queues_and_quotas.kai_queue_findings,
    queues_and_quotas.quota_findings,
    node_health.taint_findings,
    node_health.node_findings,
    node_health.mig_profile_findings,
    policy_coverage.coverage_findings,
    policy_coverage.webhook_findings,
)


def standing_findings(
    estate: Estate, known: Knowledge, *, report: scan.Report, config: models.Config, now: datetime
) -> Iterator[FindingEntry]:
    """All findings about a cluster, the worst first, then by code and object.

    Args:
        report: the decisions about its workloads; `Workload.index` is the place in it.
        now: the time of the audit, with its time zone.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    situation = Situation(
        estate=estate,
        known=known,
        report=report,
        config=config,
        now=now,
        nodes=nodes,
        records=standing_situation.records_of(estate),
        autoscaler=cluster_equipment.named_autoscaler(estate, known),
    )
    found = chain.from_iterable(find(situation) for find in _FIND)
    yield from sorted(found, key=_finding_order)


def _finding_order(entry: FindingEntry) -> tuple[int, str, str, str, str, str, str]:
    subject = entry.subject
    return (
        _SEVERITIES.index(entry.severity),
        entry.code,
        subject.namespace,
        subject.kind,
        subject.name,
        entry.path,
        entry.message,
    )


JUDGES: Final = {
    **checklist.DRIVER_JUDGES,
    **checklist.MONITORING_JUDGES,
    **capacity_items.SCHEDULING_JUDGES,
    **capacity_items.CAPACITY_JUDGES,
    **protection_items.ISOLATION_JUDGES,
    **protection_items.RECOVERY_JUDGES,
}
"""The function of each item of the checklist, by its id."""


def checklist_items(
    estate: Estate, known: Knowledge, *, config: models.Config, now: datetime, server_version: str
) -> tuple[ReadinessItem, ...]:
    """The verdict of a cluster on each item, in the order of the checklist.

    Args:
        now: the time of the audit, with its time zone.
        server_version: the version that the API server reports; empty if unknown.
    """
    look = Look(estate=estate, known=known, config=config, now=now, server_version=server_version)
    return tuple(_judged_item(item, look) for item in checklist.ITEMS)


def _judged_item(item: Item, look: Look) -> ReadinessItem:
    found = checklist.without_nodes(look, item.nodes) or JUDGES[item.id](look)
    return ReadinessItem(
        id=item.id,
        area=item.area,
        title=item.title,
        standing=found.standing,
        evidence=tuple(dict.fromkeys(found.evidence)),
        remedy=item.remedy if found.standing in (Standing.FAIL, Standing.NOT_KNOWN) else "",
        reference=item.reference,
        conformance=item.conformance,
    )
