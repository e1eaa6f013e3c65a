"""Test suites of policies, read and run as `gator verify` does (gatekeeper, pkg/gator/verify)."""

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

from usher import errors, paths
from usher.extensions.gatekeeper import constraint_templates, constraints, evaluation, library
from usher.extensions.gatekeeper.constraint_templates import Fields, Written, group_and_kind, kind_in_words, top_fields
from usher.extensions.gatekeeper.evaluation import NotJudged, Policies, Violation
from usher.extensions.gatekeeper.library import Compiler

GROUP: Final = "test.gatekeeper.sh"
KIND: Final = "Suite"

_MOST: Final = 10_000
_LONGEST_PATTERN: Final = 1000


class Assertion(Struct, frozen=True, kw_only=True):
    """The violations that a case must have."""

    least: int
    most: int | None
    """None without a limit."""
    message: re.Pattern[str] | None
    """Counts only violations with this pattern in their message; None counts all."""

    def unmet(self, messages: list[str]) -> str:
        """The mistake in the messages of the violations; empty if they are as expected."""
        found = sum(self.message is None or self.message.search(message) is not None for message in messages)
        if found >= self.least and (self.most is None or found <= self.most):
            return ""
        wanted = f"{self.least}" if self.most == self.least else f"{self.least} or more"
        of = f" with /{self.message.pattern}/ in the message" if self.message else ""
        got = f"; the messages are: {'; '.join(messages)}" if messages else ""
        return f"expected {wanted} violations{of}, found {found}{got}"


class Case(Struct, frozen=True, kw_only=True):
    """One object, and the expected violations of the constraint in it."""

    name: str
    object: str
    """The file of the object, relative to the suite, like the other files."""
    inventory: tuple[str, ...]
    assertions: tuple[Assertion, ...]
    skip: bool


class Test(Struct, frozen=True, kw_only=True):
    """One template with one constraint, and its cases."""

    name: str
    template: str
    constraint: str
    expansion: str
    invalid: bool
    """Whether the parameters of the constraint must not fit the schema of the template."""
    cases: tuple[Case, ...]
    skip: bool


class Suite(Struct, frozen=True, kw_only=True):
    """One file of tests."""

    source: str
    """The file."""
    tests: tuple[Test, ...]
    skip: bool


def is_suite(value: paths.Object) -> bool:
    return group_and_kind(value) == (GROUP, KIND)


def read_suite(written: Written) -> Suite:
    """The suite in an object.

    Raises:
        InputError: a field has the wrong type, or an assertion cannot be met.
    """
    fields = top_fields(written)
    return Suite(
        source=written.source,
        tests=tuple(_test(each) for each in fields.mappings("tests", most=_MOST)),
        skip=_flag(fields, "skip"),
    )


def _test(fields: Fields) -> Test:
    return Test(
        name=fields.text("name"),
        template=fields.required("template"),
        constraint=fields.required("constraint"),
        expansion=fields.text("expansion"),
        invalid=_flag(fields, "invalid"),
        cases=tuple(_case(each) for each in fields.mappings("cases", most=_MOST)),
        skip=_flag(fields, "skip"),
    )


def _case(fields: Fields) -> Case:
    assertions = fields.mappings("assertions", most=_MOST)
    if not assertions:
        raise fields.wrong("assertions", "is missing; a case says what it expects, for example `violations: yes`")
    return Case(
        name=fields.text("name"),
        object=fields.required("object"),
        inventory=fields.texts("inventory", most=_MOST),
        assertions=tuple(map(_assertion, assertions)),
        skip=_flag(fields, "skip"),
    )


def _assertion(fields: Fields) -> Assertion:
    least, most = _violations(fields)
    pattern = fields.text("message")
    if len(pattern) > _LONGEST_PATTERN:
        raise fields.wrong("message", f"is longer than {_LONGEST_PATTERN} characters")
    try:
        message = re.compile(pattern) if fields.get("message") is not None else None
    except (re.error, OverflowError) as error:
        raise fields.wrong("message", f"is not a regular expression that usher knows: {error}") from None
    return Assertion(least=least, most=most, message=message)


def _violations(fields: Fields) -> tuple[int, int | None]:
    match fields.get("violations"):
        # Kubernetes reads yes and no in YAML as true and false; gator reads the words.
        case None | True | "yes":
            return 1, None
        case False | "no":
            return 0, 0
        case int() as number if number >= 0:
            return number, number
    raise fields.wrong("violations", "must be yes, no, or the number of violations")


def _flag(fields: Fields, name: str) -> bool:
    value = fields.get(name)
    if not isinstance(value, bool | None):
        raise fields.wrong(name, f"must be true or false, and is {kind_in_words(value)}")
    return bool(value)


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


class Result(Struct, frozen=True, kw_only=True):
    """The result of one case, or of a test that has no cases."""

    suite: str
    test: str
    case: str
    """Empty for the result of the whole test."""
    outcome: Outcome
    reason: str = ""


def run_suite(suite: Suite, *, read_file: ReadFile, compiler: Compiler) -> Iterator[Result]:
    """The results of a suite, in its order."""
    for test in suite.tests:
        if suite.skip or test.skip:
            yield from _same_result_for_cases(suite, test, Outcome.SKIPPED, "the suite skips it")
        elif test.expansion:
            yield from _same_result_for_cases(
                suite, test, Outcome.NOT_RUN, "it expands objects by an ExpansionTemplate"
            )
        else:
            yield from _Run(suite, test, read_file).results(compiler)


def _same_result_for_cases(suite: Suite, test: Test, outcome: Outcome, reason: str) -> Iterator[Result]:
    """The same result for every case of a test."""
    for case in test.cases or (None,):
        name = case.name if case is not None else ""
        yield Result(suite=suite.source, test=test.name, case=name, outcome=outcome, reason=reason)


class _Run:
    """One test."""

    def __init__(self, suite: Suite, test: Test, read_file: ReadFile) -> None:
        self._suite = suite
        self._test = test
        self._read = read_file

    def results(self, compiler: Compiler) -> Iterator[Result]:
        try:
            compiled = library.compile_template(self._template(), compiler)
            constraint = constraints.read_constraint(self._first(self._test.constraint))
            problem = library.why_parameters_do_not_fit(constraint, {compiled.template.kind: compiled.template})
        except errors.InputError as error:
            yield from _same_result_for_cases(self._suite, self._test, Outcome.FAILED, str(error))
            return
        if self._test.invalid or problem:
            yield self._of_schema(problem)
            return
        constraint = library.constraint_with_defaults(constraint, compiled.template)
        policies = Policies(library.Library(templates={compiled.template.kind: compiled}, constraints=(constraint,)))
        try:
            if reason := policies.not_evaluated.get(compiled.template.kind):
                yield from _same_result_for_cases(self._suite, self._test, Outcome.NOT_RUN, reason)
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

    def _result(self, case: Case, policies: Policies) -> Result:
        outcome, reason = Outcome.SKIPPED, "the suite skips it"
        if not case.skip:
            try:
                outcome, reason = self._outcome(case, policies)
            except errors.InputError as error:
                outcome, reason = Outcome.FAILED, str(error)
            except errors.EngineError as error:
                outcome, reason = Outcome.NOT_RUN, str(error)
        return Result(suite=self._suite.source, test=self._test.name, case=case.name, outcome=outcome, reason=reason)

    def _outcome(self, case: Case, policies: Policies) -> tuple[Outcome, str]:
        objects = self._read(self._suite.source, case.object)
        if len(objects) != 1:
            number = len(objects)
            raise errors.InputError(f"{case.object}: has {number} objects; the object of a case is a file with one")
        others = [each.value for path in case.inventory for each in self._read(self._suite.source, path)]
        policies.compare_with(lambda: evaluation.inventory_data(others))
        found = list(policies.judged(self._review(objects[0], others), _POINTS))
        failed = [each for each in found if isinstance(each, NotJudged) and not each.namespace_unknown]
        if failed:
            return Outcome.NOT_RUN, failed[0].reason
        # gator rejects an object if it does not know whether the constraint matches it.
        messages = [each.message if isinstance(each, Violation) else each.reason for each in found]
        wrong = [reason for assertion in case.assertions if (reason := assertion.unmet(messages))]
        return (Outcome.FAILED, wrong[0]) if wrong else (Outcome.PASSED, "")

    def _review(self, written: Written, others: list[paths.Object]) -> evaluation.Review:
        if evaluation.is_admission_review(written.value):
            review = evaluation.review_of_admission_review(written)
        else:
            review = evaluation.review_of_object(written.value)
        return evaluation.review_with_namespaces(review, others)

    def _template(self) -> constraint_templates.Template:
        written = self._first(self._test.template)
        if not constraint_templates.is_template(written.value):
            raise errors.InputError(
                f"{written.place}: kind: is not a ConstraintTemplate of {constraint_templates.GROUP}"
            )
        return constraint_templates.read_template(written)

    def _first(self, path: str) -> Written:
        found = self._read(self._suite.source, path)
        if not found:
            raise errors.InputError(f"{path}: has no object")
        return found[0]
