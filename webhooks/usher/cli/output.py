"""Writes reports: the formats, the colours and the files."""

import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from usher import errors
from usher.check.formats.known_formats import FORMATS, Format
from usher.cli import whole_files
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.document import Audit
    from usher.check import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One report to write."""

    format_name: str
    path: Path | None
    """None for standard output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of a run: the findings, and the document of an audit."""

    found: "findings.Report"
    audit: "Audit | None" = None


def check_places(targets: Sequence[Target]) -> None:
    """Looks for the folders of reports before the run, which may take minutes.

    Raises:
        InputError: a folder does not exist.
    """
    for each in targets:
        if each.path is not None and not each.path.resolve().parent.is_dir():
            raise errors.InputError(
                f"{each.path}: the report cannot be written: the folder {each.path.parent} does not exist; make it"
            )


def write(outcome: Outcome, targets: Sequence[Target], *, color: str, quiet: bool = False) -> None:
    """Writes the reports: first those in files, each whole or not at all, then the one on standard output.

    Failures also go to standard error, unless a person sees them on standard output.

    Raises:
        InputError: a report cannot be written.
    """
    files = [file for each in targets if each.path is not None for file in _files(outcome, each, each.path, quiet)]
    whole_files.replace_all(files, what="report")
    on_stdout = next((each.format_name for each in targets if each.path is None), None)
    if on_stdout is None and not quiet and sys.stderr.isatty():
        click.echo(f"usher: wrote {', '.join(str(each.path) for each in targets)}", err=True)
    if on_stdout is not None:
        try:
            _write(outcome, FORMATS[on_stdout], sys.stdout, color=colored(color), quiet=quiet)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise errors.InputError(f"standard output: the report cannot be written: {error.strerror}") from None
    if on_stdout is None or not FORMATS[on_stdout].names_failures:
        _print_failures(outcome.found)


def replace(path: Path, text: str) -> None:
    """Writes a report like `replace_bytes`."""
    replace_bytes(path, _encoded(text), what="report")


def replace_bytes(path: Path, data: bytes, *, what: str) -> None:
    """Replaces the content of a file. At every moment the file holds either all of the old or all of the new content.

    Raises:
        InputError: the file cannot be written; the message names `what`, and the old file is unchanged.
    """
    whole_files.replace(path, data, what=what)


def _files(outcome: Outcome, target: Target, path: Path, quiet: bool) -> list[whole_files.File]:
    chosen = FORMATS[target.format_name]
    if not chosen.is_folder:
        # Encoded during the write, so that a large report is in memory only once.
        content = io.BytesIO()
        stream = io.TextIOWrapper(content, encoding="utf-8", errors="backslashreplace", newline="\n")
        _write(outcome, chosen, stream, color=False, quiet=quiet)
        stream.flush()
        return [whole_files.File(path=path, content=content.getvalue())]
    tables = importlib.import_module(chosen.audit).files(_audit(outcome, chosen))
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise errors.InputError(f"{path}: the folder of the report cannot be made: {error.strerror}") from None
    return [whole_files.File(path=path / name, content=content) for name, content in tables]


def _write(outcome: Outcome, chosen: Format, stream: TextIO, *, color: bool, quiet: bool) -> None:
    options = {"color": color, "quiet": quiet} if chosen.for_terminals else {}
    if chosen.audit and (outcome.audit is not None or not chosen.module):
        importlib.import_module(chosen.audit).write(_audit(outcome, chosen), stream, **options)
    else:
        importlib.import_module(chosen.module).write(outcome.found, stream, **options)


def _audit(outcome: Outcome, chosen: Format) -> "Audit":
    if outcome.audit is None:
        raise errors.InputError(f"a report for {chosen.reader} needs an audit document, which this run has not made")
    return outcome.audit


def _encoded(text: str) -> bytes:
    return text.encode(errors="backslashreplace")


def colored(choice: str) -> bool:
    """Whether to write colours: --color decides, then NO_COLOR (https://no-color.org), then the terminal."""
    if choice != "auto":
        return choice == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def _print_failures(found: "findings.Report") -> None:
    from usher.check.formats import wording

    for problem in found.problems:
        click.echo(f"usher: {wording.printable(wording.located(problem))}", err=True)
    for failure in found.failures:
        click.echo(f"usher: {wording.printable(f'{failure.source}: {failure.identity}: {failure.reason}')}", err=True)
