"""An audit in Markdown, for an issue or a wiki: the numbers, and the worst of each part.

It has a bounded size, because GitHub takes 65,536 characters. Rows left out are counted.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TextIO

from usher.audit.document import Audit
from usher.reports import wording
from usher.reports.audit import markdown_sections, numbers, words
from usher.reports.audit.markdown_cells import code, prose

MAX_SIZE: Final = 65_536
"""Characters, as UTF-16 counts them."""

_RESERVED: Final = 1_000
"""Characters kept for the end."""
_ROWS: Final = 20
"""Rows of one table."""


def write(audit: Audit, stream: TextIO, /, *, max_size: int = MAX_SIZE) -> None:
    """Writes the report, of at most `max_size` characters."""
    pieces = [_head(audit)]
    room = max_size - _RESERVED - _size(pieces[0])
    left_out = 0
    for section in filter(lambda each: each.rows, markdown_sections.of(audit)):
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
    pieces.append(f"\n{prose(f'gpu-usher {audit.version}, configuration: {audit.configuration}')}\n")
    stream.write("".join(pieces))


def _head(audit: Audit) -> str:
    lines = [f"## GPUs of {prose(audit.cluster.title)}, {words.moment(audit.taken)}", ""]
    if not audit.completeness.complete:
        gaps = [f"* {code(each.source)}: {prose(each.reason)}" for each in audit.completeness.gaps[:_ROWS]]
        more = len(audit.completeness.gaps) - len(gaps)
        lines += ["**This audit is incomplete**, so its numbers may be too small:", "", *gaps]
        lines += [f"* and {more:,} more", ""] if more else [""]
    rows = [(name, value) for name, value in _numbers(audit) if value]
    lines += ["| | |", "| --- | --- |", *(f"| {name} | {prose(value)} |" for name, value in rows), ""]
    hint = ["usage was not measured; `usher audit --prometheus URL` measures it"] if _unmeasured(audit) else []
    problems = [*map(prose, (*audit.measurement.problems, *audit.trend.problems))]
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


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _size(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
