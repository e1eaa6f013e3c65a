"""What the audit does not know: what it could not read, judge, measure or compare."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit
from usher.audit.reports import words
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.markup import Html, element, joined
from usher.audit.reports.web.page import Section
from usher.reports import wording

_COLUMNS: Final = (
    tables.Column(title="Part"),
    tables.Column(title="Source", heads=True),
    tables.Column(title="Reason"),
    tables.Column(title="Extent"),
)


def section(audit: Audit) -> Section:
    rows = [tables.Row(cells=tuple(map(cells.text, entry)), facets=(entry[0],)) for entry in _entries(audit)]
    read, of_them = audit.completeness, audit.summary.workloads
    counted = ", ".join(
        wording.count(number, thing)
        for number, thing in ((read.objects, "object"), (read.workloads, "workload"), (read.pods, "pod"))
    )
    with_accelerators = (
        f"{of_them:,} of the workloads {'holds or wants' if of_them == 1 else 'hold or want'} accelerators. "
        if of_them <= read.workloads
        else ""
    )
    return Section(
        name="not-known",
        title="Not known",
        count=len(rows),
        lead=f"Read: {counted}. {with_accelerators}{wording.count(read.finished, 'finished object')} left out.",
        body=tables.html(
            tables.Table(
                name="not-known-table",
                caption="Not known",
                columns=_COLUMNS,
                rows=rows,
                filters={"part": "Part"},
                empty="Everything was read, judged and measured.",
            )
        ),
    )


def notice(audit: Audit) -> Html:
    """That numbers may be too small, with the way to the reasons."""
    number = len(audit.completeness.gaps)
    return joined(
        f"Not complete: {wording.count(number, 'source')} could not be read, so numbers may be too small. ",
        element("a", "What is missing", href="#not-known"),
    )


def _entries(audit: Audit) -> Iterator[tuple[str, str, str, str]]:
    for gap in audit.completeness.gaps:
        yield "not read", gap.source, gap.reason, f"{wording.count(gap.read, 'object')} read before" if gap.read else ""
    for part in audit.not_judged:
        where = ", ".join(filter(None, (words.subject(part.subject), part.path, part.place)))
        yield "not judged", where, part.reason, ""
    checks = audit.completeness.checks_without_facts
    if checks:
        reason = "they compare with a cluster; give its facts with --facts (usher snapshot saves them)"
        yield "left out", wording.count(checks, "check"), reason, ""
    for problem in audit.measurement.problems:
        yield "measurement", audit.measurement.source, problem, ""
    for each in audit.not_evaluated:
        yield "not judged", f"{each.code} {each.name}", each.reason, wording.count(each.workloads, "workload")
    for problem in audit.trend.problems:
        yield "not compared", "earlier audits", problem, ""
    for gap in audit.completeness.left_out:
        yield "left out", gap.source, gap.reason, ""
