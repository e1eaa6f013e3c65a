"""The embedded engine: OPA's own compilation of the policies to WebAssembly, run by wasmtime in this process.

The module has no files, sockets or clock, and nothing that it says is trusted: every address is checked against its
memory, memory is capped by the store's limits, time by epoch interruption. Whatever goes wrong poisons the instance,
so it is thrown away and the next call gets a fresh one.

The calling convention is OPA's wasm ABI 1.2 and later (`opa_eval`): https://www.openpolicyagent.org/docs/wasm
"""

import contextlib
import ctypes
import os
import threading
import time
import weakref
from pathlib import Path
from typing import Final

import orjson
import wasmtime

from usher import errors, paths
from usher.policy.engines import engine, machine_code
from usher.policy.engines.deadline import UNTIL
from usher.policy.engines.wasm_runtime import Call, Clock

MEMORY_LIMIT: Final = 128 * 2**20
"""Bytes. The largest review (7 MiB) needs about ten times its size."""

REBUILD_ABOVE: Final = 16 * 2**20
"""Bytes of linear memory after which an instance is rebuilt: wasm memory grows with the largest input, never back."""

_CLOSED: Final = "the policy engine is closed"
_PAGE: Final = 65536
_DATA: Final = b"{}"
"""Base data beside the rules: empty, because the input holds all data that rules read."""

_TEXT_SIZES: Final = (4096, 2**20, 2**32)
"""Sizes in bytes of the ranges searched in turn for the end of a text; most results end within the first."""


class WasmEngine:
    """Loads a compiled policy once and evaluates it on one instance per thread, so any thread may call it.

    `ahead` is a file of `machine_code` for this module. It is trusted.
    """

    name = "wasm"
    waits = False

    def __init__(
        self,
        module: bytes,
        *,
        deadline: float = engine.DEFAULT_DEADLINE,
        memory_limit: int = MEMORY_LIMIT,
        ahead: Path | None = None,
    ) -> None:
        self._engine = wasmtime.Engine(machine_code.configuration())
        try:
            made = machine_code.read(self._engine, ahead) if ahead else None
            self._module = made or wasmtime.Module(self._engine, module)
        except wasmtime.WasmtimeError as error:
            raise errors.EngineError(f"the compiled policy is not a usable WebAssembly module: {error}") from None
        self._module_size = len(module)
        self._memory_limit = memory_limit
        self._process = os.getpid()
        self._clock = Clock(self._engine.increment_epoch, deadline=deadline, owner=self)
        self._local = threading.local()
        self._instance()  # a module that cannot be started is refused here, not at the first request

    def evaluate(self, entrypoint: engine.Entrypoint, document: bytes) -> paths.Object:
        instance = self._instance()
        try:
            text = instance.evaluate(entrypoint, document)
        except BaseException:  # KeyboardInterrupt and MemoryError leave it half-way, too
            self._discard(instance)
            raise
        if instance.memory_size > REBUILD_ABOVE:
            self._discard(instance)
        results = engine.parsed(text, entrypoint=entrypoint)
        if not isinstance(results, list) or not results or not isinstance(results[0], dict):
            raise errors.EngineError(f"entry point {entrypoint} is undefined: the policies do not define this rule")
        return engine.checked_result(results[0].get("result"), entrypoint=entrypoint)

    def ready(self) -> None:
        self._instance()

    def close(self) -> None:
        """Ends the clock. A running evaluation stops within a tick, as if its deadline had passed."""
        self._clock.stopped.set()

    def _instance(self) -> "_Instance":
        if self._process != os.getpid():
            # Its clock, a thread, did not come along.
            raise errors.EngineError("the policy engine belongs to the process that forked this one: make another")
        instance: _Instance | None = getattr(self._local, "instance", None)
        if instance is None:
            instance = _Instance(
                self._engine,
                self._module,
                module_size=self._module_size,
                clock=self._clock,
                memory_limit=self._memory_limit,
            )
            self._local.instance = instance
        return instance

    def _discard(self, instance: "_Instance") -> None:
        self._local.instance = None
        instance.close()


class _Instance:
    """One instantiated policy with its own store: belongs to the thread that made it."""

    def __init__(
        self,
        wasm_engine: wasmtime.Engine,
        module: wasmtime.Module,
        *,
        module_size: int,
        clock: Clock,
        memory_limit: int,
    ) -> None:
        self._clock = clock
        self._store = wasmtime.Store(wasm_engine)
        self._store.set_limits(memory_size=memory_limit)
        self._size = 0
        self._abort_message = ""
        self._set_deadline()
        try:
            self._memory, self._functions = self._instantiate(wasm_engine, module, module_size=module_size)
            self._entrypoints = self._numbers("entrypoints")
            if missing := [entrypoint for entrypoint in engine.Entrypoint if entrypoint not in self._entrypoints]:
                raise errors.EngineError(f"the compiled policy has no entry point {missing[0]}")
            # The capabilities file prevents these calls; a module that was built in another way may have them.
            if builtins := self._numbers("builtins"):
                raise errors.EngineError(f"the compiled policy calls {min(builtins)}, which WebAssembly lacks")
            address = self._call("opa_malloc", len(_DATA))
            self._write(address, _DATA)
            self._data = self._call("opa_json_parse", address, len(_DATA))
            # Each evaluation allocates above this address, and overwrites the memory of the one before.
            self._heap = self._call("opa_heap_ptr_get")
            self._evaluate = Call(self._store, self._functions["opa_eval"], arguments=7)
        except (wasmtime.WasmtimeError, wasmtime.Trap, LookupError) as error:
            if isinstance(error, wasmtime.Trap) and error.trap_code is wasmtime.TrapCode.INTERRUPT:
                raise self._too_late("the start of the compiled policy") from None
            raise errors.EngineError(f"the compiled policy cannot be started: {_last_line(error)}") from None

    def _instantiate(
        self, wasm_engine: wasmtime.Engine, module: wasmtime.Module, *, module_size: int
    ) -> tuple[wasmtime.Memory, dict[str, wasmtime.Func]]:
        # wasmtime keeps the host's functions for as long as the store, so they must not keep the store in turn.
        this = weakref.ref(self)

        def abort(address: int) -> None:
            instance = this()
            # An error would not come out of the call that is under way, but of one that fails later.
            with contextlib.suppress(errors.EngineError):
                if instance is not None:
                    instance._abort_message = instance._text(address).decode("utf-8", "replace")  # noqa: SLF001 - self

        kinds = {item.name: item.type for item in module.imports}
        memory_kind = kinds["memory"]
        if not isinstance(memory_kind, wasmtime.MemoryType):
            raise errors.EngineError("the compiled policy cannot be started: it imports no memory")
        memory = wasmtime.Memory(self._store, memory_kind)
        # The import names the least that any policy needs, however many texts ours begins with.
        missing = module_size - memory.data_len(self._store)
        if missing > 0:
            memory.grow(self._store, -(-missing // _PAGE))
        linker = wasmtime.Linker(wasm_engine)
        linker.define(self._store, "env", "memory", memory)
        text = wasmtime.FuncType([wasmtime.ValType.i32()], [])
        linker.define(self._store, "env", "opa_abort", wasmtime.Func(self._store, text, abort))
        linker.define_unknown_imports_as_traps(module)
        exports = linker.instantiate(self._store, module).exports(self._store)
        return memory, {name: value for name, value in dict(exports).items() if isinstance(value, wasmtime.Func)}

    def close(self) -> None:
        """Gives the memory back at once; the instance is of no use afterwards."""
        self._store.close()

    @property
    def memory_size(self) -> int:
        return self._memory.data_len(self._store)

    def evaluate(self, entrypoint: str, document: bytes) -> bytes:
        """The result set of an entry point, as JSON text.

        Raises:
            EngineError: a trap, an abort, or more memory than the limit allows.
            DeadlineError: the epoch ran out.
        """
        self._abort_message = ""
        self._set_deadline()
        number, length = self._entrypoints[entrypoint], len(document)
        try:
            self._write(self._heap, document)
            result = self._evaluate(0, number, self._data, self._heap, length, self._heap + length, 0)
            return self._text(result)
        except wasmtime.Trap as error:
            raise self._failure(error, entrypoint) from None
        except wasmtime.WasmtimeError as error:
            raise errors.EngineError(f"entry point {entrypoint}: {_last_line(error)}") from None

    def _set_deadline(self) -> None:
        self._store.set_epoch_deadline(self._clock.ticks())
        if self._clock.stopped.is_set():  # asked only now, or nothing would stop a policy that starts as it ends
            raise errors.EngineError(_CLOSED)
        if UNTIL.get() <= time.monotonic():
            raise errors.DeadlineError("no time is left to evaluate the policies")

    def _too_late(self, what: str) -> errors.EngineError:
        if self._clock.stopped.is_set():
            return errors.EngineError(_CLOSED)
        if UNTIL.get() <= time.monotonic():
            return errors.DeadlineError(f"{what} took longer than the rest of the time of this review")
        return errors.DeadlineError(f"{what} took longer than {self._clock.deadline:g} s")

    def _failure(self, error: wasmtime.Trap, entrypoint: str) -> errors.EngineError:
        if error.trap_code is wasmtime.TrapCode.INTERRUPT:
            return self._too_late(f"entry point {entrypoint}: the policies")
        if self._abort_message:
            return errors.EngineError(f"entry point {entrypoint}: the policies stopped: {self._abort_message}")
        return errors.EngineError(f"entry point {entrypoint}: the policies failed: {_last_line(error)}")

    def _call(self, function: str, *arguments: int) -> int:
        result: int = self._functions[function](self._store, *arguments)
        return result

    def _address(self, offset: int, length: int) -> int:
        """Where a range of the module's memory is in ours.

        Raises:
            EngineError: the range is not within the module's memory.
        """
        if offset < 0 or offset + length > self.memory_size:
            raise errors.EngineError("the compiled policy names an address outside of its memory")
        return self._base() + offset

    def _base(self) -> int:
        # ctypes copies are ten times faster than Memory.read and Memory.write.
        return ctypes.addressof(self._memory.data_ptr(self._store).contents)

    def _write(self, offset: int, data: bytes) -> None:
        # The size last seen is never larger than the memory, which only grows.
        if offset + len(data) > self._size:
            missing = offset + len(data) - self.memory_size
            if missing > 0:
                self._memory.grow(self._store, -(-missing // _PAGE))
            self._size = self.memory_size
        ctypes.memmove(self._base() + offset, data, len(data))

    def _text(self, offset: int) -> bytes:
        """A NUL-terminated string that the module wrote."""
        room = self.memory_size - offset
        for size in _TEXT_SIZES:
            length = max(1, min(size, room))
            text, end, _ = ctypes.string_at(self._address(offset, length), length).partition(b"\0")
            if end:
                return text
        raise errors.EngineError("the compiled policy wrote a text without an end")

    def _numbers(self, function: str) -> dict[str, int]:
        """What the module says of itself: names and their numbers."""
        numbers: dict[str, int] = orjson.loads(self._text(self._call("opa_json_dump", self._call(function))))
        return numbers


def _last_line(error: Exception) -> str:
    return str(error).strip().rpartition("\n")[2].strip()
