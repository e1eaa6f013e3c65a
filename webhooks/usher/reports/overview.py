"""Writes the start of an audit: GPUs by namespace and by check."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from rich.text import Text

from usher import model
from usher.reports import wording
from usher.reports.lines import Lines
from usher.scan import devices as scan_devices
from usher.scan import findings

_Row = tuple[str, ...]

SHOWN: Final = 20
"""The most namespaces in the table."""

_NUMBERS: Final = ("workloads", "errors", "warnings")


def write(found: findings.Report, lines: Lines) -> None:
    totals = found.totals
    if found.origin:
        lines.write(Text(wording.printable(found.origin), style="bold"))
    workloads = wording.count(totals.workloads, "workload")
    ask = "asks" if totals.workloads == 1 else "ask"
    pods = "pod" if totals.pods == scan_devices.Amount(number=1) else "pods"
    lines.wrapped(
        f"{workloads} with {wording.amount(totals.pods)} {pods} {ask} for {wording.devices(totals.accelerators)}.",
        first=Text(""),
        rest="",
    )
    denied = [result for result in found.results if result.worst is model.Outcome.DENY]
    if denied:
        have = "has errors; it asks" if len(denied) == 1 else "have errors; they ask"
        asked = wording.devices(totals.accelerators_with_errors)
        lines.wrapped(
            f"{wording.count(len(denied), 'workload')} {have} for {asked}.",
            first=Text(""),
            rest="",
            style="bold red",
        )
    lines.write()
    if found.results:
        rows = _by_namespace(found.results)
        lines.table(("namespace", *_NUMBERS, "accelerators"), rows[:SHOWN], right=_NUMBERS, indent=2)
        if len(rows) > SHOWN:
            more = wording.count(len(rows) - SHOWN, "more namespace")
            lines.write(Text(f"  and {more}; --format json lists all", style="dim"))
        lines.write()
    rows = _by_check(found.results)
    if rows:
        headers = ("check", "name", "outcome", "workloads", "accelerators")
        lines.table(headers, rows, right=_NUMBERS, indent=2)
        lines.write()


def _by_namespace(results: Iterable[findings.Result]) -> list[_Row]:
    by_namespace: dict[str, list[findings.Result]] = defaultdict(list)
    for result in results:
        by_namespace[result.identity.namespace].append(result)
    ordered = sorted(by_namespace.items(), key=lambda entry: (*_rank(entry[1]), entry[0]))
    return [
        (
            namespace or "(none)",
            f"{len(members):,}",
            f"{_findings(members, model.Outcome.DENY):,}",
            f"{_findings(members, model.Outcome.WARN):,}",
            _devices(members),
        )
        for namespace, members in ordered
    ]


def _rank(results: list[findings.Result]) -> tuple[int | Decimal, int, int | Decimal]:
    """A sort key: denied GPUs, then denied workloads, then all GPUs; the largest number comes first."""
    denied = [result for result in results if result.worst is model.Outcome.DENY]
    return -_gpus(denied), -len(denied), -_gpus(results)


def _gpus(results: Iterable[findings.Result]) -> int | Decimal:
    return scan_devices.total(scan_devices.gpus(result.accelerators) for result in results).number


def _by_check(results: Iterable[findings.Result]) -> list[_Row]:
    order = list(model.Outcome)
    by_check: dict[tuple[int, int, str, str], list[findings.Result]] = defaultdict(list)
    for result in results:
        for key in {
            (order.index(each.judgement.outcome), *wording.by_code(each.judgement)) for each in result.findings
        }:
            by_check[key].append(result)
    return [
        (code, name, wording.WORDS[order[outcome]], f"{len(members):,}", _devices(members))
        for (outcome, _, code, name), members in sorted(by_check.items())
    ]


def _findings(results: Iterable[findings.Result], outcome: model.Outcome) -> int:
    return sum(each.judgement.outcome is outcome for result in results for each in result.findings)


def _devices(results: Iterable[findings.Result]) -> str:
    return wording.devices(scan_devices.added(result.accelerators for result in results))
