"""Test suites of policies, in the format of `gator verify` (gatekeeper, pkg/gator/verify/suite.go)."""

import re
from typing import Final

from usher import errors, paths
from usher.dataclass import dataclass
from usher.gatekeeper.fields import Fields, Written, group_and_kind, kind_of, top

GROUP: Final = "test.gatekeeper.sh"
KIND: Final = "Suite"

_MOST: Final = 10_000
_LONGEST_PATTERN: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One object, and the expected violations of the constraint in it."""

    name: str
    object: str
    """The file of the object, relative to the suite, like the other files."""
    inventory: tuple[str, ...]
    assertions: tuple[Assertion, ...]
    skip: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One template with one constraint, and its cases."""

    name: str
    template: str
    constraint: str
    expansion: str
    invalid: bool
    """Whether the parameters of the constraint must not fit the schema of the template."""
    cases: tuple[Case, ...]
    skip: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One file of tests."""

    source: str
    """The file."""
    tests: tuple[Test, ...]
    skip: bool


def is_suite(value: paths.Object) -> bool:
    return group_and_kind(value) == (GROUP, KIND)


def read(written: Written) -> Suite:
    """The suite in an object.

    Raises:
        InputError: a field has the wrong type, or an assertion cannot be met.
    """
    fields = top(written)
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
        raise fields.wrong(name, f"must be true or false, and is {kind_of(value)}")
    return bool(value)


def one(found: list[Written], *, source: str, what: str) -> Written:
    """The only object of a file.

    Raises:
        InputError: the file has another number of objects.
    """
    if len(found) != 1:
        raise errors.InputError(f"{source}: has {len(found)} objects; {what} is a file with one")
    return found[0]
