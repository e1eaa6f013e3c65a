"""Programs that the user has installed: how usher finds one, and `opa`, run within bounds and with a cache.

`opa` runs where policies are built and tested, never where objects are judged. Its results stay in the user's cache
directory. Another user who can write to a file of the cache could decide what passes. So usher does not use a file or
folder that others own or may write to. It makes folders that only the user may write to, under any umask.
"""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Container
from pathlib import Path
from typing import Final

from usher import errors


def find_program(*names: str) -> str | None:
    """The path of the first installed program; None without one.

    It leaves out relative folders of the search path, because a tree could bring a program of that name. A name with a
    folder is a path that the user gave.
    """
    return next((path for name in names if (path := shutil.which(name, path=search_path()))), None)


def search_path() -> str:
    """The search path without its relative folders."""
    return os.pathsep.join(filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep)))


CACHE_VARIABLE: Final = "USHER_CACHE_DIR"
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_ONLY_THE_USER: Final = 0o700


def cache_directory() -> Path:
    """The directory: USHER_CACHE_DIR, or `gpu-usher` in the user's cache directory.

    Raises:
        RuntimeError: the user has no home directory.
    """
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "gpu-usher"


def make_cache_folder(folder: Path) -> None:
    """Makes a folder and its missing parents. Only the user may read and write them.

    Raises:
        OSError: it cannot be made.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=_ONLY_THE_USER, exist_ok=True)


def belongs_to_user(path: Path) -> bool:
    """Whether a file or folder belongs to the user, and others may not write to it. A link is never the user's own.

    Raises:
        OSError: it does not exist, or cannot be looked at.
    """
    found = path.lstat()
    kind = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return kind and found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS


_TIMEOUT: Final = 60.0
"""Seconds for one call; OPA takes less than 0.1 s for a template of the library of Gatekeeper."""
_MOST_OUTPUT: Final = 2000
LARGEST: Final = 8 * 2**20
"""Bytes of a compiled module; usual modules have 0.4 MiB."""

_DIGEST: Final = hashlib.sha256().digest_size
"""Bytes of the digest at the end of a cached file: usher does not use a file that was cut off."""


class RegoError(Exception):
    """Rego that OPA refuses; the message is OPA's."""


def find_opa(opa: Path | None, *, why: str) -> tuple[Path, str]:
    """The given program, or the `opa` of the search path, with its version.

    Args:
        opa: the program; None for the search path.
        why: what it is needed for, and what to do without it.

    Raises:
        InputError: the program is not found, or it is not OPA.
    """
    found = find_program(str(opa or "opa"))
    if found is None:
        raise errors.InputError(f"{opa or 'opa'}: the program was not found; {why}")
    program = Path(found).absolute()
    try:
        version = run(program, "version")
    except RegoError as error:
        raise errors.InputError(f"{found}: this is not OPA: {error}") from None
    return program, version.partition("\n")[0].removeprefix("Version: ").strip()


def run(program: Path, *arguments: str, folder: Path | None = None, accepted: Container[int] = (0,)) -> str:
    """The standard output of the program, run in a folder; `accepted` are the exit codes of success.

    Raises:
        RegoError: it fails, or takes too long.
        InputError: it cannot be run.
    """
    try:
        done = subprocess.run(  # noqa: S603 - the program that the user named, with arguments of ours
            [program, *arguments],
            check=False,
            capture_output=True,
            cwd=folder,
            timeout=_TIMEOUT,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise RegoError(f"opa {arguments[0]} took longer than {_TIMEOUT:g} s") from None
    except OSError as error:
        raise errors.InputError(f"{program}: cannot be run: {error.strerror}") from None
    if done.returncode not in accepted:
        raise RegoError(_reason((done.stderr or done.stdout).decode(errors="replace").strip()))
    return done.stdout.decode(errors="replace")


def _reason(output: str) -> str:
    """The reason why OPA fails: from a list of errors as JSON, the first one with its place."""
    try:
        first = json.loads(output)["errors"][0]
        place = first.get("location", {})
        output = f"{place.get('file', '')}:{place.get('row', '')}: {first['message']}"
    except (ValueError, LookupError, TypeError, AttributeError):
        output = output.removeprefix("error: ")
    return output[:_MOST_OUTPUT]


def wasm_module(bundle: Path) -> bytes:
    """The WebAssembly module in a bundle of `opa build`.

    Raises:
        RegoError: it is missing, or larger than LARGEST.
    """
    import tarfile

    with tarfile.open(bundle) as tar:
        member = tar.extractfile("/policy.wasm")
        found = member.read(LARGEST + 1) if member else b""
    if not found or len(found) > LARGEST:
        raise RegoError(f"its compiled form is larger than {LARGEST} bytes")
    return found


def made_once(make: Callable[[], bytes], *, of: str, cache: Path | None) -> bytes:
    """A compiled module: from the cache if an earlier run kept it, else compiled now and kept.

    Args:
        of: everything that the module follows from.
        cache: a folder with modules by the digest of `of`; None without one.
    """
    if cache is None:
        return make()
    file = cache / f"{hashlib.sha256(of.encode()).hexdigest()}.wasm"
    found = _cached_module(file)
    if not found:
        found = make()
        _keep(found, file)
    return found


def _cached_module(file: Path) -> bytes:
    """A module of the cache; empty where the file is absent or incomplete, or could belong to another user."""
    try:
        if not belongs_to_user(file):
            return b""
        content = file.read_bytes()
    except OSError:
        return b""
    found, digest = content[:-_DIGEST], content[-_DIGEST:]
    return found if hashlib.sha256(found).digest() == digest else b""


def _keep(made: bytes, file: Path) -> None:
    """Writes a module into the cache if it can."""
    with contextlib.suppress(OSError):
        make_cache_folder(file.parent)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
            temporary.write(made + hashlib.sha256(made).digest())
        Path(temporary.name).rename(file)
