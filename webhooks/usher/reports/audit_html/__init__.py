"""An audit as one HTML file, for people: it loads nothing, and reads well without JavaScript and on paper.

The same document makes the same bytes. What was not measured has no number anywhere.
"""

from collections.abc import Iterator, Sequence
from typing import TextIO

from usher.audit.document import Audit
from usher.reports import wording
from usher.reports.audit_html import (
    exceptions,
    findings,
    glossary,
    not_known,
    overview,
    prevented,
    readiness,
    savings,
    trends,
    usage,
    workloads,
)
from usher.reports.web import numbers, page
from usher.reports.web.markup import Html


def write(audit: Audit, stream: TextIO, /) -> None:
    """Writes the page."""
    stream.write(text(audit))


def text(audit: Audit, *, notices: Sequence[str] = ()) -> str:
    """The page; `notices` stand before everything else, for example that a newer audit failed."""
    name = audit.cluster.name or "cluster"
    return page.html(
        page.Page(
            title=f"{name}: audit of {numbers.day(audit.taken)}",
            heading=name,
            facts=tuple(_facts(audit)),
            notices=(*notices, *_notices(audit)),
            first=overview.html(audit),
            sections=(
                trends.section(audit),
                usage.section(audit),
                savings.section(audit),
                findings.section(audit),
                workloads.section(audit),
                prevented.section(audit),
                readiness.section(audit),
                exceptions.section(audit),
                not_known.section(audit),
                glossary.section(),
            ),
        )
    )


def _facts(audit: Audit) -> Iterator[str]:
    yield f"Taken {numbers.minute(audit.taken)}"
    if audit.cluster.nodes is not None:
        yield f"{wording.count(audit.cluster.nodes, 'node')} with GPUs"
    if audit.cluster.server:
        yield f"Kubernetes {audit.cluster.server}"
    measurement = audit.measurement
    seconds = numbers.seconds_between(measurement.start, measurement.end)
    if seconds:
        yield f"Usage of the last {numbers.days(seconds)}, measured by {measurement.source}"
    yield f"gpu-usher {audit.version}, configuration: {audit.configuration}, preset {audit.preset}"


def _notices(audit: Audit) -> Iterator[Html | str]:
    if audit.measurement.source == "none":
        yield (
            "The use of GPUs was not measured, so this report does not know the idle GPUs. "
            "Run usher audit with --prometheus URL, on a Prometheus that scrapes DCGM."
        )
    elif audit.summary.measured is not None and audit.summary.cost_allocated is None:
        yield "No GPU has a price. Set audit.prices in usher.yaml to see money beside GPU-hours."
    if not audit.completeness.complete:
        yield not_known.notice(audit)
