"""Reads the other manifests in the directory of a document from the disk."""

import contextlib
import os
import stat
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from usher.dataclass import dataclass
from usher.scan import outlines, parsing, sources
from usher.scan.batches import Batch
from usher.scan.outlines import Outline

MAX_FILES: Final = 200
MAX_BYTES: Final = 8 * 2**20
"""Bytes of all neighbours together."""
_REMEMBERED: Final = 1000
_ENTRIES: Final = 10_000
"""usher does not read a directory with more entries."""

Check = Callable[[], None]
"""Raises an error when the editor no longer wants the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The outlines of the other files of a directory."""

    outlines: tuple[Outline, ...] = ()
    left_out: str = ""
    """Why the directory was not read; empty if it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file with a stamp that changes with its content."""

    path: Path
    size: int
    changed: int
    """Nanoseconds since 1970."""
    inode: int


class Directories:
    """Reads directories, and remembers the files that have not changed. For one thread."""

    def __init__(self, *, namespace: str) -> None:
        self._namespace = namespace
        self._known: OrderedDict[_File, Outline] = OrderedDict()

    def around(self, path: Path, opened: Mapping[Path, str], *, check: Check) -> Neighbours:
        """The neighbours of a file.

        Args:
            path: the file; it is not read itself.
            opened: the texts of files that are open in the editor, and may not be saved.
            check: called before each file.
        """
        files = _manifests(path.parent, without=path)
        if files is None or len(files) > MAX_FILES or sum(file.size for file in files) > MAX_BYTES:
            reason = (
                f"the directory has more than {MAX_FILES} manifests or {MAX_BYTES // 2**20} MiB of them, so the editor "
                "judges this file alone; usher check judges them together"
            )
            return Neighbours(left_out=reason)
        found = []
        for file in files:
            check()
            if file.path in opened:
                found.append(self._outline(_parsed(opened[file.path].encode(errors="surrogatepass"), file.path)))
            else:
                found.append(self._remembered(file))
        return Neighbours(outlines=tuple(found))

    def _remembered(self, file: _File) -> Outline:
        if file not in self._known:
            content = sources.read_content(sources.File(file.path, explicit=False, size=file.size))
            self._known[file] = self._outline(content if isinstance(content, Batch) else _parsed(content, file.path))
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(file)
        return self._known[file]

    def _outline(self, batch: Batch) -> Outline:
        return outlines.of(batch, namespace=self._namespace)


def _parsed(content: bytes, path: Path) -> Batch:
    return parsing.parsed(content, source=sources.name(path), explicit=False)


def _manifests(directory: Path, *, without: Path) -> list[_File] | None:
    """The manifests directly in a directory, sorted; None if it has too many entries."""
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_ENTRIES), strict=False)]
    except OSError:
        return []
    if len(names) == _ENTRIES:
        return None
    found = []
    for name in sorted(names):
        path = directory / name
        if name.startswith(".") or path == without or path.suffix not in sources.SUFFIXES:
            continue
        with contextlib.suppress(OSError):
            status = path.stat()
            # Opening a pipe or a device could wait for ever.
            if stat.S_ISREG(status.st_mode):
                found.append(_File(path=path, size=status.st_size, changed=status.st_mtime_ns, inode=status.st_ino))
    return found
