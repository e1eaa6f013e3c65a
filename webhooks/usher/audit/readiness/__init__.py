"""The production checklist of GPU clusters: each item passes, fails, is unknown or does not apply, with evidence.

An item is unknown, and never passes, if usher may not list a kind that it needs.
"""

from datetime import datetime
from typing import Final

from usher.audit.document import ReadinessItem, Standing
from usher.audit.estate import Estate
from usher.audit.readiness import capacity, drivers, isolation, monitoring, recovery, scheduling
from usher.audit.readiness.judgement import Item
from usher.audit.readiness.look import Look
from usher.authorities.knowledge import Knowledge
from usher.config import models

ITEMS: Final[tuple[Item, ...]] = (
    *drivers.ITEMS,
    *monitoring.ITEMS,
    *scheduling.ITEMS,
    *isolation.ITEMS,
    *capacity.ITEMS,
    *recovery.ITEMS,
)
"""The whole checklist, by area."""


def items(
    estate: Estate, known: Knowledge, *, config: models.Config, now: datetime, server_version: str
) -> tuple[ReadinessItem, ...]:
    """The verdict of a cluster on each item, in the order of the checklist.

    Args:
        estate: the nodes, workloads and other objects of the cluster.
        known: its facts, and the meaning of resource names.
        config: usher.yaml.
        now: the time of the audit, with its time zone.
        server_version: the version that the API server reports; empty if unknown.
    """
    look = Look(estate=estate, known=known, config=config, now=now, server_version=server_version)
    return tuple(_judged(item, look) for item in ITEMS)


def _judged(item: Item, look: Look) -> ReadinessItem:
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
