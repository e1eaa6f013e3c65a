"""The trials of own checks and the results of test suites of policies, as text and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from usher.check.formats import json_report, wording
from usher.extensions.gatekeeper.suites import Outcome, Result
from usher.extensions.own_checks.trials import Trial


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
