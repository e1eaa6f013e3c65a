"""Gathers the verdicts from the report of a run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from usher import model
from usher.policy.checks.catalogue import Entry
from usher.replay.verdicts import Found, Outcome, Side, Unknown, Verdict
from usher.scan import devices, findings
from usher.scan.review_record import Judged

_NO_RULES: Final[Mapping[str, Entry]] = MappingProxyType({})


def side(
    found: findings.Report,
    *,
    label: str,
    policies: str,
    reviews: Iterable[Judged] = (),
    rules: Mapping[str, Entry] = _NO_RULES,
) -> Side:
    """One side of a comparison.

    Args:
        found: the report of its run. The order distinguishes objects with the same name in one file.
        label: the configuration as people call it.
        policies: the revision of its policies.
        reviews: its decisions about recorded reviews.
        rules: the checks that the reviews may name, by key.
    """
    verdicts = [*(of_result(each, found.rules) for each in found.results), *map(of_failure, found.failures)]
    reviews = list(reviews)
    known = [each for each in reviews if each.occasion.allowed is not None]
    return Side(
        label=label,
        version=found.version,
        policies=policies,
        verdicts=(*_numbered(verdicts), *(of_review(each, rules) for each in reviews)),
        problems=tuple(_place(each.source, each.line, each.reason) for each in found.problems),
        notes=tuple(_place(each.source, 0, each.reason) for each in found.notes),
        recorded=len(known),
        as_recorded=sum(_allows(each) is each.occasion.allowed for each in known),
    )


def of_result(result: findings.Result, rules: Mapping[str, Entry]) -> Verdict:
    """The verdict in a result; `rules` are the checks that it names."""
    counted = not result.is_template
    return Verdict(
        key=_key(result.source, result.identity),
        source=result.source,
        line=result.line,
        kind=result.identity.kind,
        namespace=result.identity.namespace,
        name=result.identity.name,
        owner=_owner(result),
        pods=devices.of_pods(result.pods) if counted and result.makes_pods else devices.NOTHING,
        devices=result.accelerators if counted else {},
        workload=result.makes_pods,
        found=tuple(_found(each) for each in result.findings),
        unknown=tuple(_unknown(each, rules) for each in result.not_judged),
        exemption=result.exemption,
    )


def of_review(judged: Judged, rules: Mapping[str, Entry]) -> Verdict:
    """The verdict about a recorded review."""
    result, occasion = judged.result, judged.occasion
    verdict = of_failure(result) if isinstance(result, findings.Failure) else of_result(result, rules)
    return replace(
        verdict,
        key=occasion.key,
        occasion=occasion.operation,
        uid=occasion.uid,
        owner_uid=occasion.owner_uid,
        user=occasion.user,
    )


def _allows(judged: Judged) -> bool | None:
    result = judged.result
    return None if isinstance(result, findings.Failure) else result.worst is not model.Outcome.DENY


def of_failure(failure: findings.Failure) -> Verdict:
    """The verdict for an object that usher failed to judge."""
    identity = failure.identity
    return Verdict(
        key=_key(failure.source, identity),
        source=failure.source,
        line=failure.line,
        kind=identity.kind,
        namespace=identity.namespace,
        name=identity.name,
        owner=f"{identity.kind}/{identity.name}",
        devices={},
        workload=False,
        failure=failure.reason,
    )


def _numbered(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """The verdicts in the order of their sources. Objects with the same name get a number by their order in
    the file.
    """
    seen: Counter[str] = Counter()
    for verdict in sorted(verdicts, key=lambda each: (each.source, each.line)):
        seen[verdict.key] += 1
        number = seen[verdict.key]
        yield verdict if number == 1 else replace(verdict, key=f"{verdict.key} ({number})")


def _key(source: str, identity: findings.Identity) -> str:
    group = identity.api_version.rpartition("/")[0]
    return f"{source}: {identity.kind}.{group} {identity.namespace}/{identity.name}"


def _owner(result: findings.Result) -> str:
    owner = result.owner
    return f"{result.identity.kind}/{result.identity.name}" if owner is None else f"{owner.kind}/{owner.name}"


def _found(finding: findings.Finding) -> Found:
    judgement = finding.judgement
    return Found(
        check=judgement.finding.check,
        code=judgement.code,
        name=judgement.name,
        outcome=Outcome(judgement.outcome.value),
        path=judgement.finding.path,
        message=judgement.finding.message,
        remedy=judgement.finding.remedy,
        line=0 if finding.place is None else finding.place.line,
    )


def _unknown(part: findings.NotJudged, rules: Mapping[str, Entry]) -> Unknown:
    unknown = part.unknown
    rule = rules.get(unknown.check)
    code, name = ("", unknown.check) if rule is None else (rule.code, rule.name)
    return Unknown(check=unknown.check, code=code, name=name, path=unknown.path, reason=unknown.reason)


def _place(source: str, line: int, reason: str) -> str:
    return f"{source}:{line}: {reason}" if line else f"{source}: {reason}"
