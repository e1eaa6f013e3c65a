"""Writes reports: the format, the colours, the file, and the exit code."""

import contextlib
import importlib
import io
import os
import stat
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final, Protocol, TextIO

import click

from usher import errors
from usher.reports.formats import FORMATS
from usher.scan import findings

FINDINGS: Final = 1
"""Exit code: something is denied."""
FAILED: Final = 2
"""Exit code: something could not be read or judged."""


def exit_code(found: findings.Report, *, fail_on_deny: bool, allow_unknown: bool = True) -> int:
    """The exit code. A run that is not complete proves nothing, so that comes first.

    Args:
        found: the run.
        fail_on_deny: whether a denied workload counts.
        allow_unknown: whether workloads may have parts that usher cannot judge.
    """
    if found.failed:
        return FAILED
    if fail_on_deny and found.denies:
        return FINDINGS
    return FAILED if found.unread and not allow_unknown else 0


def write(found: findings.Report, *, format_name: str, color: str, output: Path | None) -> None:
    """Writes the report. Failures also go to standard error, unless the report itself shows them to a person.

    Raises:
        InputError: it cannot be written.
    """
    write_report = _writer(format_name, color=_colored(color, to_file=output is not None))
    if output is None:
        try:
            write_report(found, sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise errors.InputError(f"standard output: the report cannot be written: {error.strerror}") from None
    else:
        buffer = io.StringIO()
        write_report(found, buffer)
        replace(output, buffer.getvalue())
    if output is not None or not FORMATS[format_name].names_failures:
        _print_failures(found)


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
    def __call__(self, found: findings.Report, stream: TextIO, /) -> None: ...


def _writer(format_name: str, *, color: bool) -> _Write:
    chosen = FORMATS[format_name]
    module = importlib.import_module(chosen.module)
    write: _Write = partial(module.write, color=color) if chosen.colored else module.write
    return write


def _colored(choice: str, *, to_file: bool) -> bool:
    """Whether to write colours: --color decides, then NO_COLOR (https://no-color.org), then the terminal."""
    if choice != "auto":
        return choice == "always"
    return not to_file and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def _print_failures(found: findings.Report) -> None:
    from usher.reports import wording

    for problem in found.problems:
        click.echo(f"usher: {wording.printable(wording.located(problem))}", err=True)
    for failure in found.failures:
        click.echo(f"usher: {wording.printable(f'{failure.source}: {failure.identity}: {failure.reason}')}", err=True)
