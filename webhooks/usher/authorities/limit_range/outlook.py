"""The LimitRange section of `usher queue`: the bounds that pods violate."""

from collections.abc import Iterator

from usher.authorities import amount_texts
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.limit_range import judge, read
from usher.authorities.limit_range.judge import LimitViolation
from usher.authorities.limit_range.read import Rule
from usher.authorities.outlook import Section
from usher.authorities.verdict import Answer


def of(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where a LimitRange refuses pods."""
    workload = case.workload
    ranges = read.of_namespace(workload.namespace, known.facts) if workload.namespace else None
    violations = [] if ranges is None else judge.violations(workload, ranges)
    if violations:
        yield Section(
            authority="LimitRange",
            way=tuple(dict.fromkeys(f"LimitRange {each.bound.of}" for each in violations)),
            answer=Answer.NEVER,
            reasons=tuple(dict.fromkeys(map(_reason, violations))),
        )


def _reason(violation: LimitViolation) -> str:
    bound, resource = violation.bound, violation.bound.resource
    who = f"container {violation.container}" if violation.container else "the whole pod"
    if violation.amount is None:
        says = f"has no {violation.violating} for {resource}"
    elif violation.request is None:
        says = f"has a {violation.violating} of {amount_texts.named(resource, violation.amount)}"
    else:
        limit, request = amount_texts.named(resource, violation.amount), amount_texts.text(resource, violation.request)
        says = f"has a limit of {limit} for a request of {request}"
    if bound.rule is Rule.RATIO:
        return f"{who} {says}, and a limit of at most {bound.amount} times the request is allowed"
    least = "at least" if bound.rule is Rule.MINIMUM else "at most"
    return f"{who} {says}, and {least} {amount_texts.text(resource, bound.amount)} is allowed"
