"""The user's cache directory: its place, how usher makes it, and which of its files belong to the user.

Another user who can write to a file of the cache could decide what passes. So usher does not use a file or folder that
others own or may write to. It makes folders that only the user may write to, under any umask.
"""

import os
import stat
from pathlib import Path
from typing import Final

VARIABLE: Final = "USHER_CACHE_DIR"
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_ONLY_THE_USER: Final = 0o700


def find() -> Path:
    """The directory: USHER_CACHE_DIR, or `gpu-usher` in the user's cache directory.

    Raises:
        RuntimeError: the user has no home directory.
    """
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "gpu-usher"


def make(folder: Path) -> None:
    """Makes a folder and its missing parents. Only the user may read and write them.

    Raises:
        OSError: it cannot be made.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=_ONLY_THE_USER, exist_ok=True)


def is_own(path: Path) -> bool:
    """Whether a file or folder belongs to the user, and others may not write to it. A link is never the user's own.

    Raises:
        OSError: it does not exist, or cannot be looked at.
    """
    found = path.lstat()
    kind = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return kind and found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS
