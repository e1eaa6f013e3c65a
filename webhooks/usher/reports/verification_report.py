"""The results of test suites of policies, as text and as JSON."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from usher.gatekeeper.verification import Outcome, Result
from usher.reports import json_shape, wording

_MARKS = {Outcome.PASSED: "pass", Outcome.FAILED: "FAIL", Outcome.SKIPPED: "skip", Outcome.NOT_RUN: "not run"}


def as_text(results: Sequence[Result], *, verbose: bool = False) -> str:
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
                lines.append(f"  {_MARKS[result.outcome]:<7}  {wording.printable(_name(result) + reason)}")
    counts = Counter(result.outcome for result in results)
    suites = wording.count(len({result.suite for result in results}), "suite")
    lines.append(f"{suites}: " + ", ".join(f"{counts[each]:,} {each}" for each in Outcome if counts[each]))
    return "".join(f"{wording.harmless(line)}\n" for line in lines)


def _name(result: Result) -> str:
    return f"{result.test}/{result.case}" if result.case else result.test


class _Case(json_shape.Shape):
    suite: str
    test: str
    case: json_shape.TextIfAny
    outcome: str
    reason: json_shape.TextIfAny


class _Document(json_shape.Shape):
    api_version: str = json_shape.API_VERSION
    kind: str = "PolicyVerification"
    cases: list[_Case]


def as_json(results: Sequence[Result]) -> str:
    """The results as a document, without the line end."""
    document = _Document(cases=[_Case.model_validate(result) for result in results])
    return document.model_dump_json(by_alias=True, indent=2)
