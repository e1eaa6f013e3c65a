"""Calls of a WebAssembly function that takes and gives 32-bit integers, with all that can be done once done once.

wasmtime's `Func.__call__` asks for the function's type and wraps every argument anew, which for the seven arguments of
`opa_eval` takes longer than the evaluation itself. This does the same through the same C function.
"""

import ctypes
from typing import Final

import wasmtime
from wasmtime import _bindings as bindings  # private, but generated from wasmtime's stable C header

_I32: Final = 0
"""WASMTIME_I32 of wasmtime/val.h."""


class Call:
    """One exported function of one store, to be called by the thread that the store belongs to."""

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
