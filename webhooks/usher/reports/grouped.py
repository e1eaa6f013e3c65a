"""The findings of an audit, grouped by check and message, those with the most GPUs first."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeVar

from rich.text import Text

from usher import model, paths
from usher.reports import wording
from usher.reports.lines import Lines
from usher.scan import devices as scan_devices
from usher.scan import findings

SHOWN: Final = 10
"""Workloads of one message, and messages of one check; the JSON report has all."""

_ALL: Final = "--format json lists all"

_Message = tuple[str, str, str]
"""Message, remedy, and why the outcome is milder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    result: findings.Result
    finding: findings.Finding

    @property
    def message(self) -> _Message:
        judgement = self.finding.judgement
        return judgement.finding.message, judgement.finding.remedy, wording.milder(judgement)


def write(results: Iterable[findings.Result], lines: Lines) -> None:
    """One paragraph per check, worst outcome first; then what could not be read."""
    results = list(results)
    hits = [_Hit(result=result, finding=finding) for result in results for finding in result.findings]
    order = list(model.Outcome)

    def check_of(hit: _Hit) -> tuple[int, int, str, str]:
        judgement = hit.finding.judgement
        return order.index(judgement.outcome), *wording.by_code(judgement)

    for (outcome, _, code, name), found in sorted(_by(hits, check_of).items()):
        _check(order[outcome], code, name, found, lines)
    _unread(results, lines)


def _check(outcome: model.Outcome, code: str, name: str, hits: Sequence[_Hit], lines: Lines) -> None:
    lines.write(
        Text.assemble(
            (f"{wording.WORDS[outcome]:<5}", wording.STYLES[outcome]),
            "  ",
            (wording.printable(code), "bold"),
            f" {wording.printable(name)}  ",
            (_affected([hit.result for hit in hits]), "dim"),
        )
    )
    messages = sorted(_by(hits, lambda hit: hit.message).items(), key=lambda entry: (_gpus(entry[1]), entry[0]))
    for (message, remedy, milder), found in messages[:SHOWN]:
        lines.wrapped(message, first=Text("  "), rest="  ", style=wording.STYLES[outcome])
        for text in (remedy, milder):
            if text:
                lines.wrapped(text, first=Text("  = ", style="dim"), rest="    ")
        for hit in sorted(found, key=lambda hit: -scan_devices.gpus(hit.result.accelerators).number)[:SHOWN]:
            where = _where(hit)
            whose = f"{_devices(hit.result):>12}  {hit.result.identity}{where and f', {where}'}"
            lines.wrapped(whose.lstrip(), first=Text(" " * (len(whose) - len(whose.lstrip()))), rest=" " * 14)
        _more(len(found) - SHOWN, "workload", lines, margin=14)
    _more(len(messages) - SHOWN, "message", lines, margin=2)
    lines.write()


def _where(hit: _Hit) -> str:
    place = hit.finding.place
    if place is None:
        path = hit.finding.judgement.finding.path
        return paths.readable(path) if path else ""
    return f"{hit.result.source}:{place.line}:{place.column}"


def _unread(results: Iterable[findings.Result], lines: Lines) -> None:
    """The parts that could not be judged, by reason."""
    by_reason: dict[str, list[findings.Result]] = defaultdict(list)
    for result in results:
        for entry in result.not_judged:
            if not entry.unknown.check:
                by_reason[entry.unknown.reason].append(result)
    for reason, found in by_reason.items():
        lines.wrapped(reason, first=Text("unknown  ", style="magenta"), rest=" " * 9)
        for result in found[:SHOWN]:
            where = f", {result.source}:{result.line}" if result.line else ""
            lines.wrapped(f"{result.identity}{where}", first=Text(" " * 14), rest=" " * 14)
        _more(len(found) - SHOWN, "workload", lines, margin=14)
        lines.write()


def _more(number: int, thing: str, lines: Lines, *, margin: int) -> None:
    if number > 0:
        lines.write(Text(f"{' ' * margin}and {wording.count(number, f'more {thing}')}; {_ALL}", style="dim"))


def _affected(results: Iterable[findings.Result]) -> str:
    """How many workloads the findings are about, and how many accelerators these ask for; each counted once."""
    distinct = list({id(result): result for result in results}.values())
    if not any(result.makes_pods for result in distinct):
        return wording.count(len(distinct), "object")
    thing = "workload" if all(result.makes_pods for result in distinct) else "object"
    added = scan_devices.added(result.accelerators for result in distinct)
    return f"{wording.count(len(distinct), thing)}, {wording.devices(added)}"


def _devices(result: findings.Result) -> str:
    return wording.devices(result.accelerators) if result.makes_pods else ""


def _gpus(hits: Iterable[_Hit]) -> int | Decimal:
    """For sorting, most first."""
    return -sum(scan_devices.gpus(hit.result.accelerators).number for hit in hits)


_Key = TypeVar("_Key", bound=Hashable)


def _by(hits: Iterable[_Hit], key: Callable[[_Hit], _Key]) -> dict[_Key, list[_Hit]]:
    groups: dict[_Key, list[_Hit]] = defaultdict(list)
    for hit in hits:
        groups[key(hit)].append(hit)
    return groups
