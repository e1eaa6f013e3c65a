"""The document of an audit or of a fleet as JSON and YAML, and as report objects of a cluster.

Two audits of an unchanged cluster differ only in their times; the same parts of a fleet give the same bytes.

Each namespace gets one object, or a few where its findings do not fit into one; what concerns no namespace goes into
objects of the cluster. The worst findings come first, and those that do not fit are counted in the last object.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, TextIO

import orjson
from msgspec import Struct
from pydantic import BaseModel

from usher import paths
from usher.audit.document import Audit, FindingEntry, Severity
from usher.audit.document.fleet_document import Fleet
from usher.check.formats import wording


def write(document: Audit | Fleet, stream: TextIO, /) -> None:
    """Writes the document, in which no CI system finds a command."""
    # A part at a time: as values of JSON a large document takes several times its size.
    stream.writelines(wording.json_without_commands(piece) for piece in _pieces(document))


def values(audit: Audit) -> dict[str, Any]:
    """The document as values of JSON."""
    return audit.model_dump(mode="json", by_alias=True)


def text(audit: Audit) -> str:
    """The document as indented lines."""
    return "".join(_pieces(audit))


def _pieces(document: Audit | Fleet) -> Iterator[str]:
    names = {each.serialization_alias or name: name for name, each in type(document).model_fields.items()}
    for number, (alias, name) in enumerate(sorted(names.items())):
        yield f"{',' if number else '{'}\n  {json.dumps(alias)}: "
        value = getattr(document, name)
        if isinstance(value, tuple) and value:
            for place, part in enumerate(value):
                yield f"{',' if place else '['}\n    {_indented(part.model_dump(mode='json', by_alias=True), 4)}"
            yield "\n  ]"
        else:
            dumped = value.model_dump(mode="json", by_alias=True) if isinstance(value, BaseModel) else value
            yield _indented(dumped, 2)
    yield "\n}\n"


def _indented(value: Any, spaces: int) -> str:  # noqa: ANN401 - any value of JSON
    try:
        dumped = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        # A number of more than 64 bits, or half of a surrogate pair.
        dumped = json.dumps(value, indent=2, sort_keys=True)
    # Within texts of JSON a line end is an escape.
    return dumped.replace("\n", "\n" + " " * spaces)


def schema() -> dict[str, Any]:
    """The JSON Schema of the document. Readers allow fields beyond it: a later usher may add some."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return draft | Audit.model_json_schema(by_alias=True, mode="serialization")


def write_yaml(audit: Audit, stream: TextIO, /) -> None:
    """Writes the document as one YAML document."""
    from usher.check.formats import json_report

    json_report.dump_yaml(values(audit), stream)


SOURCE: Final = "gpu-usher"
NAME: Final = "gpu-usher-audit"
LABELS: Final = {"app.kubernetes.io/managed-by": SOURCE, "gpu-usher.io/report": "audit"}
TAKEN: Final = "gpu-usher.io/taken"
"""The annotation that says when the audit was taken."""

MAX_RESULTS: Final = 1_000
"""Results of one object."""
MAX_SIZE: Final = 900_000
"""Bytes of the results of one object. etcd takes 1.5 MiB, and other fields and managers need room too."""
MAX_PARTS: Final = 5
"""Objects of one namespace."""

_MAX_TEXT: Final = 2_000
"""Characters of one text."""
_MAX_ERRORS: Final = 100
_SEVERITIES: Final = list(Severity)
_RESULTS: Final = {"deny": "fail", "warn": "warn", "audit": "warn"}


class Family(Struct, frozen=True, kw_only=True):
    """An API of report objects. Both have the same fields, as far as we write them."""

    group: str
    version: str
    kind: str
    plural: str

    @property
    def cluster_kind(self) -> str:
        return f"Cluster{self.kind}"

    @property
    def cluster_plural(self) -> str:
        return f"cluster{self.plural}"


FAMILIES: Final = {
    "openreports": Family(group="openreports.io", version="v1alpha1", kind="Report", plural="reports"),
    "policyreport": Family(group="wgpolicyk8s.io", version="v1alpha2", kind="PolicyReport", plural="policyreports"),
}
"""By the name that --report-objects takes; the first is the one to prefer."""


class _Result(Struct, frozen=True, kw_only=True):
    value: paths.Object
    size: int
    outcome: str


def objects(audit: Audit, family: Family) -> Iterator[paths.Object]:
    """The objects, by namespace; those of the cluster as a whole come first."""
    by_namespace: dict[str, list[FindingEntry]] = {}
    for finding in audit.findings:
        by_namespace.setdefault(finding.subject.namespace, []).append(finding)
    for namespace in sorted({"", *by_namespace}):
        worst_first = sorted(by_namespace.get(namespace, ()), key=_rank)
        results = [_result(_finding(each, audit), outcome=_outcome(each)) for each in worst_first]
        if not namespace:
            results = [*_errors(audit), *results]
        if results:
            yield from _parts(results, namespace, audit, family)


def _rank(finding: FindingEntry) -> tuple[int, int, str, str, str]:
    subject = finding.subject
    blocked = _outcome(finding) != "fail"
    return _SEVERITIES.index(finding.severity), blocked, finding.code, f"{subject.kind}/{subject.name}", finding.path


def _outcome(finding: FindingEntry) -> str:
    return "skip" if finding.exception else _RESULTS.get(finding.outcome, "warn")


def _parts(results: Sequence[_Result], namespace: str, audit: Audit, family: Family) -> Iterator[paths.Object]:
    parts: list[list[_Result]] = [[]]
    size, shown = 0, 0
    for each in results:
        # One place is for the note about results that are left out.
        if len(parts[-1]) == MAX_RESULTS - 1 or (parts[-1] and size + each.size > MAX_SIZE):
            if len(parts) == MAX_PARTS:
                break
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += each.size
        shown += 1
    if left_out := results[shown:]:
        parts[-1].append(_result(_note(len(left_out)), outcome="skip"))
    for number, part in enumerate(parts, start=1):
        yield _object(part, namespace, audit, family, name=NAME if number == 1 else f"{NAME}-{number}")


def _object(results: Iterable[_Result], namespace: str, audit: Audit, family: Family, *, name: str) -> paths.Object:
    outcomes = [each.outcome for each in results]
    metadata: paths.Object = {
        "name": name,
        "labels": {**LABELS},
        "annotations": {TAKEN: audit.taken, "gpu-usher.io/version": audit.version},
        **({"namespace": namespace} if namespace else {}),
    }
    return {
        "apiVersion": f"{family.group}/{family.version}",
        "kind": family.kind if namespace else family.cluster_kind,
        "metadata": metadata,
        "summary": {each: outcomes.count(each) for each in ("pass", "fail", "warn", "error", "skip")},
        "results": [each.value for each in results],
    }


def _finding(finding: FindingEntry, audit: Audit) -> paths.Object:
    subject = finding.subject
    since = audit.trend.first_seen.get(finding.fingerprint, audit.taken)
    properties = {
        "code": finding.code,
        "field": finding.path,
        "remedy": finding.remedy,
        "team": finding.team,
        "gpus": f"{finding.gpus:g}" if finding.gpus else "",
        "heldBy": finding.held_by,
        "exception": finding.exception,
        "fingerprint": finding.fingerprint,
    }
    return {
        "source": SOURCE,
        "policy": _text(finding.name),
        "rule": _text(finding.code),
        "category": _text(finding.category),
        "severity": finding.severity.value,
        "result": _outcome(finding),
        "scored": _outcome(finding) == "fail",
        "message": _text(f"{finding.title}: {finding.message}"),
        "resources": [
            {
                "apiVersion": _text(subject.api_version),
                "kind": _text(subject.kind),
                "name": _text(subject.name),
                **({"namespace": _text(subject.namespace)} if subject.namespace else {}),
            }
        ],
        "properties": {key: _text(value) for key, value in properties.items() if value},
        "timestamp": {"seconds": int(datetime.fromisoformat(since).timestamp()), "nanos": 0},
    }


def _errors(audit: Audit) -> Iterator[_Result]:
    """An error for each source that could not be read, and for each check that was not evaluated."""
    for gap in audit.completeness.gaps[:_MAX_ERRORS]:
        yield _result(_error("audit-complete", f"{gap.source} could not be read: {gap.reason}"), outcome="error")
    for each in audit.not_evaluated[:_MAX_ERRORS]:
        message = f"{each.code} was not evaluated for {each.workloads:,} workloads: {each.reason}"
        yield _result(_error(each.name, message), outcome="error")


def _error(policy: str, message: str) -> paths.Object:
    return {"source": SOURCE, "policy": _text(policy), "result": "error", "scored": False, "message": _text(message)}


def _note(left_out: int) -> paths.Object:
    what = "1 milder result is" if left_out == 1 else f"{left_out:,} milder results are"
    message = f"{what} left out, because a report object has a bounded size. `usher audit` shows all of them."
    return {"source": SOURCE, "policy": "report-size", "result": "skip", "scored": False, "message": message}


def _result(value: paths.Object, *, outcome: str) -> _Result:
    return _Result(value=value, size=len(orjson.dumps(value)) + 1, outcome=outcome)


def _text(text: str) -> str:
    shortened = text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
    return shortened.encode(errors="replace").decode()
