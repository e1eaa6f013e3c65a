"""An audit in Markdown, for an issue or a wiki: the numbers and the tables of the page, the worst of each.

It has a bounded size, because GitHub takes 65,536 characters. Rows left out are counted.
"""

from collections.abc import Iterator
from typing import Final, TextIO

from usher.audit.document import Audit
from usher.audit.reports import (
    checklist_tables,
    entry_words,
    findings_tables,
    headlines,
    numbers,
    savings_tables,
    usage_tables,
    workload_tables,
)
from usher.audit.reports.markdown_table import MarkdownTable, code, prose, size

MAX_SIZE: Final = 65_536
"""Characters, as UTF-16 counts them."""


_RESERVED: Final = 1_000
"""Characters kept for the end."""


_LINES: Final = 20
"""Gaps, and problems of the measurement, that the head names."""


def write(audit: Audit, stream: TextIO, /, *, max_size: int = MAX_SIZE) -> None:
    """Writes the report, of at most `max_size` characters."""
    pieces = [_head(audit)]
    room = max_size - _RESERVED - size(pieces[0])
    left_out = 0
    for table in filter(lambda each: each.rows, _tables(audit)):
        text = table.text(room)
        left_out += 0 if text else len(table.rows)
        pieces.append(text)
        room -= size(text)
    if left_out:
        pieces.append(f"\n**{left_out:,} rows left out**, because the report has room for {max_size:,} characters.\n")
    pieces.append(f"\n{prose(f'gpu-usher {audit.version}, configuration: {audit.configuration}')}\n")
    stream.write("".join(pieces))


def _head(audit: Audit) -> str:
    lines = [f"## GPUs of {prose(audit.cluster.title)}, {numbers.minute(audit.taken)}", ""]
    if not audit.completeness.complete:
        gaps = [f"* {code(each.source)}: {prose(each.reason)}" for each in audit.completeness.gaps[:_LINES]]
        more = len(audit.completeness.gaps) - len(gaps)
        lines += ["**This audit is incomplete**, so its numbers may be too small:", "", *gaps]
        lines += [f"* and {more:,} more", ""] if more else [""]
    rows = [(name, value) for name, value in headlines.headlines_markdown(audit) if value]
    lines += ["| | |", "| --- | --- |", *(f"| {name} | {prose(value)} |" for name, value in rows), ""]
    hint = ["usage was not measured; `usher audit --prometheus URL` measures it"] if _unmeasured(audit) else []
    problems = [*map(prose, (*audit.measurement.problems, *audit.trend.problems))]
    notes = (entry_words.switched_off(audit), *audit.measurement.sources)
    problems = [*hint, *(prose(note) for note in notes if note), *problems]
    lines += [f"* {each}" for each in problems[:_LINES]]
    lines += [f"* and {len(problems) - _LINES:,} more"] if len(problems) > _LINES else []
    lines += [""] if problems else []
    return "\n".join(lines)


def _unmeasured(audit: Audit) -> bool:
    return audit.measurement.source == "none" and audit.summary.gpus != 0 and audit.summary.gpus_allocated is not None


def _tables(audit: Audit) -> Iterator[MarkdownTable]:
    """First what the first screen of the page has, then its sections; some tables have no rows."""
    yield from usage_tables.usage_by_team(audit)
    yield workload_tables.accelerators_markdown(audit)
    yield findings_tables.findings_markdown("Can never run", [each for each in audit.findings if each.never], audit)
    yield findings_tables.changes_markdown(audit)
    yield from usage_tables.usage_by_others(audit)
    if audit.savings:
        yield savings_tables.savings_markdown(audit)
    yield findings_tables.findings_markdown(
        "Other findings", [each for each in audit.findings if not each.never], audit
    )
    yield workload_tables.workloads_markdown(audit)
    yield savings_tables.prevented_markdown(audit)
    yield checklist_tables.readiness_markdown(audit)
    yield checklist_tables.exceptions_markdown(audit)
