"""The files that git ignores, as git itself says: virtual environments, rendered copies, downloads.

A file that is tracked is read although a `.gitignore` names it: so a manifest cannot be hidden from review.
"""

import os
from pathlib import Path

from usher import errors
from usher.scan import programs


def below(directory: Path) -> frozenset[str]:
    """Paths of the files and directories below a directory that git ignores; empty outside a repository or without git.

    They begin as the directory is written.
    """
    git = programs.find("git")
    if git is None or not _in_repository(directory):
        return frozenset()
    # `core.fsmonitor` could name a program of the repository's own.
    command = [git, "-c", "core.fsmonitor=false", "ls-files", "--others", "--ignored", "--exclude-standard"]
    try:
        printed = programs.output([*command, "--directory", "-z"], where=directory, seconds=30)
    except errors.InputError:
        return frozenset()
    return frozenset(os.fspath(directory / os.fsdecode(name)) for name in printed.split(b"\0") if name)


def _in_repository(directory: Path) -> bool:
    try:
        whole = directory.resolve()
    except OSError:
        return False
    return any((each / ".git").exists() for each in (whole, *whole.parents))
