"""An audit in Markdown, for an issue or a wiki: the numbers, and the worst of each part.

It has a bounded size, because GitHub takes 65,536 characters. Rows left out are counted.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TextIO

from usher.audit.document import Audit, FindingEntry, Severity, Standing, Subject
from usher.dataclass import dataclass
from usher.reports import wording
from usher.reports.audit import numbers, words
from usher.reports.ci import markdown_text

MAX_SIZE: Final = 65_536
"""Characters, as UTF-16 counts them."""

_RESERVED: Final = 1_000
"""Characters kept for the end."""
_ROWS: Final = 20
"""Rows of one table."""
_SAVINGS: Final = 10
"""Rows of savings: their texts are long, and the findings below them need room as well."""
_MAX_TEXT: Final = 400
"""Characters of one text, so that one name cannot fill the report."""
_SEVERITIES: Final = list(Severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    """Cells in Markdown, worst first."""
    more: int = 0
    """Rows that are left out on purpose."""


def write(audit: Audit, stream: TextIO, /, *, max_size: int = MAX_SIZE) -> None:
    """Writes the report, of at most `max_size` characters."""
    pieces = [_head(audit)]
    room = max_size - _RESERVED - _size(pieces[0])
    left_out = 0
    for section in filter(lambda each: each.rows, _sections(audit)):
        text = f"\n### {section.title}\n\n{_row(section.header)}{_row(['---'] * len(section.header))}"
        shown = 0
        for row in map(_row, section.rows[:_ROWS]):
            if _size(text) + _size(row) > room:
                break
            text, shown = text + row, shown + 1
        if not shown:
            left_out += len(section.rows)
            continue
        if more := len(section.rows) - shown + section.more:
            text += f"\nand {more:,} more\n"
        pieces.append(text)
        room -= _size(text)
    if left_out:
        pieces.append(f"\n**{left_out:,} rows left out**, because the report has room for {max_size:,} characters.\n")
    pieces.append(f"\n{_prose(f'gpu-usher {audit.version}, configuration: {audit.configuration}')}\n")
    stream.write("".join(pieces))


def _head(audit: Audit) -> str:
    lines = [f"## GPUs of {_prose(audit.cluster.name)}, {words.moment(audit.taken)}", ""]
    if not audit.completeness.complete:
        gaps = [f"* {_code(each.source)}: {_prose(each.reason)}" for each in audit.completeness.gaps[:_ROWS]]
        more = len(audit.completeness.gaps) - len(gaps)
        lines += ["**This audit is incomplete**, so its numbers may be too small:", "", *gaps]
        lines += [f"* and {more:,} more", ""] if more else [""]
    rows = [(name, value) for name, value in _numbers(audit) if value]
    lines += ["| | |", "| --- | --- |", *(f"| {name} | {_prose(value)} |" for name, value in rows), ""]
    hint = ["usage was not measured; `usher audit --prometheus URL` measures it"] if _unmeasured(audit) else []
    problems = [*map(_prose, (*audit.measurement.problems, *audit.trend.problems))]
    problems = [*hint, *problems]
    lines += [f"* {each}" for each in problems[:_ROWS]]
    lines += [f"* and {len(problems) - _ROWS:,} more"] if len(problems) > _ROWS else []
    lines += [""] if problems else []
    return "\n".join(lines)


def _unmeasured(audit: Audit) -> bool:
    return audit.measurement.source == "none" and audit.summary.gpus != 0 and audit.summary.gpus_allocated is not None


def _numbers(audit: Audit) -> Iterator[tuple[str, str]]:
    found = audit.summary
    yield "asked for", words.asked(audit)
    not_known = wording.count(found.workloads_not_known, "workload")
    yield "not known", f"the accelerators of {not_known} cannot be read" if found.workloads_not_known else ""
    not_judged = wording.count(audit.completeness.not_judged, "part")
    yield "not judged", f"{not_judged} of workloads" if audit.completeness.not_judged else ""
    yield "findings", words.findings(found.findings)
    if not found.knows_cluster:
        yield "allocated, waiting, can never run", "not known: these are files"
        return
    yield "GPUs", f"{numbers.gpus(found.gpus)}; allocated {numbers.gpus(found.gpus_allocated)}"
    yield "waiting", f"{numbers.gpus(found.gpus_waiting)} GPUs" if found.gpus_waiting else ""
    yield "can never run", _never(audit)
    yield "allocated", _both(numbers.hours(found.allocated), found.cost_allocated, found.currency)
    yield "idle", _both(numbers.hours(found.idle), found.cost_idle, found.currency)
    yield "activity of allocated GPUs", numbers.share(found.activity)
    yield "could be saved", _both(numbers.hours(found.savings_gpu_hours), found.savings_cost, found.currency)
    yield "since the audit before", _changes(audit)
    yield "measured from", _window(audit) if audit.measurement.start else ""


def _window(audit: Audit) -> str:
    return f"{words.moment(audit.measurement.start)} to {words.moment(audit.measurement.end)}"


def _never(audit: Audit) -> str:
    gpus, workloads = audit.summary.gpus_never, audit.summary.workloads_never
    if gpus is None or not workloads:
        return ""
    return f"{wording.count(workloads, 'workload')} ({words.between(gpus, words.least_never(audit))} GPUs)"


def _both(hours: str, cost: float | None, currency: str) -> str:
    return hours if hours == numbers.NOT_MEASURED else f"{hours}, {numbers.money(cost, currency)}"


def _changes(audit: Audit) -> str:
    trend = audit.trend
    return (
        f"{len(trend.new):,} new, {len(trend.fixed):,} fixed ({words.moment(trend.previous)})" if trend.previous else ""
    )


def _sections(audit: Audit) -> Iterator[_Section]:
    never = [each for each in audit.findings if each.never]
    yield _findings("Can never run", never, audit)
    for table in audit.usage:
        if table.by == "team":
            yield _Section(
                title="GPU-hours by team",
                header=("team", "allocated", "idle", "cost of idle"),
                rows=[
                    (
                        _code(row.name) if row.name else "without a team",
                        numbers.hours(row.usage.allocated),
                        numbers.hours(row.usage.idle),
                        numbers.money(cost.idle, _prose(cost.currency)) if (cost := row.usage.cost) else "",
                    )
                    for row in table.rows
                ],
            )
    yield _Section(
        title="What could be saved",
        header=("workload", "why", "change", "GPU-hours", "money"),
        rows=[
            (
                _subject(each.subject),
                _prose("; ".join(each.evidence)),
                _prose(f"{each.change}. First: {each.needs}" if each.needs else each.change),
                numbers.hours(each.gpu_hours),
                numbers.money(each.cost, _prose(audit.summary.currency)),
            )
            for each in sorted(audit.savings, key=lambda each: not each.adds_up)[:_SAVINGS]
        ],
        more=max(0, len(audit.savings) - _SAVINGS),
    )
    yield _Section(
        title="What rules of usher would have prevented",
        header=("rule", "today", "workloads", "idle", "stuck", "money"),
        rows=[
            (
                f"{_code(each.code)} {_prose(each.title)}{'' if each.denies else ' (only warns: if it denied)'}",
                f"{each.workloads:,}",
                numbers.hours(each.idle),
                numbers.hours(each.stuck),
                numbers.money(each.cost, _prose(audit.summary.currency)),
            )
            for each in audit.prevented
        ],
    )
    yield _findings("Findings", [each for each in audit.findings if not each.never], audit)
    yield _Section(
        title="Exceptions",
        header=("ticket", "owner", "checks", "ends", "state"),
        rows=[
            tuple(map(_prose, (each.ticket, each.owner, ", ".join(each.checks), each.expires.isoformat(), each.state)))
            for each in sorted(audit.exceptions, key=lambda each: (each.days_left, each.ticket))
        ],
    )
    yield _Section(
        title="Readiness: what fails",
        header=("area", "item", "seen", "remedy"),
        rows=[
            (_prose(each.area), _prose(each.title), _prose("; ".join(each.evidence)), _prose(each.remedy, empty=""))
            for each in audit.readiness
            if each.standing is Standing.FAIL
        ],
    )


def _findings(title: str, found: Iterable[FindingEntry], audit: Audit) -> _Section:
    worst_first = sorted(found, key=lambda each: (_SEVERITIES.index(each.severity), -each.known_gpus))
    return _Section(
        title=title,
        header=("code", "object", "GPUs", "finding", "remedy", "team", "since"),
        rows=[
            (
                _code(each.code),
                _subject(each.subject) + (f" {_code(each.place)}" if each.place else ""),
                _prose(words.amount(each.gpus, each.gpus_least, each.other_accelerators)),
                _prose(each.message + (f" (a warning only: {each.because})" if each.because else "")),
                _prose(each.remedy, empty=""),
                _prose(each.team, empty=""),
                _prose(audit.trend.first_seen.get(each.fingerprint, each.since)[:10], empty=""),
            )
            for each in worst_first
        ],
    )


def _subject(subject: Subject) -> str:
    return _code(f"{subject.kind} {f'{subject.namespace}/' if subject.namespace else ''}{subject.name}")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _prose(text: str, *, empty: str | None = None) -> str:
    return empty if empty is not None and not text else markdown_text.prose(_shortened(text))


def _code(text: str) -> str:
    # A bar ends a cell, within a span of code too.
    return markdown_text.code(_shortened(text)).replace("|", "\\|")


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _size(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
