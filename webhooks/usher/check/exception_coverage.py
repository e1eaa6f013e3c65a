"""The use of the exceptions of usher.yaml in a report: the objects of each, and whether one still needs it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Final

from msgspec import Struct

from usher import paths
from usher.check.findings import ExceptionState, ExceptionUse, Finding, Result
from usher.config.models import Enforcement, ExceptionRule
from usher.policy import decision
from usher.policy.checks.catalogue import About
from usher.policy.evaluator import Evaluator

EXAMPLES: Final = 5
"""The most objects of an exception that a report names."""


class _Seen(Struct, frozen=True, kw_only=True):
    """The findings of an exception's checks in one object that it matches."""

    result: Result
    findings: Sequence[Finding]


def of(results: Iterable[Result], evaluator: Evaluator, *, aside: Mapping[int, int]) -> tuple[ExceptionUse, ...]:
    """Every exception of usher.yaml with its use, in the order of usher.yaml.

    The checks find the same with and without exceptions, and each finding names the exception that covers it. So usher
    does not judge a second time.

    Args:
        results: the decisions.
        evaluator: the evaluator of these decisions.
        aside: by the index of an exception, the number of matching objects that count as part of others.
    """
    rules = evaluator.config.enforcement.exceptions
    judged = [each for each in results if not each.exemption] if rules else []
    return tuple(_use(place, rules, judged, evaluator, aside=aside.get(place, 0)) for place in range(len(rules)))


def matching(rules: Sequence[ExceptionRule], values: Iterable[paths.Object], *, namespace: str) -> Iterator[int]:
    """For each object, the indexes of the exceptions that match it by kind or name.

    It leaves out exceptions for whole namespaces, which also match the owner of an object.
    """
    narrow = [(place, each) for place, each in enumerate(rules) if each.kinds or each.names]
    for value in values if narrow else ():
        metadata = paths.metadata(value)
        within = paths.text(metadata.get("namespace")) or namespace
        kind, name = paths.text(value.get("kind")), paths.text(metadata.get("name"))
        yield from (
            place for place, each in narrow if decision.exception_matches(each, namespace=within, kind=kind, name=name)
        )


def _use(
    place: int, rules: Sequence[ExceptionRule], judged: Sequence[Result], evaluator: Evaluator, *, aside: int
) -> ExceptionUse:
    rule, today = rules[place], evaluator.today()
    checks = [each for each in evaluator.catalogue.checks.values() if decision.exception_names_check(rule, each)]
    keys = {each.key for each in checks}
    matched = [each for each in judged if _matches(rule, each)]
    seen = [found for each in matched if (found := _seen(each, keys)).findings]
    own = [(each, finding) for each in seen for finding in each.findings if finding.judgement.exception == place]
    others = {
        each.judgement.exception for found in seen for each in found.findings if each.judgement.exception != place
    }
    is_needed = partial(_is_needed, evaluator=evaluator, today=today)
    return ExceptionUse(
        checks=tuple(rule.checks),
        namespaces=tuple(rule.namespaces),
        ticket=rule.ticket,
        owner=rule.owner,
        expires=rule.expires,
        state=_state(expired=rule.expires < today, covered=len(own)),
        findings=len(own),
        kinds=tuple(rule.kinds),
        names=tuple(rule.names),
        objects=len(matched),
        objects_with_findings=len(seen),
        examples=tuple(str(each.result.identity) for each in seen[:EXAMPLES]),
        codes=tuple(sorted({finding.judgement.code for each in seen for finding in each.findings})),
        needed_findings=sum(is_needed(finding, each.result) for each, finding in own),
        covered_by=tuple(sorted(each for each in others if each is not None)),
        aside=aside,
        known=_is_known(rule, keys, matched, evaluator),
    )


def _matches(rule: ExceptionRule, result: Result) -> bool:
    about = result.identity
    return decision.exception_matches(rule, namespace=about.namespace, kind=about.kind, name=about.name)


def _seen(result: Result, keys: set[str]) -> _Seen:
    return _Seen(result=result, findings=[each for each in result.findings if each.judgement.finding.check in keys])


def _state(*, expired: bool, covered: int) -> ExceptionState:
    if expired:
        return ExceptionState.EXPIRED
    return ExceptionState.USED if covered else ExceptionState.UNUSED


def _is_needed(finding: Finding, result: Result, *, evaluator: Evaluator, today: date) -> bool:
    """Whether a finding would deny or warn without an exception; under `observe`, with the preset that follows it."""
    rules = evaluator.config.enforcement
    preset = "recommended" if rules.preset == decision.OBSERVE else rules.preset
    without = Enforcement(preset=preset, rules=rules.rules)
    check = evaluator.catalogue.checks[finding.judgement.finding.check]
    where = decision.Circumstances(
        namespace=result.identity.namespace, role=result.role, place="audit", kind=result.identity.kind, today=today
    )
    outcome, _ = decision.outcome_of_finding(finding.judgement.finding, check, where=where, enforcement=without)
    return outcome in decision.FELT


def _is_known(rule: ExceptionRule, keys: set[str], matched: Sequence[Result], evaluator: Evaluator) -> bool:
    """Whether each check of the exception was evaluated, as at admission, on each object that it matches."""
    entries = evaluator.catalogue.checks
    words = {word for key in keys for word in decision.check_words(entries[key])}
    if not words.issuperset(rule.checks):
        return False  # checks of a site that this run did not load
    if evaluator.facts.empty and any(entries[key].about is About.CLUSTER_FACTS for key in keys):
        return False
    if any(each.places and each.check in words for each in evaluator.config.enforcement.rules):
        return False
    unknown = (each.unknown.check for result in matched for each in result.not_judged)
    return not any(check in keys or not check for check in unknown)
