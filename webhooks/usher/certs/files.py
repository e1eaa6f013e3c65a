"""Replaces several small files safely: at every moment each is complete, old or new."""

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from usher.dataclass import dataclass
from usher.errors import CertificateError


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """The new content of a file; `mode` is its permission bits, independent of the umask."""

    name: str
    content: bytes = field(repr=False)
    mode: int


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Locks the directory against other usher processes; makes a missing directory.

    Raises:
        CertificateError: it cannot be made or opened.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise CertificateError(f"{directory}: cannot be used as a directory: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace_all(directory: Path, files: Sequence[NewFile], *, removed_first: Sequence[str] = ()) -> None:
    """Writes all files under temporary names, then removes the named ones and renames the files, in the order given.

    Until all are written, every old file is unchanged. Call it with the directory locked.

    Raises:
        CertificateError: a file cannot be written or renamed.
    """
    temporary = {file.name: directory / f".{file.name}.new" for file in files}
    try:
        for file in files:
            _write(temporary[file.name], file)
        for name in removed_first:
            (directory / name).unlink(missing_ok=True)
        for file in files:
            temporary[file.name].replace(directory / file.name)
        _sync(directory)
    except OSError as error:
        for path in temporary.values():
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        raise CertificateError(f"{directory}: cannot write {', '.join(temporary)}: {error.strerror}") from error


def _write(path: Path, file: NewFile) -> None:
    # A killed run may have left one. A new file cannot be a link, or be open to others.
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
    with os.fdopen(handle, "wb") as stream:
        os.fchmod(handle, file.mode)
        stream.write(file.content)
        stream.flush()
        os.fsync(handle)


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
