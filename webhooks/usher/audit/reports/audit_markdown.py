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
from usher.audit.reports.described import MarkdownTable, code, prose, size

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
        left_out += 0 if text else len(table.rows) + table.left
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
    usage = [*usage_tables.usage_tables(audit)]
    yield from (table.markdown() for by, table in usage if by == "team")
    yield workload_tables.accelerators_table(audit).markdown()
    never = [each for each in audit.findings if each.never]
    yield findings_tables.findings_table(audit, never, "Can never run").markdown()
    yield findings_tables.changes_markdown(audit)
    yield from (table.markdown() for by, table in usage if by != "team")
    if audit.savings:
        yield savings_tables.savings_table(audit).markdown()
    others = [each for each in audit.findings if not each.never]
    yield findings_tables.findings_table(audit, others, "Other findings").markdown()
    yield workload_tables.workloads_table(audit).markdown()
    yield savings_tables.prevented_table(audit).markdown()
    yield checklist_tables.failing_items(audit).markdown()
    yield checklist_tables.exceptions_table(audit).markdown()
