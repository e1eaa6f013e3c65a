"""Where parts of audits are kept: a folder of this machine, or one of an object store by fsspec."""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Final, Protocol, TypeVar
from urllib.parse import urlsplit

from usher import errors
from usher.fleet import local_files

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

DEPTH: Final = 5
"""Folders below the given one that are searched: a run, a cluster, a shard, and some to spare."""

_CHUNK: Final = 1 << 20
_T = TypeVar("_T")


class Store(Protocol):
    """A folder. Names are relative paths with `/`; they never leave the folder."""

    @property
    def place(self) -> str:
        """The folder in messages, without credentials."""
        ...

    def find(self, name: str) -> Iterator[str]:
        """All files of a name, at most `DEPTH` folders deep, in a stable order. Raises InputError."""
        ...

    def open(self, name: str) -> IO[bytes]:
        """A file to read. Raises OSError."""
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
    return RemoteStore(place)


def read(store: Store, name: str, *, most: int) -> bytes:
    """The content of a file. Raises OSError, also where it has more than `most` bytes."""
    with store.open(name) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(27, f"more than {most:,} bytes")
    return content


def copy(store: Store, name: str, target: Path, *, most: int) -> str:
    """Copies a file to this machine, and returns the SHA-256 of what was copied. Raises OSError as `read` does."""
    digest, size = hashlib.sha256(), 0
    with store.open(name) as source, target.open("wb") as copied:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > most:
                raise OSError(27, f"more than {most:,} bytes")
            digest.update(chunk)
            copied.write(chunk)
    return digest.hexdigest()


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
            inside = Path(folder).relative_to(self._folder)
            below[:] = sorted(below) if len(inside.parts) < DEPTH else []
            if name in files:
                yield (inside / name).as_posix()

    def open(self, name: str) -> IO[bytes]:
        return (self._folder / _inside(name)).open("rb")

    def write(self, name: str, content: bytes) -> None:
        path = self._folder / _inside(name)
        try:
            local_files.replace(path, content)
        except OSError as error:
            raise errors.InputError(f"{path}: the part cannot be written: {error.strerror}") from None


class RemoteStore:
    """A folder of an object store. Credentials come from the environment, as its library reads them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._scheme = urlsplit(url).scheme
        self._files, self._root = self._attempt("opened", self._connected)

    @property
    def place(self) -> str:
        """Without the user, the password and the query, which may hold credentials."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def find(self, name: str) -> Iterator[str]:
        found: list[str] = self._attempt("listed", lambda: self._files.find(self._root, maxdepth=DEPTH + 1))
        inside = (str(PurePosixPath(each).relative_to(self._root)) for each in found)
        yield from sorted(each for each in inside if PurePosixPath(each).name == name)

    def open(self, name: str) -> IO[bytes]:
        path = f"{self._root}/{_inside(name)}"
        try:
            stream: IO[bytes] = self._files.open(path, "rb")
        except FileNotFoundError:
            raise
        except Exception as error:  # noqa: BLE001 - each library has errors of its own
            raise OSError(5, f"{type(error).__name__} of the library for {self._scheme}://") from None
        return stream

    def write(self, name: str, content: bytes) -> None:
        # Object stores show an object once it is complete.
        path = f"{self._root}/{_inside(name)}"
        self._attempt("written", lambda: self._put(path, content))

    def _put(self, path: str, content: bytes) -> None:
        self._files.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
        self._files.pipe_file(path, content)

    def _connected(self) -> "tuple[AbstractFileSystem, str]":
        import fsspec

        files, root = fsspec.url_to_fs(self._url)
        return files, root.rstrip("/")

    def _attempt(self, what: str, action: Callable[[], _T]) -> _T:
        """What the action returns. The texts of the libraries may hold credentials, so messages leave them out."""
        try:
            return action()
        except ModuleNotFoundError as error:
            missing = error.name or "fsspec"
            raise errors.InputError(f"{self.place}: {self._remedy(missing)}") from None
        except ImportError:
            raise errors.InputError(f"{self.place}: {self._remedy(f'a library for {self._scheme}://')}") from None
        except ValueError:
            raise errors.InputError(
                f"{self.place}: fsspec does not know {self._scheme}://; use a path, s3://, gs:// or abfs://"
            ) from None
        except Exception as error:  # noqa: BLE001 - each library has errors of its own
            reason = f"{type(error).__name__} of the library for {self._scheme}://"
            raise errors.InputError(f"{self.place}: it cannot be {what}: {reason}; look at its credentials") from None

    def _remedy(self, missing: str) -> str:
        drivers = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs"}
        driver = "" if missing == "fsspec" else drivers.get(self._scheme, "")
        install = f"pip install 'gpu-usher[fleet]'{' ' + driver if driver else ''}"
        return f"{missing} is not installed: {install}"


def _inside(name: str) -> str:
    """The name, which must not leave its folder. Raises InputError."""
    parts = name.split("/")
    if not name or "\\" in name or "\0" in name or any(part in {"", ".", ".."} for part in parts):
        raise errors.InputError(f"{name[:100]!r} is not the name of a file in the folder")
    return name
