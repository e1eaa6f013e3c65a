"""Runs test suites of policies, as `gator verify` does (gatekeeper, pkg/gator/verify/runner.go)."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from usher import errors, paths
from usher.dataclass import dataclass
from usher.gatekeeper import constraints, inventory, library, reviews, suites, templates
from usher.gatekeeper.compilation import Compiler
from usher.gatekeeper.evaluation import NotJudged, Policies, Violation
from usher.gatekeeper.fields import Written

ReadFile = Callable[[str, str], list[Written]]
"""The objects of a file: takes the file of the suite, and the path that it names."""

_POINTS: Final = (constraints.COMMAND,)


class Outcome(StrEnum):
    """The result of a case."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """The suite skips it."""
    NOT_RUN = "not run"
    """usher could not run it: neither passed nor failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one case, or of a test that has no cases."""

    suite: str
    test: str
    case: str
    """Empty for the result of the whole test."""
    outcome: Outcome
    reason: str = ""


def run(suite: suites.Suite, *, read_file: ReadFile, compiler: Compiler) -> Iterator[Result]:
    """The results of a suite, in its order."""
    for test in suite.tests:
        if suite.skip or test.skip:
            yield from _same(suite, test, Outcome.SKIPPED, "the suite skips it")
        elif test.expansion:
            yield from _same(suite, test, Outcome.NOT_RUN, "it expands objects by an ExpansionTemplate")
        else:
            yield from _Run(suite, test, read_file).results(compiler)


def _same(suite: suites.Suite, test: suites.Test, outcome: Outcome, reason: str) -> Iterator[Result]:
    """The same result for every case of a test."""
    for case in test.cases or (None,):
        name = case.name if case is not None else ""
        yield Result(suite=suite.source, test=test.name, case=name, outcome=outcome, reason=reason)


class _Run:
    """One test."""

    def __init__(self, suite: suites.Suite, test: suites.Test, read_file: ReadFile) -> None:
        self._suite = suite
        self._test = test
        self._read = read_file

    def results(self, compiler: Compiler) -> Iterator[Result]:
        try:
            compiled = library.compiled(self._template(), compiler)
            constraint = constraints.read(self._first(self._test.constraint))
            problem = library.problem(constraint, {compiled.template.kind: compiled.template})
        except errors.InputError as error:
            yield from _same(self._suite, self._test, Outcome.FAILED, str(error))
            return
        if self._test.invalid or problem:
            yield self._of_schema(problem)
            return
        constraint = library.completed(constraint, compiled.template)
        policies = Policies(library.Library(templates={compiled.template.kind: compiled}, constraints=(constraint,)))
        try:
            if reason := policies.not_evaluated.get(compiled.template.kind):
                yield from _same(self._suite, self._test, Outcome.NOT_RUN, reason)
            else:
                yield from (self._result(case, policies) for case in self._test.cases)
        finally:
            policies.close()

    def _of_schema(self, problem: str) -> Result:
        """The result of a test that expects parameters outside the schema, or whose parameters do not fit it."""
        fine = self._test.invalid and bool(problem)
        reason = problem or "the parameters of the constraint fit the schema of the template, and should not"
        return Result(
            suite=self._suite.source,
            test=self._test.name,
            case="",
            outcome=Outcome.PASSED if fine else Outcome.FAILED,
            reason="" if fine else reason,
        )

    def _result(self, case: suites.Case, policies: Policies) -> Result:
        outcome, reason = Outcome.SKIPPED, "the suite skips it"
        if not case.skip:
            try:
                outcome, reason = self._outcome(case, policies)
            except errors.InputError as error:
                outcome, reason = Outcome.FAILED, str(error)
            except errors.EngineError as error:
                outcome, reason = Outcome.NOT_RUN, str(error)
        return Result(suite=self._suite.source, test=self._test.name, case=case.name, outcome=outcome, reason=reason)

    def _outcome(self, case: suites.Case, policies: Policies) -> tuple[Outcome, str]:
        written = suites.one(
            self._read(self._suite.source, case.object), source=case.object, what="the object of a case"
        )
        others = [each.value for path in case.inventory for each in self._read(self._suite.source, path)]
        policies.compare_with(lambda: inventory.data(others))
        found = list(policies.judged(self._review(written, others), _POINTS))
        failed = [each for each in found if isinstance(each, NotJudged) and not each.namespace_unknown]
        if failed:
            return Outcome.NOT_RUN, failed[0].reason
        # gator rejects an object if it does not know whether the constraint matches it.
        messages = [each.message if isinstance(each, Violation) else each.reason for each in found]
        wrong = [reason for assertion in case.assertions if (reason := assertion.unmet(messages))]
        return (Outcome.FAILED, wrong[0]) if wrong else (Outcome.PASSED, "")

    def _review(self, written: Written, others: list[paths.Object]) -> reviews.Review:
        if reviews.is_admission_review(written.value):
            review = reviews.of_admission_review(written)
        else:
            review = reviews.of_object(written.value)
        return reviews.within(review, others)

    def _template(self) -> templates.Template:
        written = self._first(self._test.template)
        if not templates.is_template(written.value):
            raise errors.InputError(f"{written.place}: kind: is not a ConstraintTemplate of {templates.GROUP}")
        return templates.read(written)

    def _first(self, path: str) -> Written:
        found = self._read(self._suite.source, path)
        if not found:
            raise errors.InputError(f"{path}: has no object")
        return found[0]
