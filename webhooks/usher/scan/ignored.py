"""Asks git which files it ignores: virtual environments, rendered copies, downloads.

usher reads a tracked file even if a `.gitignore` names it, so that a manifest cannot hide from review.
"""

import os
from pathlib import Path

from usher import errors
from usher.scan import programs


def below(directory: Path) -> frozenset[str]:
    """The paths below a directory that git ignores; empty outside a repository or without git.

    They begin with the directory as it was given.
    """
    git = programs.find("git")
    if git is None or not _in_repository(directory):
        return frozenset()
    # `core.fsmonitor` could run a program from the repository.
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
