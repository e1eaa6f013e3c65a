"""The embedded engine: OPA's own compilation of the policies to WebAssembly, run by wasmtime in this process.

The module has no files, sockets or clock. Its output is not trusted: addresses are checked against its memory, the
store's limits cap memory, and epoch interruption caps time. After a fault the next call gets a fresh instance.

The calling convention is OPA's wasm ABI 1.2 and later (`opa_eval`): https://www.openpolicyagent.org/docs/wasm
"""

import contextlib
import copy
import math
import os
import threading
import time
import weakref
from collections.abc import Collection
from pathlib import Path
from typing import Final

import orjson
import wasmtime
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.policy.engines import engine, wasm_runtime
from usher.policy.engines.engine import ANSWER_UNTIL
from usher.policy.engines.rego_values import HOST_IMPORTS, NO_HOST_FUNCTIONS, HostCalls, HostFunctions
from usher.policy.engines.wasm_runtime import PAGE, Call, Memory, Sandbox, quiet_at_exit

MEMORY_LIMIT: Final = 128 * 2**20
"""Bytes of memory. The largest review (7 MiB) needs about ten times its size."""
REBUILD_ABOVE: Final = 16 * 2**20
"""Bytes of growth after which an instance is rebuilt: wasm memory grows with the largest input, never back."""

OWN_SECONDS: Final = 0.3
"""Seconds of the processor after which a missed deadline is the fault of the document. Usual ones need a millisecond.
A review that has waited for others, and has no time left, does not get this far.
"""
_STARVED_TRIES: Final = 5
"""How often an object of a file or of an audit is judged when other processes have the processor until the deadline."""
_NO_MEMORY: Final = "opa_malloc: failed"
"""The message with which OPA's allocator ends (wasm/src/malloc.c)."""

_LEAVE_OUT: Final = "usher_leave_out"
"""The function of our module that takes the address of the rules to leave out (`tools/quicken_module.py`)."""
_TABLE: Final = 20_000
"""Bytes of the largest table of `catalogue.table_of_numbers`."""

_CLOSED: Final = "the policy engine is closed"
_DATA: Final = b"{}"  # base data beside our rules: the input holds all data that they read


class _StarvedError(errors.DeadlineError):
    """Other threads and processes had the processor for most of the time until the deadline."""


class _Program(Struct, frozen=True, kw_only=True):
    """The parts from which every instance of one policy starts."""

    module: wasmtime.Module
    size: int
    memory_limit: int
    rebuild_above: int
    entrypoints: Collection[str]
    data: bytes
    functions: HostFunctions
    blames_object: bool


class WasmEngine:
    """Loads a compiled policy once and evaluates it on one instance per thread, so any thread may call it."""

    name = "wasm"
    waits = False

    def __init__(  # noqa: PLR0913 - the module, its limits, and what it may ask for
        self,
        module: bytes,
        *,
        deadline: float = engine.DEFAULT_DEADLINE,
        memory_limit: int = MEMORY_LIMIT,
        rebuild_above: int = REBUILD_ABOVE,
        ahead: Path | None = None,
        sandbox: Sandbox | None = None,
        entrypoints: Collection[str] = tuple(engine.Entrypoint),
        functions: HostFunctions = NO_HOST_FUNCTIONS,
        blames_object: bool = True,
    ) -> None:
        """Compiles and starts a module.

        Args:
            deadline: seconds for one evaluation, unless a `sandbox` has its own.
            memory_limit: bytes.
            rebuild_above: bytes, as REBUILD_ABOVE.
            ahead: a file of `write_machine_code` for this module. It is trusted.
            sandbox: shared with other engines; `close` leaves it running.
            entrypoints: those that the module must have.
            functions: the only built-ins that the module may call in this process.
            blames_object: whether an object is at fault where the rules exceed a limit. The work of our own rules grows
                with the object; those of a site may never end.

        Raises:
            EngineError: the module cannot be used.
        """
        self._shared = sandbox is not None
        self._sandbox = sandbox or Sandbox(deadline=deadline)
        try:
            made = wasm_runtime.read_machine_code(self._sandbox.engine, ahead) if ahead else None
            made = quiet_at_exit(made or wasmtime.Module(self._sandbox.engine, module))
        except wasmtime.WasmtimeError as error:
            raise errors.EngineError(f"the compiled policy is not a usable WebAssembly module: {error}") from None
        limits = {
            "size": len(module),
            "memory_limit": memory_limit,
            "rebuild_above": rebuild_above,
        }
        self._start(
            _Program(
                module=made,
                **limits,
                entrypoints=entrypoints,
                data=_DATA,
                functions=functions,
                blames_object=blames_object,
            )
        )

    def _start(self, program: _Program) -> None:
        self._program = program
        self._local = threading.local()
        self._instance()  # a module that cannot be started is refused here, not at the first request

    def with_data(self, data: bytes) -> "WasmEngine":
        """The same policy with other base data (JSON), which rules read below `data`.

        Raises:
            EngineError: the data are not JSON, or larger than the memory.
        """
        other = copy.copy(self)
        other._start(replace(self._program, data=data))  # noqa: SLF001 - self
        return other

    def evaluate(self, entrypoint: str, document: bytes, left_out: bytes = engine.ALL_CHECKS) -> paths.Object:
        for _ in range(_STARVED_TRIES - 1):
            try:
                return self._evaluated(entrypoint, document, left_out)
            except _StarvedError:
                if ANSWER_UNTIL.get() < math.inf:
                    raise  # an API server waits
        return self._evaluated(entrypoint, document, left_out)

    def _evaluated(self, entrypoint: str, document: bytes, left_out: bytes) -> paths.Object:
        instance = self._instance()
        try:
            instance.leave_out(left_out)
            text = instance.evaluate(entrypoint, document)
        except BaseException:  # KeyboardInterrupt and MemoryError leave it half-way, too
            self._discard(instance)
            raise
        if instance.grown > self._program.rebuild_above:
            self._discard(instance)
        results = engine.parse_answer(text, entrypoint=entrypoint)
        if not isinstance(results, list) or not results or not isinstance(results[0], dict):
            raise errors.EngineError(f"entry point {entrypoint} is undefined: the policies do not define this rule")
        return engine.checked_result(results[0].get("result"), entrypoint=entrypoint)

    def ready(self) -> None:
        self._instance()

    def close(self) -> None:
        """Ends the clock, unless other engines share it."""
        if not self._shared:
            self._sandbox.close()

    def _instance(self) -> "_Instance":
        if self._sandbox.process != os.getpid():
            # The clock is a thread, and a fork does not copy threads.
            raise errors.EngineError("the policy engine belongs to the process that forked this one: make another")
        instance: _Instance | None = getattr(self._local, "instance", None)
        if instance is None:
            instance = _Instance(self._sandbox, self._program)
            self._local.instance = instance
        return instance

    def _discard(self, instance: "_Instance") -> None:
        self._local.instance = None
        instance.close()


class _Instance:
    """One instantiated policy with its own store: belongs to the thread that made it."""

    def __init__(self, sandbox: Sandbox, program: _Program) -> None:
        self._clock = sandbox.clock
        self._store = sandbox.store()
        self._store.set_limits(memory_size=program.memory_limit)
        self._memory_limit = program.memory_limit
        self._blames_object = program.blames_object
        self._abort_message = ""
        self._set_deadline()
        try:
            self._memory, self._functions = self._instantiate(sandbox.engine, program)
            self._entrypoints = self._numbers("entrypoints")
            if missing := [entrypoint for entrypoint in program.entrypoints if entrypoint not in self._entrypoints]:
                raise errors.EngineError(f"the compiled policy has no entry point {missing[0]}")
            # The capabilities file prevents these calls in our policies; other modules may have them.
            self._host: HostCalls | None = None
            if builtins := self._numbers("builtins"):
                self._host = HostCalls(builtins, program.functions, call=self._call, memory=self._memory)
            address = self._call("opa_malloc", len(program.data))
            self._memory.write(address, program.data)
            self._data = self._call("opa_json_parse", address, len(program.data))
            if not self._data:
                raise errors.EngineError("the compiled policy cannot be started: its base data are not JSON")
            self._left_out, self._table = engine.ALL_CHECKS, 0
            if _LEAVE_OUT in self._functions:
                self._table = self._call("opa_malloc", _TABLE)
                self._memory.write(self._table, bytes(_TABLE))
                self._functions[_LEAVE_OUT](self._store, self._table)
            # Each evaluation allocates above this address, and overwrites the memory of the one before.
            self._heap = self._call("opa_heap_ptr_get")
            self._evaluate = Call(self._store, self._functions["opa_eval"], arguments=7)
            self._started_with = self._memory.size
        except (wasmtime.WasmtimeError, wasmtime.Trap, LookupError) as error:
            if isinstance(error, wasmtime.Trap) and error.trap_code is wasmtime.TrapCode.INTERRUPT:
                raise self._too_late("the start of the compiled policy") from None
            raise errors.EngineError(f"the compiled policy cannot be started: {_last_line(error)}") from None

    def _instantiate(self, wasm_engine: wasmtime.Engine, program: _Program) -> tuple[Memory, dict[str, wasmtime.Func]]:
        # wasmtime keeps the host's functions for as long as the store, so they must not keep the store in turn.
        this = weakref.ref(self)

        def abort(address: int) -> None:
            instance = this()
            # An error would surface in a later call that fails, and not in the current one.
            with contextlib.suppress(errors.EngineError):
                if instance is not None:
                    instance._abort_message = instance._memory.text(address).decode("utf-8", "replace")  # noqa: SLF001 - self

        def host_call(number: int, _context: int, *arguments: int) -> int:
            instance = this()
            return instance._host(number, arguments) if instance and instance._host else 0  # noqa: SLF001 - self

        kinds = {item.name: item.type for item in program.module.imports}
        memory_kind = kinds["memory"]
        if not isinstance(memory_kind, wasmtime.MemoryType):
            raise errors.EngineError("the compiled policy cannot be started: it imports no memory")
        memory = wasmtime.Memory(self._store, memory_kind)
        # The import names the least memory that any policy needs, even if ours begins with many texts.
        missing = program.size - memory.data_len(self._store)
        if missing > 0:
            memory.grow(self._store, -(-missing // PAGE))
        linker = wasmtime.Linker(wasm_engine)
        linker.define(self._store, "env", "memory", memory)
        text = wasmtime.FuncType([wasmtime.ValType.i32()], [])
        linker.define(self._store, "env", "opa_abort", wasmtime.Func(self._store, text, abort))
        if program.functions:
            for count, name in enumerate(HOST_IMPORTS):
                kind = wasmtime.FuncType([wasmtime.ValType.i32()] * (count + 2), [wasmtime.ValType.i32()])
                linker.define(self._store, "env", name, wasmtime.Func(self._store, kind, host_call))
        linker.define_unknown_imports_as_traps(program.module)
        exports = linker.instantiate(self._store, program.module).exports(self._store)
        return Memory(self._store, memory), {
            name: value for name, value in dict(exports).items() if isinstance(value, wasmtime.Func)
        }

    def close(self) -> None:
        """Frees the memory at once; the instance cannot be used afterwards."""
        self._store.close()

    @property
    def grown(self) -> int:
        """Bytes by which evaluations have made its memory larger."""
        return self._memory.size - self._started_with

    def leave_out(self, rules: bytes) -> None:
        """Lets the next evaluations leave out these checks or mutations, if the module can."""
        if rules != self._left_out and self._table:
            self._memory.write(self._table, rules.ljust(len(self._left_out), b"\0")[:_TABLE])
            self._left_out = rules

    def evaluate(self, entrypoint: str, document: bytes) -> bytes:
        """The result set of an entry point, as JSON text.

        Raises:
            EngineError: a trap or an abort.
            ExhaustedError: the document needs more memory than the limit allows, or the processor worked on it until
                the epoch ran out.
            DeadlineError: the epoch ran out, mostly while other threads and processes had the processor.
        """
        self._abort_message = ""
        self._set_deadline()
        began = time.thread_time()
        number, length = self._entrypoints[entrypoint], len(document)
        try:
            self._memory.write(self._heap, document)
            result = self._evaluate(0, number, self._data, self._heap, length, self._heap + length, 0)
            text = self._memory.text(result)
        except wasmtime.Trap as error:
            raise self._failure(error, entrypoint, worked=time.thread_time() - began) from None
        except wasmtime.WasmtimeError as error:
            if self._blames_object and self._heap + length > self._memory_limit:
                raise self._exhausted_memory() from None
            raise errors.EngineError(f"entry point {entrypoint}: {_last_line(error)}") from None
        if self._host is not None and (failure := self._host.taken_failure()):
            raise errors.EngineError(f"entry point {entrypoint}: {failure}")
        return text

    def _set_deadline(self) -> None:
        self._store.set_epoch_deadline(self._clock.ticks())
        if self._clock.stopped.is_set():  # only now, or a policy that starts during `close` would never stop
            raise errors.EngineError(_CLOSED)
        if ANSWER_UNTIL.get() <= time.monotonic():
            raise errors.DeadlineError("no time is left to evaluate the policies")

    def _too_late(self, what: str) -> errors.EngineError:
        if self._clock.stopped.is_set():
            return errors.EngineError(_CLOSED)
        if ANSWER_UNTIL.get() <= time.monotonic():
            return errors.DeadlineError(f"{what} took longer than the rest of the time of this review")
        return errors.DeadlineError(f"{what} took longer than {self._clock.deadline:g} s")

    def _too_late_to_judge(self, entrypoint: str, worked: float) -> errors.EngineError:
        error = self._too_late(f"entry point {entrypoint}: the policies")
        is_starved = isinstance(error, errors.DeadlineError) and worked * 2 < self._clock.deadline
        return _StarvedError(str(error)) if is_starved else error

    def _failure(self, error: wasmtime.Trap, entrypoint: str, *, worked: float) -> errors.EngineError:
        if error.trap_code is wasmtime.TrapCode.INTERRUPT:
            if self._blames_object and worked >= OWN_SECONDS and not self._clock.stopped.is_set():
                return errors.ExhaustedError(f"more for the rules to do than usher has time for ({worked:.1f} s)")
            return self._too_late_to_judge(entrypoint, worked)
        if self._blames_object and self._abort_message == _NO_MEMORY:
            return self._exhausted_memory()
        if self._abort_message:
            return errors.EngineError(f"entry point {entrypoint}: the policies stopped: {self._abort_message}")
        return errors.EngineError(f"entry point {entrypoint}: the policies failed: {_last_line(error)}")

    def _exhausted_memory(self) -> errors.ExhaustedError:
        return errors.ExhaustedError(
            f"more for the rules to keep than the {self._memory_limit // 2**20} MiB of memory that usher has for it"
        )

    def _call(self, function: str, *arguments: int) -> int:
        result: int = self._functions[function](self._store, *arguments)
        return result

    def _numbers(self, function: str) -> dict[str, int]:
        """A table of the module: names and their numbers."""
        numbers: dict[str, int] = orjson.loads(self._memory.text(self._call("opa_json_dump", self._call(function))))
        return numbers


def _last_line(error: Exception) -> str:
    return str(error).strip().rpartition("\n")[2].strip()
