"""Reads the objects of PATH arguments. A file that cannot be read becomes a problem, and the other files are read."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from usher import errors, paths
from usher.documents import chunks, reader
from usher.scan import findings, objects
from usher.scan.batches import Batch, Item

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""The files that usher reads of a directory."""

STDIN: Final = "-"

_CHART: Final = "Chart.yaml"


def read(arguments: Sequence[str], *, stdin: BinaryIO) -> Iterator[Batch]:
    """One batch per file, in the order of the arguments and sorted within a directory.

    A file that is named twice is read once, so that its GPUs are not counted twice.

    Args:
        arguments: files, directories, and `-` for standard input.
        stdin: where `-` reads from.
    """
    seen: set[tuple[int, int]] = set()
    for argument in dict.fromkeys(arguments):
        if argument == STDIN:
            yield _parsed(stdin.read(chunks.MAX_FILE_BYTES + 1), source="<stdin>", explicit=True)
            continue
        path = Path(argument)
        try:
            status = path.stat()
        except (OSError, ValueError) as error:
            yield _unreadable(path, error)
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(path, seen=seen)
        elif _is_new(status, seen):
            yield _file(path, explicit=True)


def _walk(directory: Path, *, seen: set[tuple[int, int]]) -> Iterator[Batch]:
    """The manifests below a directory. A symbolic link to a directory that was read already is left out."""
    try:
        if not _is_new(directory.stat(), seen):
            return
        entries = sorted(directory.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        yield _unreadable(directory, error)
        return
    is_chart = any(entry.name == _CHART for entry in entries)
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if is_chart and entry.name == "templates":
            yield _chart(directory)
            continue
        try:
            status = entry.stat()
        except OSError as error:
            if entry.suffix in SUFFIXES:
                yield _unreadable(entry, error)
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(entry, seen=seen)
        elif entry.suffix in SUFFIXES and stat.S_ISREG(status.st_mode) and _is_new(status, seen):
            yield _file(entry, explicit=False)


def _file(path: Path, *, explicit: bool) -> Batch:
    try:
        with path.open("rb") as stream:
            content = stream.read(chunks.MAX_FILE_BYTES + 1)
    except OSError as error:
        return _unreadable(path, error)
    return _parsed(content, source=_name(path), explicit=explicit)


def _parsed(content: bytes, *, source: str, explicit: bool) -> Batch:
    """The objects of a file.

    Args:
        content: its content, or enough of it to show that it is too large.
        source: its name.
        explicit: whether the user named the file. A directory may well hold Helm values, workflows and kustomizations
            between the manifests; a named file was meant to be judged.
    """
    try:
        documents = reader.parse(content, source=source)
    except errors.ManifestError as error:
        if not explicit and _holds_no_object(content):
            return Batch(source=source, ignored=1)
        problem = findings.Problem(source=source, line=error.line, column=error.column, reason=error.reason)
        return Batch(source=source, problems=(problem,))
    return of_documents(documents, source=source, explicit=explicit)


def of_documents(documents: Sequence[reader.Document], *, source: str, explicit: bool) -> Batch:
    """The objects in the documents of a file; arguments as for a file."""
    items: list[Item] = []
    notes, ignored = [], 0
    for document in documents:
        whole = objects.completed(items[-1].value, document.value) if items else None
        if whole is not None:
            items[-1] = replace(items[-1], value=whole)
            continue
        for prefix, value in objects.flatten(document.value):
            reason = objects.why_not_object(value)
            if not reason and isinstance(value, dict):
                if not objects.is_own(value):
                    items.append(Item(value=value, document=document, prefix=prefix))
                continue
            ignored += 1
            if explicit or objects.meant_as_workload(value):
                notes.append(findings.Note(source=f"{source}:{document.line}", reason=f"{_at(prefix)}{reason}"))
    return Batch(source=source, items=tuple(items), documents=tuple(documents), notes=tuple(notes), ignored=ignored)


def _holds_no_object(content: bytes) -> bool:
    """Whether a file that is not valid YAML certainly holds no object: for example a tsconfig.json with comments.

    Every object has the word apiVersion, every compiled pipeline the word pipelineInfo. Without a backslash there is no
    other way to write these words.
    """
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    words = (b"apiVersion", b"pipelineInfo", b"\\")
    return len(content) <= chunks.MAX_FILE_BYTES and not any(word in content for word in words)


def _at(prefix: str) -> str:
    return f"{paths.readable(prefix)}: " if prefix else ""


def _chart(directory: Path) -> Batch:
    name = _name(directory)
    reason = f"a Helm chart, whose templates usher does not render; run: helm template {name} | usher check -"
    return Batch(source=name, notes=(findings.Note(source=name, reason=reason),), is_file=False)


def _unreadable(path: Path, error: OSError | ValueError) -> Batch:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    problem = findings.Problem(source=_name(path), reason=f"cannot be read: {reason[:1].lower()}{reason[1:]}")
    return Batch(source=_name(path), problems=(problem,))


def _is_new(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return False
    seen.add(identity)
    return True


def _name(path: Path) -> str:
    """The path as text that can be written as UTF-8; file names are bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
