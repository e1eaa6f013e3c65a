"""The analyses of an audit: each adds its section of the document, and names the kinds that it reads."""

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from usher.audit.building.wanted import Wanted
    from usher.audit.estate import Estate
    from usher.audit.sections import Sections
    from usher.authorities.knowledge import Knowledge
    from usher.scan import findings


def wanted() -> "tuple[Wanted, ...]":
    """The kinds that the sections read beside workloads, nodes and pods."""
    from usher.audit.wanted import merged

    return merged()


def analysed(
    estate: "Estate",
    known: "Knowledge",
    report: "findings.Report",
    *,
    server: str,
    now: datetime,
) -> "Sections":
    """What the analyses say.

    Args:
        estate: what the audit sees of the cluster.
        known: the facts and usher.yaml.
        report: the decisions.
        server: the version of the API server; empty where it is not known.
        now: the time of the audit, in UTC.
    """
    from usher.audit import standing
    from usher.audit.sections import Sections

    del server  # the sections of others go here
    found = standing.findings(estate, known, report=report, config=known.config, now=now)
    return Sections(standing=tuple(found))
