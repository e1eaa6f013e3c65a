"""The embedded engine: OPA's own compilation of the policies to WebAssembly, run by wasmtime in this process.

The module has no files, sockets or clock: its only imports are memory, abort and println. Memory is capped by the
store's limits, time by epoch interruption. A trap or an overrun poisons the instance, so it is thrown away and the
next call gets a fresh one.

The calling convention is OPA's wasm ABI 1.2 and later (`opa_eval`): https://www.openpolicyagent.org/docs/wasm
"""

import ctypes
import threading
import weakref
from collections.abc import Callable
from typing import Final

import orjson
import wasmtime

from usher import errors, paths
from usher.policy import engine

MEMORY_LIMIT: Final = 128 * 2**20
"""Bytes. The largest review (7 MiB) needs about ten times its size."""

REBUILD_ABOVE: Final = 16 * 2**20
"""Bytes of linear memory after which an instance is rebuilt: wasm memory grows with the largest input, never back."""

_TICK: Final = 0.01
"""Seconds between two epochs: the precision of deadlines, and a hundred short wake-ups a second."""

_PAGE: Final = 65536
_INITIAL_PAGES: Final = 4


class WasmEngine:
    """Loads a compiled policy once and evaluates it on one instance per thread."""

    name = "wasm"
    waits = False

    def __init__(
        self,
        module: bytes,
        *,
        data: bytes = b"{}",
        deadline: float = engine.DEFAULT_DEADLINE,
        memory_limit: int = MEMORY_LIMIT,
    ) -> None:
        config = wasmtime.Config()
        config.epoch_interruption = True
        config.cache = True
        self._engine = wasmtime.Engine(config)
        try:
            self._module = wasmtime.Module(self._engine, module)
        except wasmtime.WasmtimeError as error:
            raise errors.EngineError(f"the compiled policy is not a usable WebAssembly module: {error}") from None
        self._data = data
        self._deadline = deadline
        self._memory_limit = memory_limit
        self._local = threading.local()
        self._closed = threading.Event()
        _start_clock(self._engine, self._closed, weakref.ref(self))

    def evaluate(self, entrypoint: engine.Entrypoint, document: bytes) -> paths.Object:
        instance = self._instance()
        try:
            text = instance.evaluate(entrypoint, document)
        except errors.EngineError:
            self._local.instance = None
            raise
        if instance.memory_size > REBUILD_ABOVE:
            self._local.instance = None
        results = engine.parsed(text, entrypoint=entrypoint)
        if not isinstance(results, list) or not results or not isinstance(results[0], dict):
            raise errors.EngineError(f"entry point {entrypoint} is undefined: the policies have no such rule")
        return engine.checked_result(results[0].get("result"), entrypoint=entrypoint)

    def close(self) -> None:
        self._closed.set()

    def _instance(self) -> "_Instance":
        instance: _Instance | None = getattr(self._local, "instance", None)
        if instance is None:
            instance = _Instance(
                self._engine,
                self._module,
                data=self._data,
                ticks=max(1, round(self._deadline / _TICK)),
                memory_limit=self._memory_limit,
            )
            self._local.instance = instance
        return instance


def _start_clock(wasm_engine: wasmtime.Engine, closed: threading.Event, owner: "weakref.ref[WasmEngine]") -> None:
    """Advances the epoch until the engine is closed or forgotten; wasm code past its deadline then traps."""

    def tick() -> None:
        while not closed.wait(_TICK) and owner() is not None:
            wasm_engine.increment_epoch()

    threading.Thread(target=tick, name="usher-wasm-clock", daemon=True).start()


class _Instance:
    """One instantiated policy with its own store: belongs to the thread that made it."""

    def __init__(
        self, wasm_engine: wasmtime.Engine, module: wasmtime.Module, *, data: bytes, ticks: int, memory_limit: int
    ) -> None:
        self._store = wasmtime.Store(wasm_engine)
        self._store.set_limits(memory_size=memory_limit)
        self._ticks = ticks
        self._abort_message = ""
        self._store.set_epoch_deadline(ticks)
        self._memory = wasmtime.Memory(self._store, wasmtime.MemoryType(wasmtime.Limits(_INITIAL_PAGES, None)))
        try:
            self._functions = self._instantiate(wasm_engine, module)
            self._entrypoints: dict[str, int] = orjson.loads(self._json_text(self._call("entrypoints")))
            address = self._call("opa_malloc", len(data))
            self._write(address, data)
            self._data = self._call("opa_json_parse", address, len(data))
            # Whatever an evaluation allocates lies above this, and the next one writes over it.
            self._heap = self._call("opa_heap_ptr_get")
        except (wasmtime.WasmtimeError, wasmtime.Trap, KeyError) as error:
            raise errors.EngineError(f"the compiled policy cannot be started: {_first_line(error)}") from None

    def _instantiate(self, wasm_engine: wasmtime.Engine, module: wasmtime.Module) -> dict[str, wasmtime.Func]:
        def abort(address: int) -> None:
            self._abort_message = self._text(address).decode("utf-8", "replace")

        def println(_address: int) -> None:
            """What a policy prints has no place to go."""

        def builtin(*_arguments: int) -> int:
            # The capabilities file keeps such policies out; this guards a module that was built by other means.
            raise errors.EngineError("the policies call a built-in that WebAssembly does not have")

        linker = wasmtime.Linker(wasm_engine)
        linker.define(self._store, "env", "memory", self._memory)
        i32 = wasmtime.ValType.i32
        functions: list[tuple[str, int, int, Callable[..., object]]] = [
            ("opa_abort", 1, 0, abort),
            ("opa_println", 1, 0, println),
            *((f"opa_builtin{count}", count + 2, 1, builtin) for count in range(5)),
        ]
        for name, arguments, results, function in functions:
            kind = wasmtime.FuncType([i32()] * arguments, [i32()] * results)
            linker.define(self._store, "env", name, wasmtime.Func(self._store, kind, function))
        exports = linker.instantiate(self._store, module).exports(self._store)
        return {name: value for name, value in dict(exports).items() if isinstance(value, wasmtime.Func)}

    @property
    def memory_size(self) -> int:
        return self._memory.data_len(self._store)

    def evaluate(self, entrypoint: str, document: bytes) -> bytes:
        """The result set of an entry point, as JSON text.

        Raises:
            EngineError: a trap, an abort, or more memory than the limit allows.
            DeadlineError: the epoch ran out.
        """
        number = self._entrypoints.get(entrypoint)
        if number is None:
            raise errors.EngineError(f"entry point {entrypoint} is undefined: the policies have no such rule")
        self._store.set_epoch_deadline(self._ticks)
        self._abort_message = ""
        length = len(document)
        try:
            self._write(self._heap, document)
            result = self._call("opa_eval", 0, number, self._data, self._heap, length, self._heap + length, 0)
            return self._text(result)
        except wasmtime.Trap as error:
            raise self._failure(error, entrypoint) from None
        except wasmtime.WasmtimeError as error:
            raise errors.EngineError(f"entry point {entrypoint}: {_first_line(error)}") from None

    def _failure(self, error: wasmtime.Trap, entrypoint: str) -> errors.EngineError:
        if error.trap_code is wasmtime.TrapCode.INTERRUPT:
            return errors.DeadlineError(
                f"entry point {entrypoint}: the policies took longer than {self._ticks * _TICK:g} s"
            )
        if self._abort_message:
            return errors.EngineError(f"entry point {entrypoint}: the policies stopped: {self._abort_message}")
        return errors.EngineError(f"entry point {entrypoint}: the policies failed: {_first_line(error)}")

    def _call(self, function: str, *arguments: int) -> int:
        result: int = self._functions[function](self._store, *arguments)
        return result

    def _address(self, offset: int) -> int:
        # ctypes copies are ten times faster than Memory.read and Memory.write.
        return ctypes.addressof(self._memory.data_ptr(self._store).contents) + offset

    def _write(self, offset: int, data: bytes) -> None:
        missing = offset + len(data) - self.memory_size
        if missing > 0:
            self._memory.grow(self._store, -(-missing // _PAGE))
        ctypes.memmove(self._address(offset), data, len(data))

    def _text(self, offset: int) -> bytes:
        """A NUL-terminated string that the module wrote."""
        return ctypes.string_at(self._address(offset))

    def _json_text(self, value: int) -> bytes:
        return self._text(self._call("opa_json_dump", value))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
