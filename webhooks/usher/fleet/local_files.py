"""Replaces a file of this machine, as a whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Writes a file, with the folders above it. A full disk leaves the old file. Raises OSError.

    It does not wait for the disk: after a crash, digests show which files are not whole.
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
