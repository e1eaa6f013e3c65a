"""The findings of an audit in each form, and what changed since the audit before.

Text groups them by cause: by check and outcome, and within it by message. Pages and Markdown have a row for each.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.text import Text

from usher import model
from usher.audit.document import Audit, FindingEntry, Severity, Subject
from usher.audit.reports import cells, described, entry_words, numbers
from usher.audit.reports.described import MarkdownTable, Table, code, object_code, prose
from usher.audit.reports.numbers import PAGE, TEXT
from usher.check.formats import wording
from usher.check.formats.lines import Lines, Row
from usher.policy.checks import catalogue

_PLACES: Final = 5
"""Objects of one message."""

_MESSAGES: Final = 5

_ADMISSION_WORDS: Final = {
    model.Outcome.DENY: "an error at admission",
    model.Outcome.WARN: "a warning at admission",
    model.Outcome.AUDIT: "noted at admission",
}

_NO_GPUS: Final = TEXT.gpus(0)


def write_findings(found: Sequence[FindingEntry], lines: Lines) -> None:
    """One paragraph for each check: the most severe first, then what admission denies, then the most GPUs."""
    order, severities = list(model.Outcome), list(Severity)
    groups = defaultdict[tuple[model.Outcome, str, str], list[FindingEntry]](list)
    for entry in found:
        groups[model.Outcome(entry.outcome), entry.code, entry.name].append(entry)

    def worst(group: tuple[tuple[model.Outcome, str, str], list[FindingEntry]]) -> tuple[object, ...]:
        (outcome, check, _), entries = group
        severity = min(severities.index(each.severity) for each in entries)
        return severity, order.index(outcome), -_gpus_of(entries), check

    for (outcome, check, name), entries in sorted(groups.items(), key=worst):
        _write_check(outcome, f"{check} {name}", entries, lines)


def _write_check(outcome: model.Outcome, title: str, entries: Sequence[FindingEntry], lines: Lines) -> None:
    style = wording.STYLES[outcome]
    objects = wording.count(len(_largest_by_object(entries)), "object")
    admitted = _ADMISSION_WORDS[outcome] if _concerns_admission(entries[0]) else ""
    about = ", ".join(filter(None, (objects, _amount_of(entries), admitted)))
    heading = Text.assemble((f"{entries[0].severity.value:<8}", style), "  ", (wording.printable(title), "bold"))
    lines.write(Text.assemble(heading, "  ", (about, "dim")))
    causes = defaultdict[tuple[str, str, str], list[FindingEntry]](list)
    for entry in entries:
        causes[entry.message, entry.remedy, entry.because].append(entry)
    ordered = sorted(causes.items(), key=lambda each: (-_gpus_of(each[1]), each[0]))
    for (message, remedy, because), found in ordered[:_MESSAGES]:
        lines.wrapped(message, first=Text("  "), rest="  ", style=style)
        if remedy:
            lines.wrapped(remedy, first=Text("  = ", style="dim"), rest="    ")
        if because:
            lines.wrapped(entry_words.milder(outcome, because), first=Text("  = ", style="dim"), rest="    ")
        for entry in found[:_PLACES]:
            place = f"{_amount_of([entry]):>12}  {_place_words(entry)}"
            lines.wrapped(place.lstrip(), first=Text(" " * (len(place) - len(place.lstrip()))), rest=" " * 14)
        entry_words.write_more(len(found) - _PLACES, "place", lines, margin=14)
    entry_words.write_more(len(ordered) - _MESSAGES, "message", lines, margin=2)
    lines.write()


def _place_words(entry: FindingEntry) -> str:
    team = entry_words.team(entry)
    path = f", {entry.path}" if entry.path else ""
    covered = f", accepted by {entry.exception}" if entry.exception else ""
    where = f", {entry.place}" if entry.place else ""
    return f"{entry_words.subject(entry.subject)}{team}{path}{where}{covered}"


def _gpus_of(entries: Iterable[FindingEntry]) -> float:
    """The GPUs of all objects of the entries; each object counts once."""
    return sum(each.known_gpus for each in _largest_by_object(entries))


def _amount_of(entries: Iterable[FindingEntry]) -> str:
    """The accelerators of the objects, each counted once; empty for what has no accelerators, for example a queue."""
    shown = entry_words.together(_largest_by_object(entries))
    return "" if shown == _NO_GPUS else shown


def _largest_by_object(entries: Iterable[FindingEntry]) -> Sequence[FindingEntry]:
    """For each object the entry with the most GPUs."""
    found: dict[tuple[Subject, str], FindingEntry] = {}
    for entry in entries:
        # Two manifests may have one name.
        key = entry.subject, entry.place.rpartition(":")[0]
        if key not in found or entry.known_gpus > found[key].known_gpus:
            found[key] = entry
    return list(found.values())


_SHOWN_CHANGES: Final = 5


def write_changes(audit: Audit, lines: Lines) -> None:
    """Writes nothing for an audit that was compared with no other one."""
    trend = audit.trend
    if trend.previous:
        counts = f"{wording.count(len(trend.new), 'new finding')}, {len(trend.fixed):,} fixed"
        lines.wrapped(counts, first=Text(f"Since {numbers.minute(trend.previous)}: ", style="bold"), rest="  ")
        lines.labelled([*_new_rows(audit), *_fixed_rows(audit)])
    for problem in trend.problems:
        lines.wrapped(problem, first=Text("not compared: ", style="yellow"), rest="  ")
    if trend.previous or trend.problems:
        lines.write()


def _new_rows(audit: Audit) -> Iterator[Row]:
    fingerprints = frozenset(audit.trend.new)
    found = [each for each in audit.findings if each.fingerprint in fingerprints]
    for each in found[:_SHOWN_CHANGES]:
        # The title of a check is the rule, not what was found.
        found_there = each.title if each.category == "cluster" else each.message
        yield Row("new", f"{each.code} {entry_words.subject(each.subject)}: {found_there}")
    if len(found) > _SHOWN_CHANGES:
        yield Row("", f"and {len(found) - _SHOWN_CHANGES:,} more")


def _fixed_rows(audit: Audit) -> Iterator[Row]:
    fixed = audit.trend.fixed
    for each in fixed[:_SHOWN_CHANGES]:
        age = numbers.age(each.first_seen, audit.taken)
        yield Row("fixed", f"{each.code} {each.subject}: {each.title}{f', after {age}' if age else ''}")
    if len(fixed) > _SHOWN_CHANGES:
        yield Row("", f"and {len(fixed) - _SHOWN_CHANGES:,} more")


_MOST_CHANGES: Final = 10
"""New findings, and fixed ones, that the table of changes names."""


def _amount_words(found: FindingEntry) -> str:
    """Empty where what it is about neither holds accelerators nor asks for some."""
    known = found.gpus == 0 and not found.other_accelerators
    return "" if known else TEXT.accelerators(found.gpus, found.gpus_least, found.other_accelerators)


def _seen_words(standing: str, first_seen: str) -> str:
    """The first audit that found it, as the column *Seen* of the page."""
    if not standing:
        return "first audit"
    return "new" if standing == "new" else first_seen[:10] or numbers.NOT_KNOWN


def changes_markdown(audit: Audit) -> MarkdownTable:
    trend, new = audit.trend, frozenset(audit.trend.new)
    listed = entry_words.worst_first(each for each in audit.findings if each.fingerprint in new)
    return MarkdownTable(
        title=f"Since {numbers.minute(trend.previous)}",
        header=("change", "severity", "code", "object", "what"),
        rows=[
            *(
                (
                    "new",
                    each.severity.value,
                    code(each.code),
                    object_code(each.subject),
                    prose(each.message),
                )
                for each in listed[:_MOST_CHANGES]
            ),
            *(
                (
                    "fixed",
                    "",
                    code(each.code),
                    code(each.subject),
                    prose(each.title),
                )
                for each in trend.fixed[:_MOST_CHANGES]
            ),
        ],
        also=max(0, len(listed) - _MOST_CHANGES) + max(0, len(trend.fixed) - _MOST_CHANGES),
    )


def findings_table(audit: Audit, found: Iterable[FindingEntry], title: str) -> Table[FindingEntry]:
    """Some findings, worst first."""
    new = frozenset(audit.trend.new)

    def standing(each: FindingEntry) -> str:
        return ("new" if each.fingerprint in new else "as before") if audit.trend.previous else ""

    first_seen = audit.trend.first_seen
    return described.table(
        "findings",
        entry_words.worst_first(found),
        title=title,
        ways={
            "Severity": {"cell": _severity_cell},
            "Finding": {"cell": lambda each: _described_cell(each, audit.check_pages)},
            "code": {"prose": lambda each: code(each.code)},
            "Object": {"cell": lambda each: entry_words.named(each.subject), "prose": described.placed_code},
            "Owner": {"value": lambda each: "" if (owner := entry_words.owner(each)) == entry_words.NO_TEAM else owner},
            "GPUs": {"value": _amount_words, "cell": _amount_cell},
            "finding": {"value": _message_words},
            "remedy": {
                "value": lambda each: f"by the platform team: {each.remedy}" if each.fixed_by_platform else each.remedy
            },
            "Age": {
                "value": lambda each: each.since[:10] or numbers.NOT_KNOWN,
                "cell": lambda each: cells.age(each.since, audit.taken),
            },
            "Seen": {
                "value": lambda each: _seen_words(standing(each), first_seen.get(each.fingerprint, "")),
                "cell": lambda each: _seen_cell(audit, standing(each), first_seen.get(each.fingerprint, "")),
            },
        },
        choices={
            "severity": lambda each: each.severity.value,
            "outcome": _at_admission,
            "team": entry_words.group,
            "namespace": lambda each: each.subject.namespace,
            "code": lambda each: f"{each.code} {each.name}",
            "standing": standing,
            "never": lambda each: "yes" if each.never else "no",
        },
        fragment=fragment,
    )


def findings_lead(audit: Audit) -> str:
    objects = len({each.subject for each in audit.findings})
    spread = f"About {wording.count(objects, 'object')}: one mistake can break several rules." if objects else ""
    text = "Worst first, each with its reason and its fix. usher explain CODE says more about a code."
    return " ".join(filter(None, (spread, text, entry_words.switched_off(audit))))


def fragment(found: FindingEntry) -> str:
    """The id of its row, which stays the same from audit to audit."""
    return f"finding-{re.sub(r'[^A-Za-z0-9]', '-', found.fingerprint)[:80]}"


def _severity_cell(found: FindingEntry) -> cells.Cell:
    look = entry_words.BADGES[found.severity]
    return cells.Cell(
        (("badge", found.severity.value, look), ("muted", _at_admission(found))),
        sort=entry_words.severity_rank(found.severity),
    )


def _message_words(found: FindingEntry) -> str:
    return found.message + (f" ({entry_words.milder(found.outcome, found.because)})" if found.because else "")


def _amount_cell(found: FindingEntry) -> cells.Cell:
    """GPUs, or other accelerators by their own names."""
    other = PAGE.others(found.other_accelerators)
    if found.gpus is None or (other and not found.gpus):
        return cells.text(other, "not known")
    if not found.gpus:
        return cells.text("")  # what it is about neither holds GPUs nor asks for some
    return cells.number(found.gpus, PAGE.between(found.gpus, found.gpus_least))


def _at_admission(found: FindingEntry) -> str:
    """The answer of admission in words; empty for findings about the cluster as a whole."""
    return entry_words.AT_ADMISSION.get(found.outcome, found.outcome) if _concerns_admission(found) else ""


def _concerns_admission(found: FindingEntry) -> bool:
    """Whether a rule finds the mistake, so that admission can refuse it; other findings are about the cluster."""
    return found.category != "cluster" or bool(found.found_by)


def _described_cell(found: FindingEntry, pages: str) -> cells.Cell:
    page, rule = _page(found, pages), found.title if found.category == "cluster" else found.name
    return cells.lines(
        ("link", found.code, f"#{fragment(found)}"),
        ("link", rule, page) if page else ("rule", rule),
        ("code", found.path),
        ("strong", wording.capitalised(found.message)),
        ("fix", wording.capitalised(found.remedy)),
        ("muted", ". ".join(_notes(found))),
        ("more", "Evidence" if found.evidence else "", found.evidence),
    )


def _page(found: FindingEntry, pages: str) -> str:
    """The page of the check, or of the finding about the cluster; policies of the site have no page there."""
    ours = found.code.startswith(("USH", "USA")) and found.category != catalogue.OWN_CATEGORY
    return catalogue.page_address(pages, found.name, found.code) if ours else ""


def _notes(found: FindingEntry) -> Iterator[str]:
    if found.because:
        yield wording.capitalised(entry_words.milder(found.outcome, found.because))
    if found.place:
        yield f"In {found.place}"
    if found.never:
        yield "Can never run"
    if found.held_by:
        yield f"Held by {found.held_by}"
    if found.exception and found.exception not in found.because:
        yield f"Exception {found.exception}"
    if found.prevented_by:
        yield f"{found.prevented_by} would have prevented it"
    elif found.preventable_by:
        yield f"{found.preventable_by} would prevent it if it denied"
    if found.mended_by:
        yield f"Admission mends it: {found.mended_by}"


def _seen_cell(audit: Audit, standing: str, first_seen: str) -> cells.Cell:
    seconds = numbers.seconds_between(first_seen, audit.taken)
    if standing == "new":
        return cells.badge("new", "fresh", 0.0)
    if seconds is None:
        return cells.text("", "first audit" if not standing else "not known")
    return cells.Cell((("time", f"for {numbers.lasting(seconds)}", numbers.minute(first_seen)),), sort=seconds)
