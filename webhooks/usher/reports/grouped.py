"""The findings of an audit, grouped by check and message, those with the most GPUs first."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from rich.text import Text

from usher.reports import causes, wording
from usher.reports.lines import Lines
from usher.scan import findings

SHOWN: Final = 10
"""The most workloads of one message, and messages of one check. The JSON report has all."""

_ALL: Final = "--format json lists all"


def write(results: Iterable[findings.Result], lines: Lines) -> None:
    """Writes one paragraph per check, worst outcome first, then the parts that could not be read."""
    results = list(results)
    for check in causes.of(results):
        _check(check, lines)
    unread(results, lines)


def _check(check: causes.Check, lines: Lines) -> None:
    style = wording.STYLES[check.outcome]
    lines.write(
        Text.assemble(
            (f"{wording.WORDS[check.outcome]:<5}", style),
            "  ",
            (wording.printable(check.code), "bold"),
            f" {wording.printable(check.name)}  ",
            (causes.affected(hit.result for hit in check.hits), "dim"),
        )
    )
    for cause in check.causes[:SHOWN]:
        lines.wrapped(cause.message, first=Text("  "), rest="  ", style=style)
        for text in (cause.remedy, cause.milder):
            if text:
                lines.wrapped(text, first=Text("  = ", style="dim"), rest="    ")
        for hit in cause.hits[:SHOWN]:
            where = hit.where
            whose = f"{_devices(hit.result):>12}  {hit.result.identity}{where and f', {where}'}"
            lines.wrapped(whose.lstrip(), first=Text(" " * (len(whose) - len(whose.lstrip()))), rest=" " * 14)
        _more(len(cause.hits) - SHOWN, "workload", lines, margin=14)
    _more(len(check.causes) - SHOWN, "message", lines, margin=2)
    lines.write()


def unread(results: Iterable[findings.Result], lines: Lines) -> None:
    """Writes the parts that could not be judged, by reason."""
    by_reason: dict[str, list[findings.Result]] = defaultdict(list)
    for result in results:
        for reason in dict.fromkeys(entry.unknown.reason for entry in result.not_judged if not entry.unknown.check):
            by_reason[reason].append(result)
    for reason, found in by_reason.items():
        lines.wrapped(reason, first=Text("unknown  ", style="magenta"), rest=" " * 9)
        for result in found[:SHOWN]:
            where = f", {result.source}:{result.line}" if result.line else ""
            # Never wraps: people cannot click or copy a path that is broken over lines.
            lines.write(Text(f"{' ' * 14}{wording.printable(f'{result.identity}{where}')}"))
        _more(len(found) - SHOWN, "workload", lines, margin=14)
        lines.write()


def _more(number: int, thing: str, lines: Lines, *, margin: int) -> None:
    if number > 0:
        lines.write(Text(f"{' ' * margin}and {wording.count(number, f'more {thing}')}; {_ALL}", style="dim"))


def _devices(result: findings.Result) -> str:
    return wording.devices(result.accelerators) if result.makes_pods else ""
