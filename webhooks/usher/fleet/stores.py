"""Where parts of audits are kept: a folder of this machine, or one of an object store by fsspec."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

from usher import errors
from usher.fleet import local_files
from usher.fleet.object_stores import ObjectStore
from usher.fleet.store_names import DEPTH, inside

_CHUNK: Final = 1 << 20
"""Bytes."""


class Store(Protocol):
    """A folder. Names are relative paths with `/`; they never leave the folder."""

    @property
    def place(self) -> str:
        """The folder in messages, without credentials."""
        ...

    def find(self, name: str) -> Iterator[str]:
        """All files of a name, at most `DEPTH` folders deep, in a stable order. Raises InputError."""
        ...

    def chunks(self, name: str, *, most: int) -> Iterator[bytes]:
        """A file in pieces, or its beginning of more than `most` bytes.

        Raises:
            OSError: the file is missing, or cannot be read.
            InputError: the name leaves the folder, or the store itself cannot be used.
        """
        ...

    def write(self, name: str, content: bytes) -> None:
        """Replaces a file: readers see all of the old or all of the new content. Raises InputError."""
        ...


def of(place: str) -> Store:
    """The store at a path or a URL.

    Raises:
        InputError: the URL is wrong, or a library for it is not installed.
    """
    if "://" not in place:
        return LocalStore(Path(place))
    if place.startswith("file://"):
        return LocalStore(Path(urlsplit(place).path))
    return ObjectStore(place)


def read(store: Store, name: str, *, most: int) -> bytes:
    """The content of a file. Raises as `chunks`, and OSError where the file has more than `most` bytes."""
    return b"".join(_bounded(store, name, most))


def copy(store: Store, name: str, target: Path, *, most: int) -> str:
    """Copies a file to this machine, and returns the SHA-256 of what was copied. Raises as `read`."""
    digest = hashlib.sha256()
    with target.open("wb") as copied:
        for chunk in _bounded(store, name, most):
            digest.update(chunk)
            copied.write(chunk)
    return digest.hexdigest()


def _bounded(store: Store, name: str, most: int) -> Iterator[bytes]:
    size = 0
    for chunk in store.chunks(name, most=most):
        size += len(chunk)
        if size > most:
            raise OSError(27, f"more than {most:,} bytes")
        yield chunk


class LocalStore:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def place(self) -> str:
        return str(self._folder)

    def find(self, name: str) -> Iterator[str]:
        if not self._folder.is_dir():
            raise errors.InputError(f"{self._folder}: there is no folder of this name")
        for folder, below, files in os.walk(self._folder):
            below_it = Path(folder).relative_to(self._folder)
            below[:] = sorted(below) if len(below_it.parts) < DEPTH else []
            if name in files:
                yield (below_it / name).as_posix()

    def chunks(self, name: str, *, most: int) -> Iterator[bytes]:  # noqa: ARG002 - readers stop by themselves
        path = self._folder / inside(name)

        def read() -> Iterator[bytes]:
            with path.open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk

        return read()

    def write(self, name: str, content: bytes) -> None:
        path = self._folder / inside(name)
        try:
            local_files.replace(path, content)
        except OSError as error:
            raise errors.InputError(f"{path}: the part cannot be written: {error.strerror}") from None
