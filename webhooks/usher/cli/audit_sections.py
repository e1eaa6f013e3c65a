"""The analyses of an audit: each adds its section of the document, and names the kinds that it reads."""

from datetime import datetime
from typing import TYPE_CHECKING

from usher.cli import audit_usage

if TYPE_CHECKING:
    from usher.audit.building.wanted import Wanted
    from usher.audit.document import ReadinessItem
    from usher.audit.estate import Estate
    from usher.audit.sections import Sections
    from usher.authorities.knowledge import Knowledge
    from usher.check import findings
    from usher.cli.audit_inputs import Inputs


def wanted() -> "tuple[Wanted, ...]":
    """The kinds that the sections read beside workloads, nodes and pods."""
    from usher.audit.wanted import merged

    return merged()


def analysed(
    estate: "Estate",
    known: "Knowledge",
    report: "findings.Report",
    *,
    usage: audit_usage.Options,
    audited: "Inputs",
    now: datetime,
) -> "Sections":
    """The sections of all analyses.

    Args:
        estate: the nodes and workloads of the cluster.
        known: the facts and usher.yaml.
        report: the decisions.
        usage: where to measure usage.
        audited: the cluster or the files.
        now: the time of the audit, in UTC.
    """
    from usher.audit import standing
    from usher.audit.sections import Sections

    return Sections(
        measured=usage.measure(estate, config=known.config.audit, now=now, source=audited.series),
        standing=tuple(standing.findings(estate, known, report=report, config=known.config, now=now)),
        readiness=_readiness(estate, known, now, server_version=audited.server),
        window=usage.window,
    )


def _readiness(
    estate: "Estate", known: "Knowledge", now: datetime, *, server_version: str
) -> "tuple[ReadinessItem, ...]":
    """The production checklist; empty without a cluster."""
    from usher.audit import readiness

    if not estate.knows_cluster:
        return ()
    return readiness.items(estate, known, config=known.config, now=now, server_version=server_version)
