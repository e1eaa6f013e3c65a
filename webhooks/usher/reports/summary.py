"""Writes the end of a report: the numbers, and what they do not count."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from rich.text import Text

from usher.reports import mended, wording
from usher.reports.lines import Lines
from usher.scan import exception_uses, findings

_SHOWN_NOTES: Final = 10


def write(found: findings.Report, lines: Lines) -> None:
    parts = (_mended, _not_evaluated, _without_facts, _exceptions, _left_out)
    for label, text in (entry for part in parts for entry in part(found)):
        first = Text(f"{label}: ", style="magenta" if label == "not evaluated" else "dim")
        lines.wrapped(text, first=first, rest="  ")
    lines.wrapped(configuration(found), first=Text("configuration: ", style="dim"), rest="  ")
    lines.wrapped(numbers(found), first=Text(""), rest="  ", style=_style(found))


def _style(found: findings.Report) -> str:
    if found.denies or found.failed:
        return "bold red"
    return "yellow" if found.totals.warnings or found.unread else "bold green"


def numbers(found: findings.Report) -> str:
    """The run in one line: `1 file, 2 workloads, 8 GPUs: no errors, 1 warning`."""
    totals = found.totals
    scope = [] if found.origin else [wording.count(totals.files, "file")]
    scope += [wording.count(totals.workloads, "workload"), wording.devices(totals.accelerators)]
    parts = []
    if totals.workloads or not found.failed:
        parts.append(wording.finding_counts(totals))
    if found.not_evaluated:
        parts.append(f"{wording.count(len({each.check for each in found.not_evaluated}), 'check')} not evaluated")
    if found.unread:
        parts.append(f"{wording.count(found.unread, 'part')} not judged")
    # Without this note the numbers would look complete.
    missing = [f"{wording.count(len(found.problems), 'input')} could not be read"] if found.problems else []
    if found.failures:
        missing.append(f"{wording.count(len(found.failures), 'object')} could not be judged")
    verdict = ", ".join(parts)
    if missing:
        verdict = f"INCOMPLETE, {wording.sentence(missing)}" + (f"; in the rest {verdict}" if verdict else "")
    return f"{', '.join(scope)}: {verdict}"


def _not_evaluated(found: findings.Report) -> Iterator[tuple[str, str]]:
    for (code, name), entries in groupby(found.not_evaluated, key=lambda entry: (entry.code, entry.name)):
        for entry in entries:
            where = wording.count(entry.workloads, entry.subject)
            yield "not evaluated", f"{f'{code} {name}'.strip()}, {where}: {entry.reason}"


def _without_facts(found: findings.Report) -> Iterator[tuple[str, str]]:
    if found.without_facts:
        checks = wording.count(found.without_facts, "check")
        yield (
            "left out",
            f"{checks} that compare with a cluster; give its facts with --facts (usher snapshot saves them)",
        )


def _exceptions(found: findings.Report) -> Iterator[tuple[str, str]]:
    for each in found.exceptions:
        name = f"{each.ticket} of {each.owner}"
        match each.state:
            case exception_uses.ExceptionState.USED:
                text = f"{name} covers {wording.count(each.findings, 'finding')} until {each.expires}"
            case exception_uses.ExceptionState.UNUSED:
                text = f"{name} covers nothing here; remove it from usher.yaml unless other manifests need it"
            case exception_uses.ExceptionState.EXPIRED:
                text = f"{name} expired on {each.expires}; renew it or remove it from usher.yaml"
        yield "exception", text


def _left_out(found: findings.Report) -> Iterator[tuple[str, str]]:
    for note in found.notes[:_SHOWN_NOTES]:
        yield "left out", f"{note.source}: {note.reason}"
    if len(found.notes) > _SHOWN_NOTES:
        yield "left out", f"{len(found.notes) - _SHOWN_NOTES:,} more; --format json lists all"
    totals = found.totals
    if totals.ignored:
        yield (
            "left out",
            wording.count(
                totals.ignored, "document that is not a Kubernetes object", "documents that are not Kubernetes objects"
            ),
        )
    if totals.finished:
        yield "left out", f"{wording.count(totals.finished, 'finished object')} that hold no GPUs any more"
    if totals.owned:
        yield "left out", f"{wording.count(totals.owned, 'object')} judged as part of the workloads that own them"
    exempt = Counter(result.exemption for result in found.results if result.exemption and result.makes_pods)
    for reason, number in exempt.items():
        yield "exempt", f"{wording.count(number, 'workload')}: {reason}"


def configuration(found: findings.Report) -> str:
    """`usher.yaml (preset recommended)`."""
    source = found.configuration.source or "built-in defaults"
    alone = found.command is findings.Command.CHECK and not found.admitted
    as_written = "; judged as written, without what the mutating webhook adds" if alone else ""
    return f"{source} (preset {found.configuration.preset}){as_written}"


def _mended(found: findings.Report) -> Iterator[tuple[str, str]]:
    number = mended.changed(found.results)
    if number:
        ways = "" if found.diff else "; --diff shows how"
        them = "" if not found.admitted else ", and the findings are about the result"
        yield "mended", f"the mutating webhook changes {wording.count(number, 'object')}{them}{ways}"
