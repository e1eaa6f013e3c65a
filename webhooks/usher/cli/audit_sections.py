"""The analyses of an audit: each adds its section of the document, and names the kinds that it reads."""

from datetime import datetime
from typing import TYPE_CHECKING

from usher.cli import audit_usage

if TYPE_CHECKING:
    from usher.audit.building.wanted import Wanted
    from usher.audit.estate import Estate
    from usher.audit.sections import Sections
    from usher.authorities.knowledge import Knowledge
    from usher.cli.audit_inputs import Source
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
    usage: audit_usage.Options,
    source: "Source",
    now: datetime,
) -> "Sections":
    """What the analyses say.

    Args:
        estate: the nodes and workloads of the cluster.
        known: the facts and usher.yaml.
        report: the decisions.
        usage: where to measure usage.
        source: the cluster or the files.
        now: the time of the audit, in UTC.
    """
    from usher.audit import readiness, standing
    from usher.audit.sections import Sections, Totals

    measured = usage.measure(estate, config=known.config.audit, now=now, source=source.series)
    return Sections(
        standing=tuple(standing.findings(estate, known, report=report, config=known.config, now=now)),
        readiness=readiness.items(estate, known, config=known.config, now=now, server_version=source.server),
        measurement=measured.measurement,
        usage=measured.workloads,
        tables=measured.groups,
        prices=measured.prices,
        targets=measured.targets,
        savings=measured.savings,
        totals=Totals(
            usage=measured.total,
            savings_gpu_hours=measured.saved_gpu_hours,
            savings_cost=measured.saved_cost,
            savings_cost_saved=measured.saved_on_bill,
            savings_cost_freed=measured.freed,
            not_held=measured.not_held,
            currency=measured.currency,
            queue_wait_p95_seconds=measured.queue_wait_p95_seconds,
        ),
        window=usage.window,
    )
