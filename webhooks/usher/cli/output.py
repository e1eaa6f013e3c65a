"""Writes reports: the formats, the colours and the files."""

import contextlib
import importlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TextIO

import click

from usher import errors
from usher.dataclass import dataclass
from usher.reports.formats import FORMATS

if TYPE_CHECKING:
    from usher.scan import findings

FINDINGS: Final = 1
"""Exit code: something is denied."""
FAILED: Final = 2
"""Exit code: something could not be read or judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One report to write."""

    format_name: str
    path: Path | None
    """None for standard output."""


def write(found: "findings.Report", targets: Sequence[Target], *, color: str, quiet: bool = False) -> None:
    """Writes the reports: first those in files, each whole or not at all, then the one on standard output.

    Failures also go to standard error, unless a person sees them on standard output.

    Raises:
        InputError: a report cannot be written.
    """
    files = [(each.path, _text(found, each, quiet=quiet)) for each in targets if each.path is not None]
    for path, text in files:
        replace(path, text)
    on_stdout = next((each.format_name for each in targets if each.path is None), None)
    if on_stdout is not None:
        try:
            _writer(on_stdout, color=colored(color), quiet=quiet)(found, sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise errors.InputError(f"standard output: the report cannot be written: {error.strerror}") from None
    if on_stdout is None or not FORMATS[on_stdout].names_failures:
        _print_failures(found)


def _text(found: "findings.Report", target: Target, *, quiet: bool) -> str:
    buffer = io.StringIO()
    _writer(target.format_name, color=False, quiet=quiet)(found, buffer)
    return buffer.getvalue()


def replace(path: Path, text: str) -> None:
    """Writes a report as `replace_bytes` does."""
    replace_bytes(path, text.encode(errors="backslashreplace"), what="report")


def replace_bytes(path: Path, data: bytes, *, what: str) -> None:
    """Replaces the content of a file. At every moment the file holds either all of the old or all of the new content.

    Raises:
        InputError: the file cannot be written; the message names `what`, and the old file is unchanged.
    """
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            path.write_bytes(data)  # /dev/stdout, a pipe
            return
        _replace(path.resolve(), data)
    except OSError as error:
        raise errors.InputError(f"{path}: the {what} cannot be written: {error.strerror}") from None


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), _mode(path))
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or the default ones of a new file."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask


class _Write(Protocol):
    def __call__(self, found: "findings.Report", stream: TextIO, /) -> None: ...


def _writer(format_name: str, *, color: bool, quiet: bool) -> _Write:
    chosen = FORMATS[format_name]
    module = importlib.import_module(chosen.module)
    write: _Write = partial(module.write, color=color, quiet=quiet) if chosen.for_terminals else module.write
    return write


def colored(choice: str) -> bool:
    """Whether to write colours: --color decides, then NO_COLOR (https://no-color.org), then the terminal."""
    if choice != "auto":
        return choice == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def _print_failures(found: "findings.Report") -> None:
    from usher.reports import wording

    for problem in found.problems:
        click.echo(f"usher: {wording.printable(wording.located(problem))}", err=True)
    for failure in found.failures:
        click.echo(f"usher: {wording.printable(f'{failure.source}: {failure.identity}: {failure.reason}')}", err=True)
