"""Writes explanations for people: the important checks and mutations of an object in full, the others by
their reason.
"""

from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from rich.text import Text

from usher.policy.explaining import Explained, Explanation, State
from usher.reports import wording
from usher.reports.lines import Lines

_IN_FULL: Final = (
    State.FOUND,
    State.NOT_EVALUATED,
    State.APPLIED,
    State.CONFLICT,
    State.WARNED,
    State.SKIPPED,
    State.LEFT_ALONE,
    State.OFF,
)
_HEADINGS: Final = {
    State.FOUND: "found",
    State.NOT_EVALUATED: "not evaluated",
    State.APPLIED: "mutations that apply",
    State.CONFLICT: "mutations in conflict",
    State.WARNED: "mutations that are blocked",
    State.SKIPPED: "mutations with nothing to add",
    State.LEFT_ALONE: "mutations with nothing to do",
    State.OFF: "switched off",
    State.GOOD: "passed",
    State.NOT_ASKED: "left out",
}


def write(explained: Iterable[tuple[str, Explanation]], stream: TextIO, /, *, width: int | None = None) -> None:
    """Writes the explanations, each below the place of its object; `width` in columns, by default the terminal's."""
    lines = Lines(stream, color=False, width=width)
    for number, (place, explanation) in enumerate(explained):
        if number:
            lines.write()
        lines.write(wording.printable(place))
        lines.wrapped(_heading(explanation), first=Text(""), rest="  ")
        workload = explanation.workload
        if workload is not None and workload.role_reason:
            lines.wrapped(f"role {workload.role}: {workload.role_reason}", first=Text("  "), rest="    ")
        for name, reasons in explanation.pools:
            for each in reasons:
                of_pod_set = f"{name}: " if name else ""
                lines.wrapped(f"{of_pod_set}pool {each.pool}: {each.reason}", first=Text("  "), rest="    ")
        if explanation.exemption:
            lines.wrapped(f"not judged: {explanation.exemption}", first=Text("  "), rest="  ")
        for state in State:
            entries = [entry for entry in explanation.entries if entry.state is state]
            if entries:
                lines.write(f"  {_HEADINGS[state]}")
                _write(state, entries, lines)


def _heading(explanation: Explanation) -> str:
    workload = explanation.workload
    if workload is None:
        return "no rule reads this object"
    return wording.workload_name(workload)


def _write(state: State, entries: Sequence[Explained], lines: Lines) -> None:
    if state in _IN_FULL:
        for entry in entries:
            lines.write(f"    {entry.entry.code} {entry.entry.name}")
            for text in entry.texts:
                lines.wrapped(text, first=Text("      "), rest="        ")
        return
    by_reason: dict[tuple[str, ...], list[str]] = {}
    for entry in entries:
        by_reason.setdefault(entry.texts, []).append(f"{entry.entry.code} {entry.entry.name}")
    for reason, names in by_reason.items():
        if reason:
            lines.wrapped(f"{reason[0]}:", first=Text("    "), rest="    ")
        lines.wrapped(", ".join(names), first=Text("      " if reason else "    "), rest="      ")
