"""The sections of an audit: findings about the cluster as a whole, the production checklist, and usage.

Findings complement the checks on single objects: waiting workloads, unused quotas, gaps in coverage and others.
`finding_catalogue` explains each of them. A kind that is not known leads to no finding. An item of the checklist
passes, fails, is not known or does not apply, with evidence; a kind that may not be listed makes an item not known,
never a pass.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Final

from msgspec import Struct, field

from usher.audit.document import FindingEntry, ReadinessItem, Severity, Standing
from usher.audit.gather.estate import Estate
from usher.audit.readiness import capacity_items, protection_items, software_items
from usher.audit.readiness.checklist import Item, Look
from usher.audit.standing import cluster_equipment, node_health, policy_coverage, queues_and_quotas, waiting_workloads
from usher.audit.standing import situation as standing_situation
from usher.audit.standing.situation import Situation
from usher.audit.usage.usage_amounts import Measured
from usher.authorities.knowledge import Knowledge
from usher.check import findings as scan
from usher.config import models


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


CHECKLIST: Final[tuple[Item, ...]] = (
    *software_items.DRIVER_ITEMS,
    *software_items.MONITORING_ITEMS,
    *capacity_items.SCHEDULING_ITEMS,
    *protection_items.ISOLATION_ITEMS,
    *capacity_items.CAPACITY_ITEMS,
    *protection_items.RECOVERY_ITEMS,
)
"""The whole checklist, by area."""


def checklist_items(
    estate: Estate, known: Knowledge, *, config: models.Config, now: datetime, server_version: str
) -> tuple[ReadinessItem, ...]:
    """The verdict of a cluster on each item, in the order of the checklist.

    Args:
        now: the time of the audit, with its time zone.
        server_version: the version that the API server reports; empty if unknown.
    """
    look = Look(estate=estate, known=known, config=config, now=now, server_version=server_version)
    return tuple(_judged_item(item, look) for item in CHECKLIST)


def _judged_item(item: Item, look: Look) -> ReadinessItem:
    found = item.judge(look)
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
