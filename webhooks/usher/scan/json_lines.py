"""Reads large dumps with an object on each line, as `jq -c '.items[]'` writes them, some lines at a time."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from usher.dataclass import dataclass
from usher.documents import chunks
from usher.scan import findings, parsing
from usher.scan.batches import Batch
from usher.scan.objects import exists
from usher.scan.sources import File, name

LARGE: Final = chunks.MAX_DOCUMENT_BYTES
"""Bytes of a file that is read as a whole. A larger file cannot be one document."""

_AT_ONCE: Final = 4 * 2**20
"""Bytes of lines to read at a time. Their objects take about ten times that in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Some complete lines of a file."""

    path: Path
    explicit: bool
    start: int
    """The offset of the first byte."""
    size: int
    line: int
    """The number of the first line, from 1."""


def read(lines: Lines) -> Batch:
    """The objects of some lines; a problem if they cannot be read, or are one line that is too long."""
    source = name(lines.path)
    if lines.size > chunks.MAX_DOCUMENT_BYTES:
        reason = f"the document is larger than {chunks.MAX_DOCUMENT_BYTES // 2**20} MiB; split it"
        return _problem(source, reason, line=lines.line)
    try:
        with lines.path.open("rb") as stream:
            stream.seek(lines.start)
            content = stream.read(lines.size)
    except OSError as error:
        return _problem(source, f"cannot be read: {error.strerror}", line=lines.line)
    found = parsing.parsed(content, source=source, explicit=lines.explicit, line=lines.line)
    return replace(found, part=lines.line)


def of_file(file: File) -> Iterator[Lines] | Batch | None:
    """The lines of a large dump, a few at a time; None for a file that is read as a whole.

    A file without an object on each line is a problem if it is too large to be read as a whole.
    """
    if file.size <= LARGE or not file.is_regular:
        return None
    try:
        with file.path.open("rb") as stream:
            if _begins_with_object(stream):
                return _lines(file)
    except OSError:
        return None  # reading it as a whole reports the reason
    if file.size <= chunks.MAX_FILE_BYTES:
        return None
    reason = f"larger than {chunks.MAX_FILE_BYTES // 2**20} MiB; split it, or write a dump as a line for each object"
    return _problem(name(file.path), f"{reason}: of a List in JSON, jq -c '.items[]' does that")


def _begins_with_object(stream: BinaryIO) -> bool:
    """Whether the first line is an object of a cluster, so that others follow."""
    try:
        value = orjson.loads(stream.readline(chunks.MAX_DOCUMENT_BYTES + 1))
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and "kind" in value and exists(value)


def _lines(file: File) -> Iterator[Lines]:
    with file.path.open("rb") as stream:
        start, line = 0, 1
        size = number = 0
        for length in _lengths(stream):
            if size and size + length > _AT_ONCE:
                yield Lines(path=file.path, explicit=file.explicit, start=start, size=size, line=line)
                start, line, size, number = start + size, line + number, 0, 0
            size, number = size + length, number + 1
        if size:
            yield Lines(path=file.path, explicit=file.explicit, start=start, size=size, line=line)


def _lengths(stream: BinaryIO) -> Iterator[int]:
    """The bytes of each line with its end. It never holds a whole line."""
    length = 0
    while part := stream.readline(2**20):
        length += len(part)
        if part.endswith(b"\n"):
            yield length
            length = 0
    if length:
        yield length


def _problem(source: str, reason: str, *, line: int = 0) -> Batch:
    problem = findings.Problem(source=source, line=line, column=1 if line else 0, reason=reason)
    return Batch(source=source, problems=(problem,), part=line)
