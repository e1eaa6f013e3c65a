"""The trials of own checks, as text and as JSON."""

from collections.abc import Iterator, Sequence

from usher.own_checks.trials import Trial
from usher.reports import json_shape, wording


def as_text(trials: Sequence[Trial]) -> str:
    """One line for each check, with its failures below, and the lines that no test reaches."""
    lines = [wording.harmless(line) for trial in trials for line in _lines(trial)]
    failed = sum(not trial.passed for trial in trials)
    counts = f"{len(trials) - failed} passed" + (f", {failed} failed" if failed else "")
    return "".join(f"{line}\n" for line in [*lines, f"{wording.count(len(trials), 'check')}: {counts}"])


def _lines(trial: Trial) -> Iterator[str]:
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


class _Failure(json_shape.Shape):
    place: str
    reason: str
    detail: json_shape.TextIfAny


class _Check(json_shape.Shape):
    code: json_shape.TextIfAny
    name: str
    passed: bool
    tests: int
    examples: int
    failures: list[_Failure]
    coverage: float | None
    uncovered: list[str]


class _Document(json_shape.Shape):
    api_version: str = json_shape.API_VERSION
    kind: str = "CheckTrials"
    checks: list[_Check]


def as_json(trials: Sequence[Trial]) -> str:
    """The trials as a document, without the line end."""
    document = _Document(checks=[_Check.model_validate(trial) for trial in trials])
    return wording.json_without_commands(document.model_dump_json(by_alias=True, indent=2))
