"""The tables of an audit in Markdown, in the order of the page."""

from collections.abc import Iterable, Iterator
from typing import Final

from usher.audit.document import Audit, FindingEntry, Standing
from usher.audit.reports import markdown_usage, numbers, ordering, words
from usher.audit.reports.markdown_cells import code, prose, subject
from usher.audit.reports.markdown_table import Table
from usher.audit.reports.numbers import TEXT

_CHANGES: Final = 10
"""New findings, and fixed ones, that the table of changes names."""


def of(audit: Audit) -> Iterator[Table]:
    """First what the first screen of the page has, then its sections; some tables have no rows."""
    yield from markdown_usage.teams(audit)
    yield markdown_usage.accelerators(audit)
    yield _findings("Can never run", [each for each in audit.findings if each.never], audit)
    yield _changes(audit)
    yield from markdown_usage.others(audit)
    if audit.savings:
        yield markdown_usage.savings(audit)
    yield _findings("Other findings", [each for each in audit.findings if not each.never], audit)
    yield markdown_usage.workloads(audit)
    yield markdown_usage.prevented(audit)
    yield _readiness(audit)
    yield _exceptions(audit)


def _findings(title: str, found: Iterable[FindingEntry], audit: Audit) -> Table:
    return Table(
        title=title,
        header=("severity", "code", "object", "GPUs", "finding", "remedy", "team", "since", "seen since"),
        rows=[
            (
                each.severity.value,
                code(each.code),
                subject(each.subject) + (f" {code(each.place)}" if each.place else ""),
                prose(_amount(each), empty=""),
                prose(each.message + (f" ({words.milder(each.outcome, each.because)})" if each.because else "")),
                prose(f"by the platform team: {each.remedy}" if each.fixed_by_platform else each.remedy, empty=""),
                prose(each.team, empty=""),
                prose(each.since[:10], empty="not known"),
                _seen(each, audit),
            )
            for each in ordering.findings(found)
        ],
    )


def _amount(found: FindingEntry) -> str:
    """Empty where what it is about neither holds accelerators nor asks for some."""
    known = found.gpus == 0 and not found.other_accelerators
    return "" if known else TEXT.accelerators(found.gpus, found.gpus_least, found.other_accelerators)


def _seen(found: FindingEntry, audit: Audit) -> str:
    """The first audit that found it, as the column *Seen* of the page."""
    if not audit.trend.previous:
        return "first audit"
    first = audit.trend.first_seen.get(found.fingerprint, "")
    return "new" if found.fingerprint in audit.trend.new else prose(first[:10], empty="not known")


def _changes(audit: Audit) -> Table:
    trend, new = audit.trend, frozenset(audit.trend.new)
    listed = ordering.findings(each for each in audit.findings if each.fingerprint in new)
    return Table(
        title=f"Since {numbers.minute(trend.previous)}",
        header=("change", "severity", "code", "object", "what"),
        rows=[
            *(
                ("new", each.severity.value, code(each.code), subject(each.subject), prose(each.message))
                for each in listed[:_CHANGES]
            ),
            *(("fixed", "", code(each.code), code(each.subject), prose(each.title)) for each in trend.fixed[:_CHANGES]),
        ],
        also=max(0, len(listed) - _CHANGES) + max(0, len(trend.fixed) - _CHANGES),
    )


def _readiness(audit: Audit) -> Table:
    return Table(
        title="Readiness: what fails",
        header=("area", "item", "seen", "remedy"),
        rows=[
            (prose(each.area), prose(each.title), prose("; ".join(each.evidence)), prose(each.remedy, empty=""))
            for each in audit.readiness
            if each.standing is Standing.FAIL
        ],
    )


def _exceptions(audit: Audit) -> Table:
    return Table(
        title="Exceptions",
        header=("ticket", "owner", "checks", "ends", "state"),
        rows=[
            tuple(map(prose, (each.ticket, each.owner, ", ".join(each.checks), each.expires.isoformat(), each.state)))
            for each in sorted(audit.exceptions, key=lambda each: (each.days_left, each.ticket))
        ],
    )
