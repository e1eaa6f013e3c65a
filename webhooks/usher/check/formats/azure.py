"""Writes logging commands of Azure Pipelines: issues of the run, each with a link to its line.

Azure has errors and warnings; a note becomes a line of the log. It shows ten issues of each level and step: the worst
become issues, the others lines of the log.

Source: https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands and Command.cs of
https://github.com/microsoft/azure-pipelines-agent
"""

from collections.abc import Iterator
from typing import Final, TextIO

from usher.check import findings
from usher.check.formats import annotations, summary, wording
from usher.check.formats.entries import Entry, Level

_TYPES: Final = {Level.ERROR: "error", Level.WARNING: "warning"}
_DATA: Final = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A", "]": "%5D", ";": "%3B"})


def write(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the commands, then the entries that Azure would not show, then the totals of the run."""
    chosen = annotations.of(found)
    issues = [entry for entry in chosen.shown if entry.level in _TYPES]
    others = [entry for entry in chosen.shown if entry.level not in _TYPES]
    for entry in issues:
        title = wording.without_commands(wording.printable(entry.title))
        message = f"{title}: {annotations.text(entry, between='. ')}"
        stream.write(command("task.logissue", message, **dict(_properties(entry))))
    left_out = [entry for entry in chosen.left_out if entry.level in _TYPES]
    if left_out:
        more = annotations.counted(left_out)
        stream.write(f"Azure Pipelines shows {annotations.MOST} issues of each level. {more} follow here.\n")
    stream.writelines(f"{annotations.plain(entry)}\n" for entry in (*left_out, *others))
    stream.writelines(f"{annotations.plain(entry)}\n" for entry in chosen.left_out if entry.level not in _TYPES)
    stream.write(f"{wording.harmless(wording.printable(summary.numbers(found)))}\n")


def command(name: str, message: str, **properties: str) -> str:
    """A line with a logging command, escaped so that the agent reads the same texts from it."""
    written = "".join(f"{key}={value.translate(_PROPERTY)};" for key, value in properties.items() if value)
    return f"##vso[{name} {written}]{message.translate(_DATA)}\n"


def _properties(entry: Entry) -> Iterator[tuple[str, str]]:
    yield "type", _TYPES[entry.level]
    if entry.file:
        yield "sourcepath", wording.without_commands(wording.printable(entry.file))
        if entry.line:
            yield "linenumber", str(entry.line)
        if entry.column:
            yield "columnnumber", str(entry.column)
    if entry.finding is not None:
        yield "code", wording.printable(entry.finding.judgement.code)
