"""Reads the objects of PATH arguments. A file that cannot be read becomes a problem, and usher goes on with
the others.
"""

import glob
import os
import re
import select
import stat
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import BinaryIO, Final

from usher.dataclass import dataclass
from usher.documents import chunks
from usher.scan import findings, ignored, parsing
from usher.scan.batches import Batch

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Suffixes of the files that usher reads in a directory."""

_PACKED: Final = tuple(f"{suffix}.gz" for suffix in SUFFIXES)
"""Suffixes of files in a directory that usher reports and does not read."""

STDIN: Final = "-"

PIPE_SECONDS: Final = 10.0
"""Seconds for which usher waits for a program that writes into a named pipe."""

_CHART: Final = "Chart.yaml"
_PATTERN: Final = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True)
class File:
    """A file that usher has not read yet."""

    path: Path
    explicit: bool
    """Whether the user named it."""
    size: int
    """Bytes of a chunk."""
    is_regular: bool = True
    """Whether it can be read again. A pipe cannot."""


Found = File | Batch
"""A file, or a batch that was read already: standard input, or a problem with an unreadable input."""


def read(arguments: Sequence[str], *, stdin: BinaryIO) -> Iterator[Batch]:
    """One batch per file that `find` finds."""
    return map(load, find(arguments, stdin=stdin))


def load(found: Found) -> Batch:
    """The objects of a file; a batch stays unchanged."""
    if isinstance(found, Batch):
        return found
    content = read_content(found)
    return content if isinstance(content, Batch) else parse(found, content)


def read_content(file: File) -> bytes | Batch:
    """The content of a file, or enough of it to show that it is too large; the problem if it cannot be read."""
    try:
        if not file.size and stat.S_ISFIFO(file.path.stat().st_mode):
            return _written_into(file.path)
        with open(file.path, "rb", buffering=0) as stream:  # noqa: PTH123 - a path of pathlib buffers
            # Reading with the largest size would reserve that much memory for every file.
            content = stream.read(min(file.size, chunks.MAX_FILE_BYTES) + 1)
            if len(content) != file.size:  # it has changed, or its size is unreliable
                while more := stream.read(chunks.MAX_FILE_BYTES + 1 - len(content)):
                    content += more
            return content
    except OSError as error:
        return _unreadable(file.path, error)


def _written_into(pipe: Path) -> bytes | Batch:
    """The text that a program writes into a named pipe, for example `<(...)` of a shell."""
    content, deadline = b"", time.monotonic() + PIPE_SECONDS
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as stream:  # noqa: PTH123 - a path waits for a writer
        while len(content) <= chunks.MAX_FILE_BYTES:
            more = stream.read(chunks.MAX_FILE_BYTES + 1 - len(content))
            if more:
                content += more
            elif more is None:  # a program holds the other end, and may take long
                select.select([stream], [], [])
            elif content:
                break
            elif (left := deadline - time.monotonic()) > 0:
                select.select([stream], [], [], left)
            else:
                return _problem(pipe, f"a pipe into which nothing was written for {PIPE_SECONDS:g} s")
    return content


def parse(file: File, content: bytes) -> Batch:
    """The objects in the content of a file."""
    return parsing.parsed(content, source=name(file.path), explicit=file.explicit)


def find(arguments: Sequence[str], *, stdin: BinaryIO) -> Iterator[Found]:
    """The files of the arguments in their order, sorted within a directory, and a batch for every other input.

    A file that is named twice is found once, so that its GPUs count once.

    Args:
        arguments: files, directories without what git ignores there, patterns, and `-` for standard input.
        stdin: the stream that `-` reads.
    """
    seen: set[tuple[int, int]] = set()
    for argument in dict.fromkeys(arguments):
        if argument == STDIN:
            yield parsing.parsed(stdin.read(chunks.MAX_FILE_BYTES + 1), source="<stdin>", explicit=True)
            continue
        for path in _paths(argument):
            try:
                status = path.stat()
            except (OSError, ValueError) as error:
                yield _unreadable(path, error)
                continue
            if stat.S_ISDIR(status.st_mode):
                left_out = ignored.below(path)
                yield from _walk(path, seen=seen, left_out=left_out)
            elif _is_new(status, seen):
                yield File(path, explicit=True, size=status.st_size, is_regular=stat.S_ISREG(status.st_mode))


def _paths(argument: str) -> list[Path]:
    """The path of an argument, or the paths that match it: CI systems pass patterns that no shell expanded."""
    if _PATTERN.search(argument) and not os.path.lexists(argument):
        found = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        return [Path(each) for each in found] or [Path(argument)]
    return [Path(argument)]


def _walk(directory: Path, *, seen: set[tuple[int, int]], left_out: AbstractSet[str]) -> Iterator[Found]:
    """The manifests below a directory. It does not follow a symbolic link to a directory that was read already.

    Args:
        directory: the directory to search.
        seen: the files and directories that were found before.
        left_out: paths to skip.
    """
    try:
        if not _is_new(directory.stat(), seen):
            return
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        yield _unreadable(directory, error)
        return
    is_chart = any(entry.name == _CHART for entry in entries)
    for entry in entries:
        is_manifest = entry.name.endswith((*SUFFIXES, *_PACKED))
        if entry.name.startswith(".") or (left_out and os.fspath(directory / entry.name) in left_out):
            continue
        if is_chart and entry.name == "templates":
            yield _chart(directory)
            continue
        try:
            status = entry.stat()
        except OSError as error:
            if is_manifest:
                yield _unreadable(directory / entry.name, error)
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(directory / entry.name, seen=seen, left_out=left_out)
        elif is_manifest and stat.S_ISREG(status.st_mode) and _is_new(status, seen):
            yield _found(directory / entry.name, status)


def _chart(directory: Path) -> Batch:
    source = name(directory)
    reason = f"a Helm chart, whose templates usher does not render; run: helm template {source} | usher check -"
    return Batch(source=source, notes=(findings.Note(source=source, reason=reason),), is_file=False)


def _found(path: Path, status: os.stat_result) -> Found:
    """A file of a directory, or a note about a compressed one."""
    if not path.name.endswith(_PACKED):
        return File(path, explicit=False, size=status.st_size)
    reason = "compressed, so it was not read; unpack it with gunzip. A snapshot of usher is for --facts"
    return Batch(source=name(path), notes=(findings.Note(source=name(path), reason=reason),), is_file=False)


def _unreadable(path: Path, error: OSError | ValueError) -> Batch:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return _problem(path, f"{reason[:1].lower()}{reason[1:]}")


def _problem(path: Path, reason: str) -> Batch:
    problem = findings.Problem(source=name(path), reason=f"cannot be read: {reason}")
    return Batch(source=name(path), problems=(problem,))


def _is_new(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return False
    seen.add(identity)
    return True


def name(path: Path) -> str:
    """The path as text that UTF-8 can encode, because file names are bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
