"""The production checklist, failures first."""

from typing import Final
from urllib.parse import urlsplit

from usher.audit.document import Audit, ReadinessItem, Standing
from usher.audit.reports import words
from usher.audit.reports.audit_html import labels
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.page import Section

_RANKS: Final = {
    standing: rank
    for rank, standing in enumerate((Standing.FAIL, Standing.NOT_KNOWN, Standing.PASS, Standing.NOT_APPLICABLE))
}

_COLUMNS: Final = (
    tables.Column(title="Standing", ranked=True, narrow=True, explained="Not known is neither a pass nor a failure"),
    tables.Column(title="Area", narrow=True),
    tables.Column(title="Item", heads=True),
    tables.Column(title="Evidence"),
    tables.Column(title="Asked for by"),
)


def section(audit: Audit) -> Section:
    lead = words.standings(audit.summary.readiness)
    listed = sorted(audit.readiness, key=lambda item: (_RANKS[item.standing], item.area, item.id))
    return Section(
        name="readiness",
        title="Readiness",
        count=len(audit.readiness),
        lead=f"{lead}." if lead else "",
        body=tables.html(
            tables.Table(
                name="readiness-table",
                caption="Readiness for production",
                columns=_COLUMNS,
                rows=[_row(item) for item in listed],
                filters={"standing": "Standing", "area": "Area", "conformance": "AI conformance"},
                empty="The checklist was not run."
                if audit.cluster.is_whole
                else "The checklist is about a whole cluster; audit it without --namespace.",
            )
        ),
    )


def _row(item: ReadinessItem) -> tables.Row:
    standing = item.standing
    conformance = f"CNCF AI conformance: {item.conformance}" if item.conformance else ""
    return tables.Row(
        facets=(standing.value, item.area, item.conformance),
        cells=(
            cells.badge(standing.value, labels.BADGES[standing], _RANKS[standing]),
            cells.text(item.area),
            cells.lines(("strong", item.title), ("fix", item.remedy if standing is Standing.FAIL else "")),
            cells.lines(*(("plain", line) for line in item.evidence)),
            cells.lines(_reference(item.reference), ("muted", conformance)),
        ),
    )


def _reference(text: str) -> cells.Piece:
    """A link that shows its host, or a page of gpu-usher as text."""
    if not text.startswith("https://"):
        return ("plain", text)
    try:
        return ("link", urlsplit(text).hostname or text, text)
    except ValueError:
        return ("plain", text)
