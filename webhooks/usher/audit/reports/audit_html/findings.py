"""The table of findings: each with its object, place, reason, remedy, age, owner and exception."""

import re
from typing import Final

from usher.audit.document import Audit, FindingEntry
from usher.audit.reports import numbers, ordering, words
from usher.audit.reports.audit_html import labels
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.page import Section
from usher.reports import wording

_FILTERS: Final = {
    "severity": "Severity",
    "outcome": "At admission",
    "team": "Team",
    "namespace": "Namespace",
    "code": "Finding",
    "standing": "Since the last audit",
    "never": "Can never run",
    "exception": "Exception",
}

_COLUMNS: Final = (
    tables.Column(
        title="Severity",
        ranked=True,
        narrow=True,
        explained="Below it what usher would do if the object were made today",
    ),
    tables.Column(title="Finding"),
    tables.Column(title="Object", heads=True),
    tables.Column(
        title="Owner",
        narrow=True,
        explained="Who makes the change: the team by its label, the platform team, or the owner of an exception",
    ),
    tables.Column(
        title="GPUs", numeric=True, explained="GPUs that the object holds or asks for; a MIG device counts by its share"
    ),
    tables.Column(title="Age", numeric=True, explained="Since the object was made, or since it waits"),
    tables.Column(title="Seen", ranked=True, narrow=True, explained="Since when audits find it"),
)


def section(audit: Audit) -> Section:
    new = frozenset(audit.trend.new)
    rows = [_row(audit, found, fresh=found.fingerprint in new) for found in ordering.findings(audit.findings)]
    table = tables.Table(
        name="findings-table",
        caption="Findings",
        columns=_COLUMNS,
        rows=rows,
        filters=_FILTERS,
        empty="No findings. What could not be judged is listed under “Not known”.",
    )
    return Section(
        name="findings",
        title="Findings",
        count=len(audit.findings),
        lead=_lead(audit),
        body=tables.html(table),
    )


def _lead(audit: Audit) -> str:
    objects = len({each.subject for each in audit.findings})
    spread = f"About {wording.count(objects, 'object')}: one mistake can break several rules." if objects else ""
    text = "Worst first, each with its reason and its fix. usher explain CODE says more about a code."
    return " ".join(filter(None, (spread, text, words.switched_off(audit))))


def fragment(found: FindingEntry) -> str:
    """The id of its row, which stays the same from audit to audit."""
    return f"finding-{re.sub(r'[^A-Za-z0-9]', '-', found.fingerprint)[:80]}"


def _row(audit: Audit, found: FindingEntry, *, fresh: bool) -> tables.Row:
    standing = ("new" if fresh else "as before") if audit.trend.previous else ""
    first_seen = audit.trend.first_seen.get(found.fingerprint, "")
    subject = found.subject
    return tables.Row(
        id=fragment(found),
        facets=(
            found.severity.value,
            _outcome(found),
            labels.group(found),
            subject.namespace,
            f"{found.code} {found.name}",
            standing,
            "yes" if found.never else "no",
            found.exception,
        ),
        cells=(
            cells.Cell(
                (("badge", found.severity.value, labels.BADGES[found.severity]), ("muted", _outcome(found))),
                sort=ordering.rank(found.severity),
            ),
            _described(found),
            labels.named(subject),
            cells.text("" if (owner := labels.owner(found)) == labels.NO_TEAM else owner, labels.NO_TEAM),
            _amount(found),
            cells.age(found.since, audit.taken),
            _seen(audit, standing, first_seen),
        ),
    )


def _amount(found: FindingEntry) -> cells.Cell:
    """GPUs, or other accelerators by their own names."""
    other = PAGE.others(found.other_accelerators)
    if found.gpus is None or (other and not found.gpus):
        return cells.text(other, "not known")
    if not found.gpus:
        return cells.text("")  # what it is about neither holds GPUs nor asks for some
    return cells.number(found.gpus, PAGE.between(found.gpus, found.gpus_least))


def _outcome(found: FindingEntry) -> str:
    """What admission would do; findings about the cluster as a whole concern no admission."""
    return "" if found.category == "cluster" else labels.AT_ADMISSION.get(found.outcome, found.outcome)


def _milder(found: FindingEntry) -> str:
    return wording.capitalised(words.milder(found.outcome, found.because)) if found.because else ""


def _described(found: FindingEntry) -> cells.Cell:
    held = f"Held by {found.held_by}" if found.held_by else ""
    never = f"Can never run. {held}".strip() if found.never else held
    return cells.Cell(
        tuple(
            piece
            for piece in (
                ("link", found.code, f"#{fragment(found)}"),
                ("rule", found.title if found.category == "cluster" else found.name),
                ("strong", wording.capitalised(found.message)),
                ("code", found.path),
                ("fix", wording.capitalised(found.remedy)),
                ("muted", _milder(found)),
                ("muted", f"In {found.place}" if found.place else ""),
                ("muted", never),
                ("muted", f"Exception {found.exception}" if found.exception else ""),
                ("muted", f"{found.prevented_by} would have prevented it" if found.prevented_by else ""),
                ("muted", f"{found.preventable_by} would prevent it if it denied" if found.preventable_by else ""),
                ("muted", f"Admission mends it: {found.mended_by}" if found.mended_by else ""),
                ("more", "Evidence" if found.evidence else "", found.evidence),
            )
            if piece[1]
        )
    )


def _seen(audit: Audit, standing: str, first_seen: str) -> cells.Cell:
    seconds = numbers.seconds_between(first_seen, audit.taken)
    if standing == "new":
        return cells.badge("new", "fresh", 0.0)
    if seconds is None:
        return cells.text("", "first audit" if not standing else "not known")
    return cells.Cell((("time", f"for {numbers.lasting(seconds)}", numbers.minute(first_seen)),), sort=seconds)
