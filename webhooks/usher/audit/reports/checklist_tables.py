"""The production checklist, the exceptions of usher.yaml, and what an audit could not read or judge."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace
from rich.text import Text

from usher.audit.document import Audit, ExceptionEntry, ReadinessItem, Standing
from usher.audit.reports import cells, described, entry_words, html_tables
from usher.audit.reports.described import Table
from usher.audit.reports.html_elements import Html, Section, element, joined
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


_STANDING_RANKS: Final = {
    standing: rank
    for rank, standing in enumerate((Standing.FAIL, Standing.NOT_KNOWN, Standing.PASS, Standing.NOT_APPLICABLE))
}


def checklist_table(audit: Audit) -> Table[ReadinessItem]:
    """The items of the checklist, failures first."""
    whole = audit.cluster.is_whole
    return described.table(
        "checklist",
        sorted(audit.readiness, key=lambda item: (_STANDING_RANKS[item.standing], item.area, item.id)),
        ways={
            "Standing": {"cell": _standing_cell},
            "Item": {"cell": _item_cell},
            "Evidence": {
                "value": lambda item: "; ".join(item.evidence),
                "cell": lambda item: cells.lines(*(("plain", line) for line in item.evidence)),
            },
            "Asked for by": {"cell": _reference_cell},
        },
        empty="The checklist was not run."
        if whole
        else "The checklist is about a whole cluster; audit it without --in-namespace.",
    )


def failing_items(audit: Audit) -> Table[ReadinessItem]:
    failing = [each for each in audit.readiness if each.standing is Standing.FAIL]
    return replace(checklist_table(audit), title="Readiness: what fails", rows=failing)


def _standing_cell(item: ReadinessItem) -> cells.Cell:
    standing = item.standing
    return cells.badge(standing.value, entry_words.BADGES[standing], _STANDING_RANKS[standing])


def _item_cell(item: ReadinessItem) -> cells.Cell:
    return cells.lines(("strong", item.title), ("fix", item.remedy if item.standing is Standing.FAIL else ""))


def _reference_cell(item: ReadinessItem) -> cells.Cell:
    conformance = f"CNCF: {item.conformance}" if item.conformance else ""
    return cells.lines(_reference_piece(item.reference), ("muted", conformance))


def _reference_piece(text: str) -> cells.Piece:
    """A link that shows its host, or a page of gpu-usher as text."""
    if not text.startswith("https://"):
        return ("plain", text)
    try:
        return ("link", urlsplit(text).hostname or text, text)
    except ValueError:
        return ("plain", text)


_EXCEPTION_BADGES: Final = {"used": "good", "unused": "warn", "expired": "bad", "not needed": "warn"}


def exceptions_table(audit: Audit) -> Table[ExceptionEntry]:
    """The exceptions of usher.yaml, those that end first at the top."""
    return described.table(
        "exceptions",
        sorted(audit.exceptions, key=lambda each: (each.days_left, each.ticket)),
        ways={
            "Ticket": {"cell": lambda each: cells.lines(("strong", each.ticket), ("muted", each.reason))},
            "State": {"cell": lambda each: cells.badge(each.state, _EXCEPTION_BADGES.get(each.state, "quiet"))},
            "Ends": {"value": lambda each: each.expires.isoformat(), "cell": _end_cell},
            "Checks": {"value": lambda each: ", ".join(each.checks)},
            "Namespaces": {"value": lambda each: ", ".join(each.namespaces)},
            "Findings": {"cell": lambda each: cells.Cell((_covered_piece(each),), sort=each.findings)},
        },
    )


def _end_cell(each: ExceptionEntry) -> cells.Cell:
    days = wording.count(abs(each.days_left), "day")
    left = f"{days} ago" if each.days_left < 0 else f"in {days}"
    return cells.Cell((("plain", each.expires.isoformat()), ("muted", left)), sort=each.days_left)


def _covered_piece(each: ExceptionEntry) -> cells.Piece:
    """How many it covers, as a link to them."""
    if not each.findings:
        return ("text", "0")
    return ("link", f"{each.findings:,}", f"#findings-table?{html_tables.query(exception=each.ticket)}")


class _NotKnown(NamedTuple):
    part: str
    source: str
    reason: str
    extent: str = ""


def not_known_section(audit: Audit) -> Section:
    table = described.table("not known", [*_not_known_entries(audit)])
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
    return table.section(
        f"Read: {counted}. {with_accelerators}{wording.count(read.finished, 'finished object')} left out."
    )


def incomplete_notice(audit: Audit) -> Html:
    """That numbers may be too small, with the way to the reasons."""
    number = len(audit.completeness.gaps)
    return joined(
        f"Not complete: {wording.count(number, 'source')} could not be read, so numbers may be too small. ",
        element("a", "What is missing", href="#not-known"),
    )


def _not_known_entries(audit: Audit) -> Iterator[_NotKnown]:
    for gap in audit.completeness.gaps:
        yield _NotKnown(
            "not read", gap.source, gap.reason, f"{wording.count(gap.read, 'object')} read before" if gap.read else ""
        )
    for part in audit.not_judged:
        where = ", ".join(filter(None, (entry_words.subject(part.subject), part.path, part.place)))
        yield _NotKnown("not judged", where, part.reason)
    checks = audit.completeness.checks_without_facts
    if checks:
        reason = "they compare with a cluster; give its facts with --facts (usher snapshot saves them)"
        yield _NotKnown("left out", wording.count(checks, "check"), reason)
    for problem in audit.measurement.problems:
        yield _NotKnown("measurement", audit.measurement.source, problem)
    for each in audit.not_evaluated:
        yield _NotKnown(
            "not judged", f"{each.code} {each.name}", each.reason, wording.count(each.workloads, "workload")
        )
    for problem in audit.trend.problems:
        yield _NotKnown("not compared", "earlier audits", problem)
    for gap in audit.completeness.left_out:
        yield _NotKnown("left out", gap.source, gap.reason)
