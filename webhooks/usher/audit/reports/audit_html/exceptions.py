"""The exceptions of usher.yaml: those that end first."""

from typing import Final

from usher.audit.document import Audit, ExceptionEntry
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.page import Section
from usher.reports import wording

_BADGES: Final = {"used": "good", "unused": "warn", "expired": "bad", "not needed": "warn"}

_COLUMNS: Final = (
    tables.Column(title="Ticket", heads=True),
    tables.Column(title="State", explained="Not needed: the checks find nothing there any more"),
    tables.Column(title="Ends", numeric=True),
    tables.Column(title="Owner"),
    tables.Column(title="Checks"),
    tables.Column(title="Namespaces"),
    tables.Column(title="Findings", numeric=True, explained="Findings of now that it covers"),
)


def section(audit: Audit) -> Section:
    listed = sorted(audit.exceptions, key=lambda each: (each.days_left, each.ticket))
    return Section(
        name="exceptions",
        title="Exceptions",
        count=len(audit.exceptions),
        body=tables.html(
            tables.Table(
                name="exceptions-table",
                caption="Exceptions",
                columns=_COLUMNS,
                rows=[_row(each) for each in listed],
                filters={"state": "State", "owner": "Owner"},
                empty="usher.yaml has no exceptions.",
            )
        ),
    )


def _row(each: ExceptionEntry) -> tables.Row:
    days = abs(each.days_left)
    left = f"{wording.count(days, 'day')} ago" if each.days_left < 0 else f"in {wording.count(days, 'day')}"
    return tables.Row(
        facets=(each.state, each.owner),
        cells=(
            cells.lines(("strong", each.ticket), ("muted", each.reason)),
            cells.badge(each.state, _BADGES.get(each.state, "quiet")),
            cells.Cell((("plain", each.expires.isoformat()), ("muted", left)), sort=each.days_left),
            cells.text(each.owner),
            cells.text(", ".join(each.checks)),
            cells.text(", ".join(each.namespaces)),
            cells.Cell((_findings(each),), sort=each.findings),
        ),
    )


def _findings(each: ExceptionEntry) -> cells.Piece:
    """How many it covers, as a link to them."""
    if not each.findings:
        return ("text", "0")
    return ("link", f"{each.findings:,}", f"#findings-table?{tables.query(exception=each.ticket)}")
