"""An audit for people at a terminal: one screen that matters most, the findings by cause, and the parts left out."""

from collections.abc import Iterator
from typing import Final, TextIO

from rich.text import Text

from usher.audit.document import Audit, ExceptionEntry
from usher.audit.reports import text_changes, text_findings, text_money, text_overview, words
from usher.reports import wording
from usher.reports.lines import Lines

_SHOWN_NOTES: Final = 10


def write(
    audit: Audit, stream: TextIO, /, *, color: bool = False, quiet: bool = False, width: int | None = None
) -> None:
    """Writes the report; `width` in columns, by default the terminal's. With `quiet` the findings alone."""
    lines = Lines(stream, color=color, width=width)
    if not quiet:
        text_overview.write(audit, lines)
        text_money.write(audit, lines)
        text_changes.write(audit, lines)
    never = sum(entry.never for entry in audit.findings)
    told = not quiet and never <= text_overview.SHOWN
    text_findings.write([entry for entry in audit.findings if not (told and entry.never)], lines)
    if quiet:
        return
    for label, text in (*_not_judged(audit), *_readiness(audit), *_not_evaluated(audit), *_exceptions(audit)):
        lines.wrapped(text, first=Text(f"{label}: ", style="dim"), rest="  ")
    for label, text in _left_out(audit):
        lines.wrapped(text, first=Text(f"{label}: ", style="dim"), rest="  ")
    source = audit.configuration if audit.configuration != "defaults" else "built-in defaults"
    if audit.summary.manifests:
        manifests = wording.count(audit.summary.manifests, "workload")
        text = f"{manifests} of manifests, with what the mutating webhook adds to them, as usher check does"
        lines.wrapped(text, first=Text("judged: ", style="dim"), rest="  ")
    lines.wrapped(f"{source} (preset {audit.preset})", first=Text("configuration: ", style="dim"), rest="  ")
    lines.wrapped(_numbers(audit), first=Text(""), rest="  ", style=_style(audit))


def _readiness(audit: Audit) -> Iterator[tuple[str, str]]:
    if audit.readiness:
        counts = words.standings(audit.summary.readiness)
        yield "production checklist", f"{counts}; --format html and json have the evidence"


def _not_evaluated(audit: Audit) -> Iterator[tuple[str, str]]:
    for each in audit.not_evaluated:
        yield "not evaluated", f"{each.code} {each.name}, {wording.count(each.workloads, 'workload')}: {each.reason}"


def _not_judged(audit: Audit) -> Iterator[tuple[str, str]]:
    for each in audit.not_judged[: text_overview.SHOWN]:
        where = ", ".join(filter(None, (words.subject(each.subject), each.path, each.place)))
        yield "not judged", f"{where}: {each.reason}"
    if (more := len(audit.not_judged) - text_overview.SHOWN) > 0:
        yield "not judged", f"and {wording.count(more, 'more part')}; --format json lists all"


def _exceptions(audit: Audit) -> Iterator[tuple[str, str]]:
    for each in audit.exceptions:
        yield "exception", f"{each.ticket} of {each.owner} {_use(each)}"


def _use(each: ExceptionEntry) -> str:
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


def _left_out(audit: Audit) -> Iterator[tuple[str, str]]:
    notes = ((note.source, f"{note.reason}{_pods(note.read)}") for note in audit.completeness.left_out)
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


def _pods(number: int) -> str:
    return f" ({wording.count(number, 'pod')})" if number else ""


def _numbers(audit: Audit) -> str:
    """`115 objects, 16 workloads with GPUs: 1 error, 23 warnings`."""
    objects = wording.count(audit.completeness.objects, "object")
    workloads = wording.count(audit.summary.workloads, "workload")
    unread = audit.completeness.not_judged
    found = words.findings(audit.summary.findings) if audit.completeness.objects else "nothing was judged"
    parts = [found, f"{wording.count(unread, 'part')} not judged" if unread else ""]
    incomplete = "" if audit.completeness.complete else "INCOMPLETE, "
    return f"{objects}, {workloads} with accelerators: {incomplete}{', '.join(filter(None, parts))}"


def _style(audit: Audit) -> str:
    if audit.summary.findings.get("deny") or not audit.completeness.complete:
        return "bold red"
    return "yellow" if audit.summary.findings.get("warn") else "bold green"
