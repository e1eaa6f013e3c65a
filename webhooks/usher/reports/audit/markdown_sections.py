"""The tables of an audit in Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from usher.audit.document import Audit, FindingEntry, GroupTable, Severity, Standing, Subject
from usher.dataclass import dataclass
from usher.reports.audit import accelerator_rows, numbers, words
from usher.reports.audit.markdown_cells import code, prose

_SAVINGS: Final = 10
"""Rows of savings: their texts are long, and the findings below them need room as well."""
_SEVERITIES: Final = list(Severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    """Cells in Markdown, worst first."""
    more: int = 0
    """Rows that are left out on purpose."""


def of(audit: Audit) -> Iterator[Section]:
    """The tables, the most important one first; some have no rows."""
    yield _findings("Can never run", [each for each in audit.findings if each.never], audit)
    for table in audit.usage:
        if table.by == "team":
            yield _teams(table)
    yield _accelerators(audit)
    yield _savings(audit)
    yield _prevented(audit)
    yield _findings("Findings", [each for each in audit.findings if not each.never], audit)
    yield _exceptions(audit)
    yield _readiness(audit)


def _teams(table: GroupTable) -> Section:
    return Section(
        title="GPU-hours by team",
        header=("team", "allocated", "idle", "cost of idle"),
        rows=[
            (
                code(row.name) if row.name else "without a team",
                numbers.hours(row.usage.allocated),
                numbers.hours(row.usage.idle),
                numbers.money(cost.idle, prose(cost.currency)) if (cost := row.usage.cost) else "",
            )
            for row in table.rows
        ],
    )


def _accelerators(audit: Audit) -> Section:
    found = audit.other_accelerators if audit.summary.knows_cluster else ()
    cells = ((code(name), *map(prose, amounts)) for name, *amounts in accelerator_rows.rows(found))
    return Section(title="Other accelerators", header=accelerator_rows.HEADERS, rows=[*cells])


def _savings(audit: Audit) -> Section:
    return Section(
        title="What could be saved",
        header=("workload", "why", "change", "GPU-hours", "money"),
        rows=[
            (
                _subject(each.subject),
                prose("; ".join(each.evidence)),
                prose(f"{each.change}. First: {each.needs}" if each.needs else each.change),
                numbers.hours(each.gpu_hours),
                numbers.money(each.cost, prose(audit.summary.currency)),
            )
            for each in sorted(audit.savings, key=lambda each: not each.adds_up)[:_SAVINGS]
        ],
        more=max(0, len(audit.savings) - _SAVINGS),
    )


def _prevented(audit: Audit) -> Section:
    return Section(
        title="What rules of usher would have prevented",
        header=("rule", "today", "workloads", "idle", "stuck", "money"),
        rows=[
            (
                f"{code(each.code)} {prose(each.title)}{'' if each.denies else ' (only warns: if it denied)'}",
                f"{each.workloads:,}",
                numbers.hours(each.idle),
                numbers.hours(each.stuck),
                numbers.money(each.cost, prose(audit.summary.currency)),
            )
            for each in audit.prevented
        ],
    )


def _exceptions(audit: Audit) -> Section:
    return Section(
        title="Exceptions",
        header=("ticket", "owner", "checks", "ends", "state"),
        rows=[
            tuple(map(prose, (each.ticket, each.owner, ", ".join(each.checks), each.expires.isoformat(), each.state)))
            for each in sorted(audit.exceptions, key=lambda each: (each.days_left, each.ticket))
        ],
    )


def _readiness(audit: Audit) -> Section:
    return Section(
        title="Readiness: what fails",
        header=("area", "item", "seen", "remedy"),
        rows=[
            (prose(each.area), prose(each.title), prose("; ".join(each.evidence)), prose(each.remedy, empty=""))
            for each in audit.readiness
            if each.standing is Standing.FAIL
        ],
    )


def _findings(title: str, found: Iterable[FindingEntry], audit: Audit) -> Section:
    worst_first = sorted(found, key=lambda each: (_SEVERITIES.index(each.severity), -each.known_gpus))
    return Section(
        title=title,
        header=("code", "object", "GPUs", "finding", "remedy", "team", "since"),
        rows=[
            (
                code(each.code),
                _subject(each.subject) + (f" {code(each.place)}" if each.place else ""),
                prose(words.amount(each.gpus, each.gpus_least, each.other_accelerators)),
                prose(each.message + (f" ({words.milder(each.outcome, each.because)})" if each.because else "")),
                prose(each.remedy, empty=""),
                prose(each.team, empty=""),
                prose(audit.trend.first_seen.get(each.fingerprint, each.since)[:10], empty=""),
            )
            for each in worst_first
        ],
    )


def _subject(subject: Subject) -> str:
    return code(f"{subject.kind} {f'{subject.namespace}/' if subject.namespace else ''}{subject.name}")
