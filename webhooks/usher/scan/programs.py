"""Runs programs that read manifests for usher: git, kustomize, helm. It limits their output and time."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from usher import errors
from usher.documents import chunks

SECONDS: Final = 120.0
_LONGEST_MESSAGE: Final = 2000


def find(*names: str) -> str | None:
    """The path of the first installed program; None without one."""
    return next((path for name in names if (path := shutil.which(name))), None)


def output(command: Sequence[str], *, where: Path | None = None, seconds: float = SECONDS) -> bytes:
    """The standard output of a program.

    Args:
        command: the program and its arguments, which no shell interprets.
        where: the directory in which it starts.
        seconds: its time limit.

    Raises:
        InputError: it cannot be started, fails, prints more than a file may hold, or takes too long.
    """
    name = Path(command[0]).name
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaint:
        try:
            done = subprocess.run(  # noqa: S603 - a program that the user has installed
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=complaint,
                cwd=where,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise errors.InputError(f"{name} did not end within {seconds:g} s: {' '.join(command[1:])}") from None
        except OSError as error:
            raise errors.InputError(f"{name} cannot be started: {error.strerror}") from None
        if done.returncode:
            complaint.seek(0)
            said = complaint.read(_LONGEST_MESSAGE).decode(errors="replace").strip()
            raise errors.InputError(f"{name} failed (exit code {done.returncode}): {said or 'it does not say why'}")
        size = printed.tell()
        if size > chunks.MAX_FILE_BYTES:
            raise errors.InputError(
                f"{name} printed more than {chunks.MAX_FILE_BYTES // 2**20} MiB; render parts of it"
            )
        printed.seek(0)
        return printed.read()
