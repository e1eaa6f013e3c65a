"""The compiled policies as machine code, so that a server starts without compiling them again.

wasmtime trusts this file, so it is read from one place only: beside the packaged policies. A process that can write
there could change the code of usher as well.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import wasmtime

from usher import errors


def configuration() -> wasmtime.Config:
    """The settings for compiling the policies; machine code for other settings is not used."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    # Compiling takes a tenth of a second. Without a writable cache directory every start compiles.
    with contextlib.suppress(wasmtime.WasmtimeError):
        config.cache = True
    return config


def file_beside(directory: Path, module: bytes) -> Path:
    """The file for a WebAssembly module. Each module has its own file, so an outdated file is never read."""
    return directory / f"policy-{hashlib.sha256(module).hexdigest()[:32]}.cwasm"


def read(engine: wasmtime.Engine, file: Path) -> wasmtime.Module | None:
    """The module of a file. None if the file is absent, or for another wasmtime, processor or configuration."""
    if not file.is_file():
        return None
    try:
        return wasmtime.Module.deserialize_file(engine, str(file))
    except wasmtime.WasmtimeError:
        return None


def write(module: bytes, file: Path) -> None:
    """Compiles a module for every processor of this architecture into a file, written all at once.

    Raises:
        InputError: the file cannot be written.
        WasmtimeError: the module is not WebAssembly.
    """
    # Without a target, the code would depend on the processor of the machine that builds an image.
    portable = configuration()
    portable.target = f"{os.uname().machine}-unknown-linux-gnu"
    code = wasmtime.Module(wasmtime.Engine(portable), module).serialize()
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
            temporary.write(code)
        Path(temporary.name).chmod(0o644)
        Path(temporary.name).rename(file)
    except OSError as error:
        raise errors.InputError(f"{file}: the compiled policies cannot be written: {error.strerror}") from None
