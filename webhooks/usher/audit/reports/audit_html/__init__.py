"""An audit as one HTML file, for people: it loads nothing, and reads well without JavaScript and on paper.

The same document makes the same bytes. What was not measured has no number anywhere.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from usher.audit.document import Audit
from usher.audit.reports import numbers
from usher.audit.reports.audit_html import (
    exceptions,
    findings,
    glossary,
    manifests,
    not_known,
    overview,
    prevented,
    readiness,
    savings,
    trends,
    usage,
    workloads,
)
from usher.audit.reports.web import page
from usher.audit.reports.web.markup import Html
from usher.reports import wording

_SOURCES: Final = {"prometheus": "measured by Prometheus", "demo": "invented for this demo"}
"""By the source of the measurement."""


def write(audit: Audit, stream: TextIO, /) -> None:
    """Writes the page."""
    stream.write(text(audit))


def text(audit: Audit, *, notices: Sequence[str] = ()) -> str:
    """The page; `notices` stand before everything else, for example that a newer audit failed."""
    name = audit.cluster.title or "cluster"
    return page.html(
        page.Page(
            title=f"{name}: audit of {numbers.day(audit.taken)}",
            heading=name,
            facts=tuple(_facts(audit)),
            notices=(*notices, *_notices(audit)),
            first=overview.html(audit) if audit.summary.knows_cluster else manifests.html(audit),
            sections=tuple(_sections(audit)),
        )
    )


def _sections(audit: Audit) -> Iterator[page.Section]:
    """All of them for a cluster; manifests neither use GPUs nor get ready."""
    of_cluster = audit.summary.knows_cluster
    if of_cluster:
        yield trends.section(audit)
    if of_cluster and audit.has_usage:
        yield usage.section(audit)
        yield savings.section(audit)
    yield findings.section(audit)
    yield workloads.section(audit)
    if of_cluster:
        yield prevented.section(audit)
        yield readiness.section(audit)
    yield exceptions.section(audit)
    yield not_known.section(audit)
    yield glossary.section()


def _facts(audit: Audit) -> Iterator[str]:
    yield f"Taken {numbers.minute(audit.taken)}"
    if audit.cluster.nodes is not None:
        alone = audit.summary.gpus and not any(each.nodes for each in audit.other_accelerators)
        what = "GPUs" if alone else "accelerators"
        yield f"{wording.count(audit.cluster.nodes, 'node')} with {what}"
    if audit.cluster.server:
        yield f"Kubernetes {audit.cluster.server}"
    measurement = audit.measurement
    seconds = numbers.seconds_between(measurement.start, measurement.end)
    if seconds:
        yield f"Usage of the last {numbers.days(seconds)}, {_SOURCES.get(measurement.source, 'measured')}"
    yield f"gpu-usher {audit.version}, configuration: {audit.configuration}, preset {audit.preset}"


def _notices(audit: Audit) -> Iterator[Html | str]:
    summary = audit.summary
    if audit.measurement.source == "none" and summary.knows_cluster and audit.has_usage:
        yield (
            "The use of GPUs was not measured, so this report does not know the idle GPUs. "
            "Run usher audit with --prometheus URL, on a Prometheus that scrapes DCGM."
        )
    elif summary.measured is not None and summary.cost_allocated is None:
        yield "No GPU has a price. Set audit.prices in usher.yaml to see money beside GPU-hours."
    if not audit.completeness.complete:
        yield not_known.notice(audit)
