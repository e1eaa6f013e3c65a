"""Replaces files: at every moment each holds either all of its old or all of its new content."""

import contextlib
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path

from usher import errors
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    path: Path
    content: bytes


def replace(path: Path, content: bytes, *, what: str) -> None:
    """Replaces the content of one file, as `replace_files` does."""
    replace_all([File(path=path, content=content)], what=what)


def replace_all(files: Sequence[File], *, what: str) -> None:
    """Replaces the files after all new contents are on the disk. Pipes and devices are written last.

    Raises:
        InputError: one of the files cannot be written; the message names it and `what`, and the old files are
            unchanged.
    """
    regular = [each for each in files if not _is_special(each.path)]
    staged: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for each in regular:
            path = each.path
            target = path.resolve()
            # Registered before the file exists: a signal at any moment leaves no file behind.
            staged.append((target, target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")))
            _stage(each.content, target, staged[-1][1])
        for path, temporary in staged:
            temporary.replace(path)
        for each in files:
            if each not in regular:
                path = each.path
                path.write_bytes(each.content)  # /dev/stdout, a pipe
    except OSError as error:
        raise errors.InputError(f"{path}: the {what} cannot be written: {error.strerror}") from None
    finally:
        for _, temporary in staged:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return not stat.S_ISREG(path.stat().st_mode)
    return False


def _stage(content: bytes, target: Path, temporary: Path) -> None:
    """Writes a new file, with the content on the disk and the permissions of `target`."""
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fchmod(stream.fileno(), _mode(target))
        os.fsync(stream.fileno())


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or the default ones of a new file."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask
