"""A baseline: the findings that a site already knows, so that only new ones fail.

It names checks, objects and places but not files or lines, so that findings in moved and renamed files stay known.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Literal

import orjson
from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError
from pydantic.alias_generators import to_camel

from usher import errors, model
from usher.check import devices, findings
from usher.check.findings import Fingerprint
from usher.config import models

KIND: Final = "Baseline"

KnownFindings = Counter[Fingerprint]
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
        findings.fingerprint(result, finding)
        for result in report.results
        for finding in result.findings
        if finding.judgement.exception is None
    )


def dumps(known: KnownFindings) -> bytes:
    """The content of a baseline file: in a stable order, one finding on each line, so that a review shows
    the changes.
    """
    entries = [
        {**{to_camel(name): text for name, text in key._asdict().items()}, **({"count": count} if count > 1 else {})}
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
        values: dict[str, Any] = each.model_dump(exclude={"count"})
        known[Fingerprint(**values)] += each.count
    return known


def compared(report: findings.Report, known: KnownFindings) -> Compared:
    """The report with only the new findings. Among equal findings, the last ones are new."""
    left, results = known.copy(), list[findings.Result]()
    for result in report.results:
        new = tuple(_new_findings(result, left))
        results.append(result if len(new) == len(result.findings) else replace(result, findings=new))
    remaining = known - left
    return Compared(
        report=replace(report, results=tuple(results), totals=_totals(report.totals, results)),
        known=remaining.total(),
        remaining=remaining,
        gone=left.total(),
    )


def _new_findings(result: findings.Result, left: KnownFindings) -> Iterator[findings.Finding]:
    for finding in result.findings:
        key = findings.fingerprint(result, finding)
        if left[key] > 0:
            left[key] -= 1
        else:
            yield finding


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
