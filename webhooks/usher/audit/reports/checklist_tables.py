"""The production checklist, the exceptions of usher.yaml, and what an audit could not read or judge."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from rich.text import Text

from usher.audit.document import Audit, ExceptionEntry, ReadinessItem, Standing
from usher.audit.reports import entry_words
from usher.audit.reports.markdown_table import MarkdownTable, prose
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.markup import Html, element, joined
from usher.audit.reports.web.page import Section
from usher.check.formats import wording
from usher.check.formats.lines import Lines

_SHOWN_NOTES: Final = 10


def readiness_notes(audit: Audit) -> Iterator[tuple[str, str]]:
    if audit.readiness:
        counts = entry_words.standings(audit.summary.readiness)
        yield "production checklist", f"{counts}; --format html and json have the evidence"


def not_evaluated_notes(audit: Audit) -> Iterator[tuple[str, str]]:
    for each in audit.not_evaluated:
        yield "not evaluated", f"{each.code} {each.name}, {wording.count(each.workloads, 'workload')}: {each.reason}"


def not_judged_notes(audit: Audit) -> Iterator[tuple[str, str]]:
    for each in audit.not_judged[: entry_words.SHOWN]:
        where = ", ".join(filter(None, (entry_words.subject(each.subject), each.path, each.place)))
        yield "not judged", f"{where}: {each.reason}"
    if (more := len(audit.not_judged) - entry_words.SHOWN) > 0:
        yield "not judged", f"and {wording.count(more, 'more part')}; --format json lists all"


def exception_notes(audit: Audit) -> Iterator[tuple[str, str]]:
    for each in audit.exceptions:
        yield "exception", f"{each.ticket} of {each.owner} {_use_words(each)}"


def _use_words(each: ExceptionEntry) -> str:
    match each.state:
        case "used":
            return f"covers {wording.count(each.findings, 'finding')} until {each.expires}"
        case "unused":
            return "covers nothing here; remove it from usher.yaml unless other clusters need it"
        case "expired":
            return f"expired on {each.expires}; renew it or remove it from usher.yaml"
        case "not needed":
            return "needs no renewal: what it matches passes without it; remove it from usher.yaml"
        case state:
            return f"is {state}, until {each.expires}"


def left_out_notes(audit: Audit) -> Iterator[tuple[str, str]]:
    notes = ((note.source, f"{note.reason}{_pods_words(note.read)}") for note in audit.completeness.left_out)
    entries = [*wording.by_reason(notes)]
    for sources, reason in entries[:_SHOWN_NOTES]:
        yield "left out", f"{sources}: {reason}"
    if len(entries) > _SHOWN_NOTES:
        yield "left out", f"{len(entries) - _SHOWN_NOTES:,} more; --format json lists all"
    if audit.completeness.checks_without_facts:
        checks = wording.count(audit.completeness.checks_without_facts, "check")
        yield (
            "left out",
            f"{checks} that compare with a cluster; give its facts with --facts (usher snapshot saves them)",
        )
    if audit.completeness.finished:
        hold = "holds" if audit.completeness.finished == 1 else "hold"
        yield (
            "left out",
            f"{wording.count(audit.completeness.finished, 'finished object')} that {hold} no GPUs any more",
        )
    exempt = sum(each.outcome == "exempt" for each in audit.workloads)
    if exempt:
        yield "exempt", f"{wording.count(exempt, 'workload')} with GPUs, counted and not judged"


def _pods_words(number: int) -> str:
    return f" ({wording.count(number, 'pod')})" if number else ""


def write_ending_exceptions(audit: Audit, lines: Lines) -> None:
    ending = [each for each in audit.exceptions if each.ends_soon]
    if not ending:
        return
    lines.write(Text("Exceptions that end soon", style="bold"))
    for each in sorted(ending, key=lambda each: (each.days_left, each.ticket)):
        days = "today" if each.days_left == 0 else f"in {wording.count(each.days_left, 'day')}"
        covers = wording.count(each.findings, "finding")
        lines.wrapped(f"{each.ticket} of {each.owner} ends {days}, covers {covers}", first=Text("  "), rest="      ")
    lines.write()


def readiness_markdown(audit: Audit) -> MarkdownTable:
    return MarkdownTable(
        title="Readiness: what fails",
        header=("area", "item", "seen", "remedy"),
        rows=[
            (
                prose(each.area),
                prose(each.title),
                prose("; ".join(each.evidence)),
                prose(each.remedy, empty=""),
            )
            for each in audit.readiness
            if each.standing is Standing.FAIL
        ],
    )


def exceptions_markdown(audit: Audit) -> MarkdownTable:
    return MarkdownTable(
        title="Exceptions",
        header=("ticket", "owner", "checks", "ends", "state"),
        rows=[
            tuple(
                map(
                    prose,
                    (each.ticket, each.owner, ", ".join(each.checks), each.expires.isoformat(), each.state),
                )
            )
            for each in sorted(audit.exceptions, key=lambda each: (each.days_left, each.ticket))
        ],
    )


_STANDING_RANKS: Final = {
    standing: rank
    for rank, standing in enumerate((Standing.FAIL, Standing.NOT_KNOWN, Standing.PASS, Standing.NOT_APPLICABLE))
}


_READINESS_COLUMNS: Final = (
    tables.Column(title="Standing", ranked=True, narrow=True, explained="Not known is neither a pass nor a failure"),
    tables.Column(title="Area", narrow=True),
    tables.Column(title="Item", heads=True),
    tables.Column(title="Evidence"),
    tables.Column(title="Asked for by"),
)


def readiness_section(audit: Audit) -> Section:
    lead = entry_words.standings(audit.summary.readiness)
    listed = sorted(audit.readiness, key=lambda item: (_STANDING_RANKS[item.standing], item.area, item.id))
    return Section(
        name="readiness",
        title="Readiness",
        count=len(audit.readiness),
        lead=f"{lead}." if lead else "",
        body=tables.html(
            tables.Table(
                name="readiness-table",
                caption="Readiness for production",
                columns=_READINESS_COLUMNS,
                rows=[_readiness_row(item) for item in listed],
                filters={"standing": "Standing", "area": "Area", "conformance": "AI conformance"},
                empty="The checklist was not run."
                if audit.cluster.is_whole
                else "The checklist is about a whole cluster; audit it without --namespace.",
            )
        ),
    )


def _readiness_row(item: ReadinessItem) -> tables.Row:
    standing = item.standing
    conformance = f"CNCF AI conformance: {item.conformance}" if item.conformance else ""
    return tables.Row(
        facets=(standing.value, item.area, item.conformance),
        cells=(
            cells.badge(standing.value, entry_words.BADGES[standing], _STANDING_RANKS[standing]),
            cells.text(item.area),
            cells.lines(("strong", item.title), ("fix", item.remedy if standing is Standing.FAIL else "")),
            cells.lines(*(("plain", line) for line in item.evidence)),
            cells.lines(_reference_piece(item.reference), ("muted", conformance)),
        ),
    )


def _reference_piece(text: str) -> cells.Piece:
    """A link that shows its host, or a page of gpu-usher as text."""
    if not text.startswith("https://"):
        return ("plain", text)
    try:
        return ("link", urlsplit(text).hostname or text, text)
    except ValueError:
        return ("plain", text)


_EXCEPTION_BADGES: Final = {"used": "good", "unused": "warn", "expired": "bad", "not needed": "warn"}


_EXCEPTION_COLUMNS: Final = (
    tables.Column(title="Ticket", heads=True),
    tables.Column(title="State", explained="Not needed: the checks find nothing there any more"),
    tables.Column(title="Ends", numeric=True),
    tables.Column(title="Owner"),
    tables.Column(title="Checks"),
    tables.Column(title="Namespaces"),
    tables.Column(title="Findings", numeric=True, explained="Findings of now that it covers"),
)


def exceptions_section(audit: Audit) -> Section:
    listed = sorted(audit.exceptions, key=lambda each: (each.days_left, each.ticket))
    return Section(
        name="exceptions",
        title="Exceptions",
        count=len(audit.exceptions),
        body=tables.html(
            tables.Table(
                name="exceptions-table",
                caption="Exceptions",
                columns=_EXCEPTION_COLUMNS,
                rows=[_exception_row(each) for each in listed],
                filters={"state": "State", "owner": "Owner"},
                empty="usher.yaml has no exceptions.",
            )
        ),
    )


def _exception_row(each: ExceptionEntry) -> tables.Row:
    days = abs(each.days_left)
    left = f"{wording.count(days, 'day')} ago" if each.days_left < 0 else f"in {wording.count(days, 'day')}"
    return tables.Row(
        facets=(each.state, each.owner),
        cells=(
            cells.lines(("strong", each.ticket), ("muted", each.reason)),
            cells.badge(each.state, _EXCEPTION_BADGES.get(each.state, "quiet")),
            cells.Cell((("plain", each.expires.isoformat()), ("muted", left)), sort=each.days_left),
            cells.text(each.owner),
            cells.text(", ".join(each.checks)),
            cells.text(", ".join(each.namespaces)),
            cells.Cell((_covered_piece(each),), sort=each.findings),
        ),
    )


def _covered_piece(each: ExceptionEntry) -> cells.Piece:
    """How many it covers, as a link to them."""
    if not each.findings:
        return ("text", "0")
    return ("link", f"{each.findings:,}", f"#findings-table?{tables.query(exception=each.ticket)}")


_NOT_KNOWN_COLUMNS: Final = (
    tables.Column(title="Part"),
    tables.Column(title="Source", heads=True),
    tables.Column(title="Reason"),
    tables.Column(title="Extent"),
)


def not_known_section(audit: Audit) -> Section:
    rows = [tables.Row(cells=tuple(map(cells.text, entry)), facets=(entry[0],)) for entry in _not_known_entries(audit)]
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
                columns=_NOT_KNOWN_COLUMNS,
                rows=rows,
                filters={"part": "Part"},
                empty="Everything was read, judged and measured.",
            )
        ),
    )


def incomplete_notice(audit: Audit) -> Html:
    """That numbers may be too small, with the way to the reasons."""
    number = len(audit.completeness.gaps)
    return joined(
        f"Not complete: {wording.count(number, 'source')} could not be read, so numbers may be too small. ",
        element("a", "What is missing", href="#not-known"),
    )


def _not_known_entries(audit: Audit) -> Iterator[tuple[str, str, str, str]]:
    for gap in audit.completeness.gaps:
        yield "not read", gap.source, gap.reason, f"{wording.count(gap.read, 'object')} read before" if gap.read else ""
    for part in audit.not_judged:
        where = ", ".join(filter(None, (entry_words.subject(part.subject), part.path, part.place)))
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
