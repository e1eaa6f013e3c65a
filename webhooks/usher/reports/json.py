"""The report for programs: one document of the shape in `usher.reports.shapes`.

Byte-identical between runs over the same input: nothing in it depends on the time, the machine or the order of a hash.
"""

from decimal import Decimal
from typing import Final, TextIO

import orjson

from usher import model, paths
from usher.reports import shapes
from usher.scan import findings

API_VERSION: Final = "gpu-usher.io/v1alpha1"
KIND: Final = "Report"

MAX_INTEGER: Final = 2**53 - 1
"""The largest that every JSON reader takes; only invented numbers of pods come near it."""


def write(found: findings.Report, stream: TextIO, /) -> None:
    text = orjson.dumps(document(found), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
    stream.write(text.decode())


def document(found: findings.Report) -> shapes.Document:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "command": found.command.value,
        "version": found.version,
        "origin": found.origin,
        "configuration": {"source": found.configuration or "defaults", "preset": found.preset},
        "admitted": found.admitted,
        "complete": not found.failed,
        "summary": _summary(found.totals),
        "workloads": [_workload(result) for result in found.results],
        "notEvaluated": [
            {
                "check": entry.check,
                "code": entry.code,
                "name": entry.name,
                "reason": entry.reason,
                "workloads": entry.workloads,
            }
            for entry in found.not_evaluated
        ],
        "checksWithoutFacts": found.without_facts,
        "exceptions": [
            {
                "checks": list(each.checks),
                "namespaces": list(each.namespaces),
                "ticket": each.ticket,
                "owner": each.owner,
                "expires": each.expires.isoformat(),
                "state": each.state.value,
                "findings": each.findings,
            }
            for each in found.exceptions
        ],
        "failures": [_failure(failure) for failure in found.failures],
        "problems": [_problem(problem) for problem in found.problems],
        "notes": [{"source": note.source, "reason": note.reason} for note in found.notes],
    }


def _summary(totals: findings.Totals) -> shapes.Summary:
    return {
        "files": totals.files,
        "objects": totals.objects,
        "workloads": totals.workloads,
        "pods": _amount(totals.pods),
        "gpus": _amount(findings.gpus(totals.accelerators)),
        "gpusInWorkloadsWithErrors": _amount(findings.gpus(totals.accelerators_with_errors)),
        "accelerators": _devices(totals.accelerators),
        "acceleratorsInWorkloadsWithErrors": _devices(totals.accelerators_with_errors),
        "findings": {
            model.Outcome.DENY.value: totals.errors,
            model.Outcome.WARN.value: totals.warnings,
            model.Outcome.AUDIT.value: totals.notes,
        },
        "exempt": totals.exempt,
        "owned": totals.owned,
        "finished": totals.finished,
        "ignored": totals.ignored,
    }


def _workload(result: findings.Result) -> shapes.Workload:
    pods: shapes.Pods = {"minimum": _integer(result.pods.minimum), "maximum": None}
    if result.pods.maximum is not None:
        pods["maximum"] = _integer(result.pods.maximum)
    if result.pods.reason:
        pods["reason"] = result.pods.reason
    entry: shapes.Workload = {
        "source": result.source,
        "apiVersion": result.identity.api_version,
        "kind": result.identity.kind,
        "namespace": result.identity.namespace,
        "name": result.identity.name,
        "role": result.role.value,
        "pods": pods,
        "accelerators": _devices(result.accelerators),
        "outcome": _outcome(result),
        "findings": [_finding(finding) for finding in result.findings],
        "unknowns": [_unknown(entry) for entry in result.not_judged],
    }
    if result.line:
        entry["line"] = result.line
    if result.exemption:
        entry["exemption"] = result.exemption
    if result.change is not None:
        entry["mutation"] = _mutation(result.change)
    return entry


def _finding(finding: findings.Finding) -> shapes.Finding:
    judgement, place = finding.judgement, finding.place
    entry: shapes.Finding = {
        "check": judgement.finding.check,
        "code": judgement.code,
        "name": judgement.name,
        "outcome": judgement.outcome.value,
        "path": judgement.finding.path,
        "field": paths.readable(judgement.finding.path),
        "message": judgement.finding.message,
    }
    if judgement.finding.remedy:
        entry["remedy"] = judgement.finding.remedy
    if judgement.because:
        entry["because"] = judgement.because
    if finding.pod_set is not None and finding.pod_set.name:
        entry["podSet"] = finding.pod_set.name
    if place is not None:
        entry["line"], entry["column"], entry["excerpt"] = place.line, place.column, place.excerpt.text
    return entry


def _unknown(entry: findings.NotJudged) -> shapes.Unknown:
    result: shapes.Unknown = {"path": entry.unknown.path, "reason": entry.unknown.reason}
    if entry.unknown.check:
        result["check"] = entry.unknown.check
    if entry.place is not None:
        result["line"], result["column"] = entry.place.line, entry.place.column
    return result


def _failure(failure: findings.Failure) -> shapes.Failure:
    entry: shapes.Failure = {
        "source": failure.source,
        "apiVersion": failure.identity.api_version,
        "kind": failure.identity.kind,
        "namespace": failure.identity.namespace,
        "name": failure.identity.name,
        "reason": failure.reason,
    }
    if failure.line:
        entry["line"] = failure.line
    return entry


def _problem(problem: findings.Problem) -> shapes.Problem:
    entry: shapes.Problem = {"source": problem.source, "reason": problem.reason}
    if problem.line:
        entry["line"], entry["column"] = problem.line, problem.column
    return entry


def _mutation(change: findings.Change) -> shapes.Mutation:
    merged = change.merged
    return {
        "operations": list(merged.operations),
        "applied": [_intent(intent, change) for intent in merged.applied],
        "skipped": [
            {**_intent(each.intent, change), "skippedBecause": each.reason, "warned": each.told}
            for each in merged.skipped
        ],
        "warnings": [
            {"mutation": change.names[note.mutation], "at": note.at, "reason": note.reason} for note in merged.warnings
        ],
        "conflicts": [[_intent(intent, change) for intent in conflict] for conflict in merged.conflicts],
    }


def _intent(intent: model.Intent, change: findings.Change) -> shapes.Intent:
    return {
        "mutation": change.names[intent.mutation],
        "at": intent.at,
        "field": intent.field,
        "value": intent.value,
        "reason": intent.reason,
    }


def _outcome(result: findings.Result) -> str:
    if result.exemption:
        return "exempt"
    if result.worst is not None:
        return result.worst.value
    return "unknown" if result.unread else "clean"


def _devices(devices: findings.Devices) -> dict[str, shapes.Amount]:
    return {resource: _amount(amount) for resource, amount in devices.items()}


def _amount(amount: findings.Amount) -> shapes.Amount:
    return {"number": _number(amount.number), "unbounded": amount.unbounded}


def _number(number: int | Decimal) -> int | float:
    """A fraction of a device is exact enough as a double; a whole number stays one."""
    return _integer(int(number)) if number == int(number) else float(number)


def _integer(number: int) -> int:
    return min(number, MAX_INTEGER)
