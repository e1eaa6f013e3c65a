"""Names of files in the folder of a store: paths with `/` that never leave it."""

from typing import Final

from usher import errors

DEPTH: Final = 5
"""Folders below the given one that are searched: a run, a cluster, a shard, and some to spare."""


def inside(name: str) -> str:
    """The name, which must not leave its folder. Raises InputError."""
    parts = name.split("/")
    if not name or "\\" in name or "\0" in name or any(part in {"", ".", ".."} for part in parts):
        raise errors.InputError(f"{name[:100]!r} is not the name of a file in the folder")
    return name
