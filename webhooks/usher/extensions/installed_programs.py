"""Finds the programs that the user has installed; no other module looks for one."""

import os
import shutil


def find_program(*names: str) -> str | None:
    """The path of the first installed program; None without one.

    It leaves out relative folders of the search path, because a tree could bring a program of that name. A name with a
    folder is a path that the user gave.
    """
    return next((path for name in names if (path := shutil.which(name, path=search_path()))), None)


def search_path() -> str:
    """The search path without its relative folders."""
    return os.pathsep.join(filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep)))
