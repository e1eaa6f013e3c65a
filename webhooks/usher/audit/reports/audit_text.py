"""An audit for people: one screen for a terminal, and Markdown for an issue or a wiki.

It has a bounded size, because GitHub takes 65,536 characters. Rows left out are counted.
"""

from collections.abc import Iterator
from typing import Final, TextIO

from rich.text import Text

from usher.audit.document import Audit, FindingEntry
from usher.audit.reports import (
    checklist_tables,
    entry_words,
    findings_tables,
    headlines,
    numbers,
    savings_tables,
    summary,
    usage_tables,
    workload_tables,
)
from usher.audit.reports.described import MarkdownTable, code, prose, size
from usher.audit.reports.numbers import TEXT
from usher.check.formats import markdown, wording
from usher.check.formats.lines import Lines


def write(
    audit: Audit, stream: TextIO, /, *, color: bool = False, quiet: bool = False, width: int | None = None
) -> None:
    """Writes the report; `width` in columns, by default the terminal's. With `quiet` the findings alone."""
    lines = Lines(stream, color=color, width=width)
    if not quiet:
        _write_first_screen(audit, lines)
        savings_tables.write_money(audit, lines)
        findings_tables.write_changes(audit, lines)
    never = sum(entry.never for entry in audit.findings)
    has_list = not quiet and never <= entry_words.SHOWN
    findings_tables.write_findings([entry for entry in audit.findings if not (has_list and entry.never)], lines)
    if quiet:
        return
    for label, text in (
        *checklist_tables.not_judged_notes(audit),
        *checklist_tables.readiness_notes(audit),
        *checklist_tables.not_evaluated_notes(audit),
        *checklist_tables.exception_notes(audit),
    ):
        lines.wrapped(text, first=Text(f"{label}: ", style="dim"), rest="  ")
    for label, text in checklist_tables.left_out_notes(audit):
        lines.wrapped(text, first=Text(f"{label}: ", style="dim"), rest="  ")
    source = audit.configuration if audit.configuration != "defaults" else "built-in defaults"
    if audit.summary.manifests:
        manifests = wording.count(audit.summary.manifests, "workload")
        text = f"{manifests} of manifests, with what the mutating webhook adds to them, as usher check does"
        lines.wrapped(text, first=Text("judged: ", style="dim"), rest="  ")
    lines.wrapped(f"{source} (preset {audit.preset})", first=Text("configuration: ", style="dim"), rest="  ")
    lines.wrapped(_counts(audit), first=Text(""), rest="  ", style=_style(audit))


def _counts(audit: Audit) -> str:
    """`115 objects, 16 workloads with GPUs: 1 error, 23 warnings`."""
    objects = wording.count(audit.completeness.objects, "object")
    workloads = wording.count(audit.summary.workloads, "workload")
    unread = audit.completeness.not_judged
    found = entry_words.findings(audit.summary.findings) if audit.completeness.objects else "nothing was judged"
    parts = [found, f"{wording.count(unread, 'part')} not judged" if unread else ""]
    incomplete = "" if audit.completeness.complete else "INCOMPLETE, "
    return f"{objects}, {workloads} with accelerators: {incomplete}{', '.join(filter(None, parts))}"


def _style(audit: Audit) -> str:
    if audit.summary.findings.get("deny") or not audit.completeness.complete:
        return "bold red"
    return "yellow" if audit.summary.findings.get("warn") else "bold green"


def _write_first_screen(audit: Audit, lines: Lines) -> None:
    _write_heading(audit, lines)
    of_cluster = audit.summary.knows_cluster
    if of_cluster:
        lines.wrapped(" ".join(summary.sentences(audit, TEXT)), first=Text(""), rest="")
        lines.write()
    lines.labelled(
        [*headlines.gpu_rows(audit), *headlines.usage_rows(audit)]
        if of_cluster
        else [*workload_tables.asked_by_manifests(audit)]
    )
    lines.write()
    workload_tables.write_accelerators(audit, lines)
    workload_tables.write_teams(audit, lines)
    _write_never(audit, lines)
    checklist_tables.write_ending_exceptions(audit, lines)


def _write_heading(audit: Audit, lines: Lines) -> None:
    server = f", Kubernetes {audit.cluster.server}" if audit.cluster.server else ""
    title = f"Audit of {audit.cluster.title}{server}, {numbers.minute(audit.taken)}"
    lines.wrapped(title, first=Text(""), rest="  ", style="bold")
    if not audit.completeness.complete:
        missing = wording.count(len(audit.completeness.gaps), "source")
        text = f"{missing} could not be read in full, so these numbers may be too small:"
        lines.wrapped(text, first=Text("INCOMPLETE: ", style="bold red"), rest="  ")
        for gap in audit.completeness.gaps[: entry_words.SHOWN]:
            lines.wrapped(f"{gap.source}: {gap.reason}", first=Text("  "), rest="    ")
        entry_words.write_more(len(audit.completeness.gaps) - entry_words.SHOWN, "source", lines)
    lines.write()


def _write_never(audit: Audit, lines: Lines) -> None:
    found = [entry for entry in audit.findings if entry.never]
    if not found:
        return
    lines.write(Text("Can never run", style="bold red"))
    for entry in found[: entry_words.SHOWN]:
        amount = TEXT.accelerators(entry.gpus, entry.gpus_least, entry.other_accelerators)
        about = f"{amount}  {entry_words.subject(entry.subject)}{_whose(entry, audit.taken)}"
        lines.wrapped(about, first=Text("  "), rest="      ")
        lines.wrapped(entry.message, first=Text("      "), rest="      ")
        if entry.remedy:
            whose = "by the platform team: " if entry.fixed_by_platform else ""
            lines.wrapped(f"{whose}{entry.remedy}", first=Text("      = ", style="dim"), rest="        ")
    entry_words.write_more(len(found) - entry_words.SHOWN, "workload", lines)
    lines.write()


def _whose(entry: FindingEntry, now: str) -> str:
    waited = numbers.age(entry.since, now)
    team = entry_words.team(entry)
    return f"{team}, for {waited}" if waited else team


MAX_SIZE: Final = 65_536
"""Characters, as UTF-16 counts them."""

_RESERVED: Final = 1_000
"""Characters kept for the end."""

_LINES: Final = 20
"""Gaps, and problems of the measurement, that the head names."""


def write_markdown(audit: Audit, stream: TextIO, /, *, max_size: int = MAX_SIZE) -> None:
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
    if audit.summary.knows_cluster:
        lines += [markdown.prose(" ".join(summary.sentences(audit, TEXT))), ""]
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
