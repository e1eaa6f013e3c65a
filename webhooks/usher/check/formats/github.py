"""Writes workflow commands of GitHub Actions: annotations beside the lines of a pull request.

GitHub shows ten annotations of each level and step. The worst entries become annotations, the others lines of the log.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands and ActionCommand.cs of
https://github.com/actions/runner
"""

from collections.abc import Iterator
from typing import Final, TextIO

from usher.check import findings
from usher.check.formats import annotations, summary, wording
from usher.check.formats.entries import Entry, Level

_COMMANDS: Final = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def write(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the commands, then the entries that GitHub would not show, then the totals of the run."""
    chosen = annotations.of(found)
    for entry in chosen.shown:
        message = annotations.text(entry, between="\n")
        stream.write(command(_COMMANDS[entry.level], message, **dict(_properties(entry))))
    if chosen.left_out:
        more = annotations.counted(chosen.left_out)
        text = f"GitHub shows {annotations.MOST} annotations of each level. {more} are in the log of this step."
        stream.write(command("notice", text, title="gpu-usher"))
        stream.write(command("group", more))
        stream.writelines(f"{annotations.plain(entry)}\n" for entry in chosen.left_out)
        stream.write(command("endgroup", ""))
    stream.write(f"{wording.harmless(wording.printable(summary.numbers(found)))}\n")


def command(name: str, message: str, **properties: str) -> str:
    """A line with a workflow command, escaped so that the runner reads the same texts from it."""
    written = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items() if value)
    return f"::{name}{f' {written}' if written else ''}::{message.translate(_DATA)}\n"


def _properties(entry: Entry) -> Iterator[tuple[str, str]]:
    if entry.file:
        yield "file", wording.without_commands(wording.printable(entry.file))
        if entry.line:
            yield "line", str(entry.line)
            yield "endLine", str(entry.line)
        if entry.column:
            yield "col", str(entry.column)
            yield "endColumn", str(max(entry.end_column, entry.column + 1))
    yield "title", wording.without_commands(wording.printable(entry.title))
