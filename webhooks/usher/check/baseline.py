"""A baseline: the findings that a site already knows, so that only new ones fail.

It names checks, objects and places but not files or lines, so that findings in moved and renamed files stay known. It
also has what they measure: the values in a message, the value at the place, and how many pods and accelerators the
object has. A finding with another value, or about more pods or accelerators, is new.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError
from pydantic.alias_generators import to_camel

from usher import errors, model
from usher.check import devices, findings
from usher.check.devices import Amount
from usher.config import models
from usher.policy import excused_findings
from usher.policy.checks.catalogue import About

KIND: Final = "Baseline"


class KnownFinding(NamedTuple):
    """A finding without the parts that change while it stays the same."""

    check: str
    """The key of the check: `resources/whole_gpus_only`."""
    api_version: str
    kind: str
    namespace: str
    name: str
    path: str
    message: str
    """Without numbers if facts of the cluster decide the finding, because they change from day to day."""
    value_digest: str
    amounts: tuple[tuple[str, str], ...]
    """The pods, and the accelerators by resource; `80`, or `80+` without an upper bound."""

    @property
    def identity(self) -> tuple[str, ...]:
        """All but the amounts. A finding may have smaller ones."""
        return self[:-1]

    def covers(self, other: "KnownFinding") -> bool:
        """Whether another finding with this identity is about no more pods and accelerators."""
        return excused_findings.are_no_more(_parsed(other.amounts), _parsed(self.amounts))


KnownFindings = Counter[KnownFinding]
"""The number of known occurrences of each finding."""

_STRICT: Final = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class _Entry(BaseModel):
    model_config = _STRICT

    check: str
    api_version: str
    kind: str
    namespace: str
    name: str
    path: str
    message: str
    value_digest: str
    amounts: dict[str, Annotated[str, Field(pattern=r"^\d{1,40}(?:\.\d{1,40})?\+?$")]]
    count: PositiveInt = 1


class _File(BaseModel):
    model_config = _STRICT

    api_version: Literal["gpu-usher.io/v1alpha1"]
    kind: Literal["Baseline"]
    findings: list[_Entry]


class Compared(Struct, frozen=True, kw_only=True):
    """A report without the findings of a baseline."""

    report: findings.Report
    known: int
    """The number of findings that were left out."""
    remaining: KnownFindings
    """The findings of the baseline that the run still has."""
    gone: int
    """The number of findings that the run no longer has."""


def of(report: findings.Report) -> KnownFindings:
    """The findings of a report, without those that an exception of usher.yaml covers."""
    return Counter(
        known_finding(report, result, finding)
        for result in report.results
        for finding in result.findings
        if finding.judgement.exception is None
    )


def known_finding(report: findings.Report, result: findings.Result, finding: findings.Finding) -> KnownFinding:
    """A finding of a report as a baseline keeps it."""
    key, found = findings.fingerprint(result, finding), finding.judgement.finding
    rule = report.rules.get(found.check)
    of_facts = rule is not None and rule.about is About.CLUSTER_FACTS
    pods = devices.of_pods(finding.pod_set.pods if finding.pod_set is not None else result.pods)
    amounts = {excused_findings.PODS: pods, **result.accelerators}
    return KnownFinding(
        **{**key._asdict(), "message": key.message if of_facts else found.message},
        value_digest=finding.value_digest,
        amounts=tuple(sorted((name, _text(amount)) for name, amount in amounts.items() if amount)),
    )


def _text(amount: Amount) -> str:
    return f"{Decimal(amount.number):f}{'+' if amount.unbounded else ''}"


def _parsed(amounts: Sequence[tuple[str, str]]) -> excused_findings.Amounts:
    return {name: (text.endswith("+"), Decimal(text.removesuffix("+"))) for name, text in amounts}


def dumps(known: KnownFindings) -> bytes:
    """The content of a baseline file: in a stable order, one finding on each line, so that a review shows
    the changes.
    """
    entries = [
        {
            **{to_camel(name): value for name, value in key._asdict().items()},
            "amounts": dict(key.amounts),
            **({"count": count} if count > 1 else {}),
        }
        for key, count in sorted(known.items())
        if count > 0
    ]
    whole = {"apiVersion": models.API_VERSION, "kind": KIND, "findings": entries}
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def loads(content: bytes, *, source: str) -> KnownFindings:
    """The findings of a baseline.

    Raises:
        InputError: the file is not a baseline.
    """
    try:
        found = _File.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise errors.InputError(
            f"{source}: not a baseline ({place + ': ' if place else ''}{first['msg']}); make one with --write-baseline"
        ) from None
    known: KnownFindings = Counter()
    for each in found.findings:
        values: dict[str, Any] = each.model_dump(exclude={"count", "amounts"})
        known[KnownFinding(**values, amounts=tuple(sorted(each.amounts.items())))] += each.count
    return known


def compared(report: findings.Report, known: KnownFindings) -> Compared:
    """The report with only the new findings. Among equal findings, the last ones are new."""
    left, results = known.copy(), list[findings.Result]()
    alike = defaultdict[tuple[str, ...], list[KnownFinding]](list)
    for each in sorted(known, key=lambda each: [*_parsed(each.amounts).values()]):
        alike[each.identity].append(each)
    for result in report.results:
        new = tuple(_new_findings(report, result, left, alike))
        results.append(result if len(new) == len(result.findings) else replace(result, findings=new))
    remaining = known - left
    return Compared(
        report=replace(report, results=tuple(results), totals=_totals(report.totals, results)),
        known=remaining.total(),
        remaining=remaining,
        gone=left.total(),
    )


def _new_findings(
    report: findings.Report,
    result: findings.Result,
    left: KnownFindings,
    alike: Mapping[tuple[str, ...], Sequence[KnownFinding]],
) -> Iterator[findings.Finding]:
    """The findings that no entry covers; takes the entries that cover others from `left`."""
    for finding in result.findings:
        key = known_finding(report, result, finding)
        entries = alike.get(key.identity, ())
        covering = next((each for each in entries if left[each] > 0 and each.covers(key)), None)
        if covering is None:
            yield finding
        else:
            left[covering] -= 1


def _totals(totals: findings.Totals, results: list[findings.Result]) -> findings.Totals:
    outcomes = Counter(finding.judgement.outcome for result in results for finding in result.findings)
    return replace(
        totals,
        errors=outcomes[model.Outcome.DENY],
        warnings=outcomes[model.Outcome.WARN],
        notes=outcomes[model.Outcome.AUDIT],
        accelerators_with_errors=devices.added(
            result.accelerators for result in results if not result.is_template and result.worst is model.Outcome.DENY
        ),
    )
