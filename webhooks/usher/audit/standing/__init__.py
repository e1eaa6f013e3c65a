"""Findings about a cluster as a whole: waiting workloads, broken or unused objects, gaps in coverage. Checks judge
single objects.

`catalogue` explains each of them. An unknown kind leads to no finding.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain

from usher.audit.document import FindingEntry, Severity
from usher.audit.estate import Estate
from usher.audit.standing import (
    admission,
    autoscalers,
    coverage,
    exceptions,
    half_started,
    kai_queues,
    mig_layouts,
    node_health,
    other_webhooks,
    queue_quotas,
    queues,
    quotas,
    records,
    taints,
    waiting,
)
from usher.audit.standing.situation import Situation
from usher.authorities.knowledge import Knowledge
from usher.check import findings as scan
from usher.config import models

_ORDER = list(Severity)

_PARTS = (
    waiting,
    half_started,
    admission,
    exceptions,
    queues,
    queue_quotas,
    kai_queues,
    quotas,
    taints,
    node_health,
    mig_layouts,
    coverage,
    other_webhooks,
)


def findings(
    estate: Estate, known: Knowledge, *, report: scan.Report, config: models.Config, now: datetime
) -> Iterator[FindingEntry]:
    """All findings about a cluster, the worst first, then by code and object.

    Args:
        estate: the nodes, workloads and other objects of the cluster.
        known: its facts, and the meaning of resource names.
        report: the decisions about its workloads; `Workload.index` is the place in it.
        config: usher.yaml.
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
        records=records.of(estate),
        autoscaler=autoscalers.named(estate, known),
    )
    found = chain.from_iterable(part.findings(situation) for part in _PARTS)
    yield from sorted(found, key=_place)


def _place(entry: FindingEntry) -> tuple[int, str, str, str, str, str, str]:
    subject = entry.subject
    return (
        _ORDER.index(entry.severity),
        entry.code,
        subject.namespace,
        subject.kind,
        subject.name,
        entry.path,
        entry.message,
    )
