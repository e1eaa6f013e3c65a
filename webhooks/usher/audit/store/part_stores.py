"""Where parts of audits are kept: a folder of this machine, or one of an object store by fsspec.

Texts of the libraries of object stores may hold credentials, so messages leave them out.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import urlsplit

from usher import errors

DEPTH: Final = 5
"""How deep usher searches below the given folder: a run, a cluster, a shard, and two spare levels."""


def checked_name(name: str) -> str:
    """The name, after a check that it does not leave its folder. Raises InputError."""
    parts = name.split("/")
    if not name or "\\" in name or "\0" in name or any(part in {"", ".", ".."} for part in parts):
        raise errors.InputError(f"{name[:100]!r} is not the name of a file in the folder")
    return name


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file and makes the folders above it. A full disk leaves the old file. Raises OSError.

    It does not wait for the disk: after a crash, digests show which files are incomplete.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            os.fchmod(stream.fileno(), 0o640)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


_DRIVERS: Final = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "adlfs"),
}
"""The library for each scheme. These stores have no folders; making one would make a bucket."""

_CREDENTIALS: Final = {
    "s3fs": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role of the pod",
    "gcsfs": "GOOGLE_APPLICATION_CREDENTIALS, or an identity of the pod",
    "adlfs": "AZURE_STORAGE_CONNECTION_STRING, or an identity of the pod",
}
_ENDPOINT: Final = {"s3fs": "AWS_ENDPOINT_URL"}
_CHUNK: Final = 1 << 20
_AT_ONCE: Final = 32 << 20
"""Bytes of a file that one request reads."""

_T = TypeVar("_T")


def driver(scheme: str) -> str:
    """The library that a URL scheme needs in addition to fsspec; empty if it needs no other."""
    return _DRIVERS.get(scheme, "")


class ObjectStore:
    """A folder of an object store. The library of the store reads credentials from the environment."""

    def __init__(self, url: str) -> None:
        """Opens the folder; most libraries make no request yet.

        Raises:
            InputError: the URL is wrong, or a library for it is not installed.
        """
        self._url = url
        self._scheme = urlsplit(url).scheme
        self._driver = driver(self._scheme)
        self._files, self._root = self._attempt("open", self._connected)

    @property
    def place(self) -> str:
        """The URL without user, password and query, which may hold credentials."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def find(self, name: str) -> Iterator[str]:
        """As `Store.find`. It also raises InputError for a folder that cannot be listed, so that it
        overlooks no part.
        """
        yield from sorted(self._attempt("list", lambda: list(self._paths_of_files(name))))

    def _paths_of_files(self, name: str) -> Iterator[str]:
        self._files.invalidate_cache()
        for folder, _, names in self._files.walk(self._root, maxdepth=DEPTH + 1, on_error="raise"):
            if name in names:
                yield str(PurePosixPath(folder, name).relative_to(self._root))

    def chunks(self, name: str, *, most: int) -> Iterator[bytes]:
        path = f"{self._root}/{checked_name(name)}"

        def read() -> Iterator[bytes]:
            try:
                if most < _AT_ONCE:
                    # Opening it would take another request, and a merge of many clusters reads thousands.
                    yield self._files.cat_file(path, start=0, end=most + 1)
                else:
                    with self._files.open(path, "rb") as stream:
                        while chunk := stream.read(_CHUNK):
                            yield chunk
            except FileNotFoundError:
                raise FileNotFoundError(2, "the file is missing") from None
            except PermissionError:
                raise PermissionError(13, f"the store refuses to read it; {self._rights('read')}") from None
            except Exception as error:  # noqa: BLE001 - each library has errors of its own
                if _is_unreachable(error):
                    raise self._error("read", error) from None
                raise OSError(5, f"{type(error).__name__} of the library for {self._scheme}://") from None

        return read()

    def write(self, name: str, content: bytes) -> None:
        # Object stores show an object only when it is complete.
        path = f"{self._root}/{checked_name(name)}"
        self._attempt("write", lambda: self._put(path, content))

    def _put(self, path: str, content: bytes) -> None:
        if not self._driver:
            self._files.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
        self._files.pipe_file(path, content)

    def _connected(self) -> tuple[Any, str]:
        import fsspec

        try:
            fsspec.get_filesystem_class(self._scheme)
        except ValueError:
            raise errors.InputError(
                f"{self.place}: fsspec does not know {self._scheme}://; use a path, s3://, gs:// or abfs://"
            ) from None
        files, root = fsspec.url_to_fs(self._url)
        return files, root.rstrip("/")

    def _attempt(self, verb: str, action: Callable[[], _T]) -> _T:
        """The result of the action. Raises InputError."""
        try:
            return action()
        except errors.InputError:
            raise
        except ModuleNotFoundError as error:
            raise errors.InputError(f"{self.place}: {self._installation(error.name or 'fsspec')}") from None
        except ImportError:
            raise errors.InputError(f"{self.place}: {self._installation(f'a library for {self._scheme}://')}") from None
        except Exception as error:  # noqa: BLE001 - each library has errors of its own
            raise self._error(verb, error) from None

    def _error(self, verb: str, error: Exception) -> errors.InputError:
        name = type(error).__name__
        reason = f"usher cannot {verb} it ({name} of the library for {self._scheme}://)"
        return errors.InputError(f"{self.place}: {reason}; {self._remedy(verb, error)}")

    def _remedy(self, verb: str, error: Exception) -> str:
        name = type(error).__name__
        if isinstance(error, FileNotFoundError):
            return "there is no such folder or bucket: mend the URL, or create the bucket; usher never creates one"
        if isinstance(error, PermissionError):
            return self._rights(verb)
        if "Credential" in name or "Auth" in name:
            return (
                f"give credentials by variables of the environment ({_CREDENTIALS.get(self._driver, 'see its pages')})"
            )
        if _is_unreachable(error):
            variable = f" ({_ENDPOINT[self._driver]})" if self._driver in _ENDPOINT else ""
            return f"look whether its endpoint{variable} can be reached from here"
        return "look at the URL, the credentials and the endpoint"

    def _rights(self, verb: str) -> str:
        return f"look at the credentials, and at their right to {verb}"

    def _installation(self, missing: str) -> str:
        driver = "" if missing == "fsspec" or not self._driver else f" {self._driver}"
        return f"{missing} is not installed: pip install 'gpu-usher[fleet]'{driver}"


def _is_unreachable(error: Exception) -> bool:
    """Whether the whole store cannot be used. The libraries' own connection errors are not OSErrors."""
    name = type(error).__name__
    return isinstance(error, (ConnectionError, TimeoutError)) or any(
        word in name for word in ("Connect", "Timeout", "Endpoint", "Credential", "Auth")
    )


class Store(Protocol):
    """A folder. Names are relative paths with `/`; they never leave the folder."""

    @property
    def place(self) -> str:
        """The folder as messages show it, without credentials."""
        ...

    def find(self, name: str) -> Iterator[str]:
        """All files with a name, at most `DEPTH` folders deep, in a stable order. Raises InputError."""
        ...

    def chunks(self, name: str, *, most: int) -> Iterator[bytes]:
        """The chunks of a file; of a larger file only the beginning, slightly more than `most` bytes.

        Raises:
            OSError: the file is missing, or cannot be read.
            InputError: the name leaves the folder, or the store itself cannot be used.
        """
        ...

    def write(self, name: str, content: bytes) -> None:
        """Replaces a file. Readers see the complete old or the complete new content. Raises InputError."""
        ...


def store_at(place: str) -> Store:
    """The store at a path or a URL.

    Raises:
        InputError: the URL is wrong, or a library for it is not installed.
    """
    if "://" not in place:
        return LocalStore(Path(place))
    if place.startswith("file://"):
        return LocalStore(Path(urlsplit(place).path))
    return ObjectStore(place)


def read_file(store: Store, name: str, *, most: int) -> bytes:
    """The content of a file. Raises as `chunks`, and OSError if the file has more than `most` bytes."""
    return b"".join(_bounded(store, name, most))


def copy_file(store: Store, name: str, target: Path, *, most: int) -> str:
    """Copies a file to this machine, and returns the SHA-256 of the copied bytes. Raises as `read`."""
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
        path = self._folder / checked_name(name)

        def read() -> Iterator[bytes]:
            with path.open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk

        return read()

    def write(self, name: str, content: bytes) -> None:
        path = self._folder / checked_name(name)
        try:
            replace_file(path, content)
        except OSError as error:
            raise errors.InputError(f"{path}: the part cannot be written: {error.strerror}") from None
