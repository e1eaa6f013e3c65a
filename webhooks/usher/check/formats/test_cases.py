"""Test cases: a run as JUnit XML and as TAP, a suite for each file; and the tests of policies, as text and as JSON.

A finding that denies fails; with --fail-on warn or audit, milder ones fail too. Other findings pass, with a remark. A
part that usher could not judge is an error, or skipped if the command accepts it. A workload without findings passes.

All of these readers know the elements and attributes: a case has at most one of `failure`, `error` and `skipped`, and
warnings are in `system-out` of a case that passed.

Source: https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd

Source: https://testanything.org/tap-version-14-specification.html
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Final, TextIO

from msgspec import Struct

from usher import model
from usher.check import findings
from usher.check.formats import entries, json_report, wording
from usher.check.formats.entries import Entry
from usher.extensions.gatekeeper.suites import Outcome, Result
from usher.extensions.own_checks.trials import Trial


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
    details: Sequence[Entry] = ()
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
                details=[entry],
            )
            by_source.setdefault(entry.source, []).append(case)
    suites = [Suite(name=source, cases=cases) for source, cases in by_source.items()]
    cases_of_run = list(_cases_of_run(found))
    return [*suites, Suite(name="gpu-usher", cases=cases_of_run)] if cases_of_run or not suites else suites


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
        details = [entries.of_finding(each, result, found) for each in same]
        yield Case(
            name=f"{name}: {code} {check}",
            state=State.FAILED if failed else State.PASSED,
            reason="; ".join(dict.fromkeys(each.judgement.finding.message for each in failed)),
            code=code,
            details=details,
        )
    accepted = found.ending is None or found.ending.unknown_accepted
    unread = list(entries.unread(result, found))
    for entry in unread:
        state = State.SKIPPED if accepted else State.ERROR
        yield Case(name=f"{name}: {entry.title}", state=state, reason=entry.message, details=[entry])
    if not by_check and not unread:
        yield Case(name=name)


def _cases_of_run(found: findings.Report) -> Iterator[Case]:
    accepted = found.ending is None or found.ending.unknown_accepted
    for each in found.not_evaluated:
        where = wording.count(each.workloads, each.subject)
        name = f"{each.code} {each.name}".strip()
        state = State.ERROR if each.required and not accepted else State.SKIPPED
        yield Case(name=f"{name} not evaluated", state=state, reason=f"{where}: {each.reason}", code=each.code)
    for kind, reason in entries.keys_not_compared(found):
        yield Case(name=f"{kind} not compared", state=State.SKIPPED, reason=reason)
    for note in found.notes:
        yield Case(name=f"{note.source} left out", state=State.SKIPPED, reason=note.reason)


_NUMBERS: Final = {
    "failures": State.FAILED,
    "errors": State.ERROR,
    "skipped": State.SKIPPED,
}
_ELEMENTS: Final = {State.FAILED: "failure", State.ERROR: "error"}


def write_junit(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the report as one XML document."""
    suites = of(found)
    everything = [case for suite in suites for case in suite.cases]
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(f"<testsuites{_attributes(name='gpu-usher', **_numbers(everything, without='skipped'))}>\n")
    for suite in suites:
        stream.write(f"  <testsuite{_attributes(name=suite.name, **_numbers(suite.cases))}>\n")
        stream.writelines("".join(f"    {line}\n" for line in _case(case, suite.name)) for case in suite.cases)
        stream.write("  </testsuite>\n")
    stream.write("</testsuites>\n")


def _numbers(counted: Iterable[Case], *, without: str = "") -> dict[str, str]:
    states = Counter(case.state for case in counted)
    numbers = {name: str(states[state]) for name, state in _NUMBERS.items() if name != without}
    return {"tests": str(states.total()), **numbers}


def _case(case: Case, suite: str) -> Iterator[str]:
    start = f"<testcase{_attributes(name=case.name, classname=suite, time='0')}"
    text = "\n".join(line for entry in case.details for line in _describe_entry(entry))
    match case.state:
        case State.PASSED if not text:
            yield f"{start}/>"
            return
        case State.PASSED:
            body = f"<system-out>{_junit_escaped(text)}</system-out>"
        case State.SKIPPED:
            body = f"<skipped{_attributes(message=case.reason)}/>"
        case _:
            element = _ELEMENTS[case.state]
            attributes = _attributes(message=case.reason, type=case.code or case.state.value)
            body = f"<{element}{attributes}>{_junit_escaped(text)}</{element}>"
    yield f"{start}>"
    yield f"  {body}"
    yield "</testcase>"


def _describe_entry(entry: Entry) -> Iterator[str]:
    yield f"{entry.where}: {entry.level}: {entry.text}"
    yield from (f"  {detail}" for detail in entry.details)


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{_junit_escaped(value)}"' for name, value in values.items())


def _junit_escaped(text: str) -> str:
    """Text for XML 1.0, which cannot hold control characters: they become visible escapes."""
    plain = "\n".join(wording.printable(line) for line in text.split("\n"))
    return wording.xml_without_commands(html.escape(plain, quote=False).replace('"', "&quot;"))


_SPECIAL: Final = re.compile(r"([\\#])")


def write_tap(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the version, the plan and the test points."""
    points = [(suite.name, case) for suite in of(found) for case in suite.cases]
    stream.write(f"TAP version 14\n1..{len(points)}{'' if points else ' # no object was found'}\n")
    for number, (suite, case) in enumerate(points, 1):
        stream.writelines(f"{line}\n" for line in _point(number, suite, case))


def _point(number: int, suite: str, case: Case) -> Iterator[str]:
    failed = case.state in {State.FAILED, State.ERROR}
    skip = f" # SKIP {_tap_escaped(case.reason)}" if case.state is State.SKIPPED else ""
    yield f"{'not ok' if failed else 'ok'} {number} - {_tap_escaped(f'{suite}: {case.name}')}{skip}"
    if case.details:
        yield "  ---"
        yield "  findings:"
        for entry in case.details:
            yield from (f"    {line}" for line in _block(entry))
        yield "  ..."


def _block(entry: Entry) -> Iterator[str]:
    mark = "-"
    for key, value in (
        ("severity", entry.level.value),
        ("message", entry.text),
        ("file", entry.file),
        ("line", entry.line),
        ("column", entry.column),
        ("details", list(entry.details)),
    ):
        if value or key == "message":
            yield f"{mark} {key}: {_yaml(value)}"
            mark = " "


def _yaml(value: str | int | list[str]) -> str:
    """A value as JSON, which YAML reads in the same way unless it has control characters."""
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    plain = wording.printable(value) if isinstance(value, str) else value
    return wording.json_without_commands(json.dumps(plain, ensure_ascii=False))


def _tap_escaped(text: str) -> str:
    """The text with escaped number signs, so that it starts no directive."""
    return _SPECIAL.sub(r"\\\1", wording.printable(text)).strip()


def trials_as_text(trials: Sequence[Trial]) -> str:
    """One line for each check, with its failures below, and the lines that no test reaches."""
    lines = [wording.harmless(line) for trial in trials for line in _trial_lines(trial)]
    failed = sum(not trial.passed for trial in trials)
    counts = f"{len(trials) - failed} passed" + (f", {failed} failed" if failed else "")
    return "".join(f"{line}\n" for line in [*lines, f"{wording.count(len(trials), 'check')}: {counts}"])


def _trial_lines(trial: Trial) -> Iterator[str]:
    name = " ".join(filter(None, (trial.code, trial.name)))
    parts = [wording.count(trial.tests, "test"), wording.count(trial.examples, "example")]
    # 99.96 % must not look complete.
    covered = "" if trial.coverage is None else f"{int(trial.coverage * 10) / 10:g} % of lines covered"
    yield f"{'ok' if trial.passed else 'FAIL':<5} {name:<32} {', '.join([*parts, *([covered] if covered else [])])}"
    for failure in trial.failures:
        yield f"      {wording.printable(failure.place)}: {wording.printable(failure.reason)}"
        yield from (f"          {wording.printable(line.expandtabs(2))}" for line in failure.detail.splitlines())
    for place in trial.uncovered:
        yield f"      {wording.printable(place)}: no test reaches this"


class _Failure(json_report.Shape):
    place: str
    reason: str
    detail: json_report.TextIfAny


class _Check(json_report.Shape):
    code: json_report.TextIfAny
    name: str
    passed: bool
    tests: int
    examples: int
    failures: list[_Failure]
    coverage: float | None
    uncovered: list[str]


class _TrialDocument(json_report.Shape):
    api_version: str = json_report.API_VERSION
    kind: str = "CheckTrials"
    checks: list[_Check]


def trials_as_json(trials: Sequence[Trial]) -> str:
    """The trials as a document, without the line end."""
    document = _TrialDocument(checks=[_Check.model_validate(trial) for trial in trials])
    return wording.json_without_commands(document.model_dump_json(by_alias=True, indent=2))


_MARKS = {Outcome.PASSED: "pass", Outcome.FAILED: "FAIL", Outcome.SKIPPED: "skip", Outcome.NOT_RUN: "not run"}


def results_as_text(results: Sequence[Result], *, verbose: bool = False) -> str:
    """One line for each suite, with the cases that did not pass below, and the totals at the end."""
    lines: list[str] = []
    for suite, group in groupby(results, key=lambda result: result.suite):
        found = list(group)
        worst = next(
            (each for each in (Outcome.FAILED, Outcome.NOT_RUN) if any(r.outcome is each for r in found)), None
        )
        mark = _MARKS[worst] if worst else "ok"
        lines.append(f"{mark:<7}  {wording.printable(suite)}  {wording.count(len(found), 'case')}")
        for result in found:
            if verbose or result.outcome in (Outcome.FAILED, Outcome.NOT_RUN):
                reason = f": {result.reason}" if result.reason else ""
                lines.append(f"  {_MARKS[result.outcome]:<7}  {wording.printable(_result_name(result) + reason)}")
    counts = Counter(result.outcome for result in results)
    suites = wording.count(len({result.suite for result in results}), "suite")
    lines.append(f"{suites}: " + ", ".join(f"{counts[each]:,} {each}" for each in Outcome if counts[each]))
    return "".join(f"{wording.harmless(line)}\n" for line in lines)


def _result_name(result: Result) -> str:
    return f"{result.test}/{result.case}" if result.case else result.test


class _Case(json_report.Shape):
    suite: str
    test: str
    case: json_report.TextIfAny
    outcome: str
    reason: json_report.TextIfAny


class _ResultDocument(json_report.Shape):
    api_version: str = json_report.API_VERSION
    kind: str = "PolicyVerification"
    cases: list[_Case]


def results_as_json(results: Sequence[Result]) -> str:
    """The results as a document, without the line end."""
    document = _ResultDocument(cases=[_Case.model_validate(result) for result in results])
    return document.model_dump_json(by_alias=True, indent=2)
