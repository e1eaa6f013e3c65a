"""Turns a run into test cases for JUnit and TAP: a suite for each file, with a case for each workload and check.

A finding that denies fails; with --fail-on warn or audit, milder ones fail too. Other findings pass, with a remark. A
part that usher could not judge is an error, or skipped if the command accepts it. A workload without findings passes.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby

from msgspec import Struct

from usher import model
from usher.check import findings
from usher.check.formats import entries, wording
from usher.check.formats.entries import Entry


class State(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


class Case(Struct, frozen=True, kw_only=True):
    name: str
    state: State = State.PASSED
    reason: str = ""
    """Why it failed or was skipped; empty for a case that passed."""
    code: str = ""
    """The code of its check."""
    said: Sequence[Entry] = ()
    """Its findings, or the failures of usher."""


class Suite(Struct, frozen=True, kw_only=True):
    name: str
    cases: Sequence[Case]


def of(found: findings.Report) -> list[Suite]:
    """The suites by file, in the order of reading; the last one holds entries about the whole run."""
    by_source: dict[str, list[Case]] = {}
    for result in found.results:
        by_source.setdefault(result.source, []).extend(_cases_of_result(result, found))
    for entry in entries.of_report(found):
        if entry.result is None:
            case = Case(
                name=f"{entry.subject}: {entry.title}" if entry.subject else entry.title,
                state=State.ERROR,
                reason=entry.message,
                said=[entry],
            )
            by_source.setdefault(entry.source, []).append(case)
    suites = [Suite(name=source, cases=cases) for source, cases in by_source.items()]
    whole = list(_cases_of_run(found))
    return [*suites, Suite(name="gpu-usher", cases=whole)] if whole or not suites else suites


def failing(found: findings.Report) -> frozenset[model.Outcome]:
    """The outcomes that fail."""
    return frozenset({model.Outcome.DENY}) | (found.ending.failing if found.ending is not None else frozenset())


def _cases_of_result(result: findings.Result, found: findings.Report) -> Iterator[Case]:
    name = str(result.identity)
    if result.exemption and not result.findings:
        yield Case(name=name, state=State.SKIPPED, reason=f"not judged: {result.exemption}")
        return
    by_check = sorted(result.findings, key=lambda finding: wording.by_code(finding.judgement))
    for (_, code, check), group in groupby(by_check, key=lambda finding: wording.by_code(finding.judgement)):
        same = list(group)
        failed = [each for each in same if each.judgement.outcome in failing(found)]
        said = [entries.of_finding(each, result, found) for each in same]
        yield Case(
            name=f"{name}: {code} {check}",
            state=State.FAILED if failed else State.PASSED,
            reason="; ".join(dict.fromkeys(each.judgement.finding.message for each in failed)),
            code=code,
            said=said,
        )
    accepted = found.ending is None or found.ending.unknown_accepted
    unread = list(entries.unread(result, found))
    for entry in unread:
        state = State.SKIPPED if accepted else State.ERROR
        yield Case(name=f"{name}: {entry.title}", state=state, reason=entry.message, said=[entry])
    if not by_check and not unread:
        yield Case(name=name)


def _cases_of_run(found: findings.Report) -> Iterator[Case]:
    accepted = found.ending is None or found.ending.unknown_accepted
    for each in found.not_evaluated:
        where = wording.count(each.workloads, each.subject)
        name = f"{each.code} {each.name}".strip()
        state = State.ERROR if each.required and not accepted else State.SKIPPED
        yield Case(name=f"{name} not evaluated", state=state, reason=f"{where}: {each.reason}", code=each.code)
    for note in found.notes:
        yield Case(name=f"{note.source} left out", state=State.SKIPPED, reason=note.reason)
