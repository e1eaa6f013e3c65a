"""wasmtime for the embedded engine: quick calls, checked memory, a clock that limits time, and a quiet end.

wasmtime's `Func.__call__` reads the function's type and wraps every argument again. For the seven arguments of
`opa_eval` that takes longer than the evaluation. `Call` prepares the arguments once for the same C function.

wasmtime trusts this file, so it is read from one place only: beside the packaged policies. A process that can write
there could change the code of usher as well.
"""

import atexit
import contextlib
import ctypes
import hashlib
import math
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import wasmtime
from wasmtime import _bindings as bindings  # private, but generated from wasmtime's stable C header

from usher import errors
from usher.policy.engines.engine import ANSWER_UNTIL


def compiler_configuration() -> wasmtime.Config:
    """The settings for compiling the policies; machine code for other settings is not used."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    # Compiling takes a tenth of a second. Without a writable cache directory every start compiles.
    with contextlib.suppress(wasmtime.WasmtimeError):
        config.cache = True
    return config


def machine_code_file(directory: Path, module: bytes) -> Path:
    """The file for a WebAssembly module. Each module has its own file, so an outdated file is never read."""
    return directory / f"policy-{hashlib.sha256(module).hexdigest()[:32]}.cwasm"


def read_machine_code(engine: wasmtime.Engine, file: Path) -> wasmtime.Module | None:
    """The module of a file. None if the file is absent, or for another wasmtime, processor or configuration."""
    if not file.is_file():
        return None
    try:
        return wasmtime.Module.deserialize_file(engine, str(file))
    except wasmtime.WasmtimeError:
        return None


def write_machine_code(module: bytes, file: Path) -> None:
    """Compiles a module for every processor of this architecture into a file, written all at once.

    Raises:
        InputError: the file cannot be written.
        WasmtimeError: the module is not WebAssembly.
    """
    # Without a target, the code would depend on the processor of the machine that builds an image.
    portable = compiler_configuration()
    portable.target = f"{os.uname().machine}-unknown-linux-gnu"
    code = wasmtime.Module(wasmtime.Engine(portable), module).serialize()
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
            temporary.write(code)
        Path(temporary.name).chmod(0o644)
        Path(temporary.name).rename(file)
    except OSError as error:
        raise errors.InputError(f"{file}: the compiled policies cannot be written: {error.strerror}") from None


_I32: Final = 0
"""WASMTIME_I32 of wasmtime/val.h."""

_Owner = TypeVar("_Owner", wasmtime.Engine, wasmtime.Module, wasmtime.Store)

_OWNERS: Final = weakref.WeakSet[wasmtime.Engine | wasmtime.Module | wasmtime.Store]()


def quiet_at_exit(owner: _Owner) -> _Owner:
    """The same object. It frees its memory as before, but not once the process ends.

    An object that lives as long as the process is finalized after the C functions that would free it are gone. Each
    then prints a traceback.
    """
    _OWNERS.add(owner)
    return owner


@atexit.register
def _leave_to_the_system() -> None:
    """Adds a reference to each remaining object, so that it has no finalizer and running threads can still use it."""
    for owner in tuple(_OWNERS):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))


class Call:
    """One exported function of one store; only the thread of the store may call it."""

    def __init__(self, store: wasmtime.Store, function: wasmtime.Func, *, arguments: int) -> None:
        self._store = store
        self._function = ctypes.byref(function._func)  # noqa: SLF001 - see above
        self._context = store._context()  # noqa: SLF001 - see above
        self._count = arguments
        self._arguments = (bindings.wasmtime_val_t * arguments)()
        for argument in self._arguments:
            argument.kind = ctypes.c_uint8(_I32)
        self._values = [argument.of for argument in self._arguments]
        self._results = (bindings.wasmtime_val_t * 1)()
        self._result = self._results[0].of
        self._keep = function

    def __call__(self, *arguments: int) -> int:
        """The result of the call.

        Raises:
            wasmtime.Trap: the function trapped.
            wasmtime.WasmtimeError: it could not be called.
        """
        for value, argument in zip(self._values, arguments, strict=True):
            value.i32 = argument
        trap = ctypes.POINTER(bindings.wasm_trap_t)()
        error = bindings.wasmtime_func_call(
            self._context, self._function, self._arguments, self._count, self._results, 1, ctypes.byref(trap)
        )
        if error:  # type: ignore[truthy-bool]  # a pointer of ctypes is false when it is null
            raise wasmtime.WasmtimeError._from_ptr(error)  # noqa: SLF001 - see above
        if trap:  # type: ignore[truthy-bool]  # as above
            raise wasmtime.Trap._from_ptr(trap)  # noqa: SLF001 - see above
        result: int = self._result.i32
        return result


PAGE: Final = 65536
"""Bytes by which a module's memory grows."""

_TEXT_SIZES: Final = (4096, 2**20, 2**32)
"""Sizes in bytes of the ranges searched in turn for the end of a text; most results end within the first."""


class Memory:
    """The memory of one module. Every address that the module names is checked against it."""

    def __init__(self, store: wasmtime.Store, memory: wasmtime.Memory) -> None:
        self._store = store
        self._memory = memory
        # As for `Call`, what C asks for is made once.
        self._place = store._context(), ctypes.byref(memory._memory)  # noqa: SLF001 - see above
        self._base = self._size = 0

    @property
    def size(self) -> int:
        """Bytes; it only grows."""
        size: int = bindings.wasmtime_memory_data_size(*self._place)
        if size != self._size:
            # Only where it has grown it may have moved. ctypes copies are ten times faster than Memory.read and write.
            self._base, self._size = ctypes.addressof(self._memory.data_ptr(self._store).contents), size
        return size

    def write(self, offset: int, data: bytes) -> None:
        """Copies bytes into the memory, which grows where it is too small.

        Raises:
            WasmtimeError: it may not grow as far.
        """
        while (missing := offset + len(data) - self.size) > 0:
            self._memory.grow(self._store, -(-missing // PAGE))
        ctypes.memmove(self._base + offset, data, len(data))

    def text(self, offset: int) -> bytes:
        """The NUL-terminated string that the module wrote.

        Raises:
            EngineError: the address is not within the memory, or the text has no end.
        """
        room = self.size - offset
        if not 0 < room <= self._size:
            raise errors.EngineError("the compiled policy names an address outside of its memory")
        for size in _TEXT_SIZES:
            text, end, _ = ctypes.string_at(self._base + offset, min(size, room)).partition(b"\0")
            if end:
                return text
        raise errors.EngineError("the compiled policy wrote a text without an end")


TICK: Final = 0.01
"""Seconds between two epochs."""

_LOOK: Final = 0.05
"""Seconds after which the clock looks at the time again, so a deadline ends at most as much late. A look takes 0.1 ms
of the processor, also while nothing is evaluated.
"""


class Clock:
    """Calls `advance` for every tick of real time, some at once, until it is stopped or its owner is gone."""

    def __init__(self, advance: Callable[[], None], *, deadline: float, owner: object) -> None:
        self.deadline = deadline
        self.stopped = threading.Event()
        """When set, the clock jumps past every running deadline, and ends."""
        self._advance = advance
        self._owner = weakref.ref(owner)
        self._started = time.monotonic()
        self._epoch = 0
        threading.Thread(target=self._run, name="usher-wasm-clock", daemon=True).start()

    def ticks(self) -> int:
        """Ticks until the deadline of a call that begins now, also while the clock is behind."""
        now = time.monotonic()
        left = max(0.0, min(self.deadline, ANSWER_UNTIL.get() - now))
        return math.ceil((now - self._started + left) / TICK) + 1 - self._epoch

    def _run(self) -> None:
        while not self.stopped.wait(_LOOK) and self._owner() is not None:
            # A busy machine wakes this thread late; the clock then catches up, or deadlines would stretch.
            self._move(to=int((time.monotonic() - self._started) / TICK))
        self._move(to=self._epoch + self.ticks())

    def _move(self, *, to: int) -> None:
        while self._epoch < to:
            self._advance()
            self._epoch += 1


class Sandbox:
    """wasmtime, and the clock that bounds the time of every module that it runs; several engines may share one."""

    def __init__(self, *, deadline: float) -> None:
        self.engine = quiet_at_exit(wasmtime.Engine(compiler_configuration()))
        self.process = os.getpid()
        self.clock = Clock(self.engine.increment_epoch, deadline=deadline, owner=self)

    def store(self) -> wasmtime.Store:
        """A new store for one instance of a module."""
        return quiet_at_exit(wasmtime.Store(self.engine))

    def close(self) -> None:
        """Ends the clock. A running evaluation stops within a tick, as if its deadline had passed."""
        self.clock.stopped.set()
