"""Calls of a compiled policy to built-ins of Rego that WebAssembly lacks; this process answers them.

OPA compiles most built-ins into the module. It imports `opa_builtin0` to `opa_builtin4` for the others, with the number
of the built-in and the addresses of its arguments; 0 as answer means undefined, as after an error in a built-in of OPA.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from usher import errors
from usher.policy.engines import rego_values
from usher.policy.engines.wasm_runtime import Memory

Functions = Mapping[str, Callable[..., rego_values.Value]]
"""Functions by the name of the built-in. A function raises UndefinedError if OPA would fail in it."""

NO_FUNCTIONS: Final[Functions] = MappingProxyType({})

IMPORTS: Final = tuple(f"opa_builtin{count}" for count in range(5))
"""Names of the imports, by their number of arguments."""

LARGEST: Final = 2**20
"""Bytes of the largest answer; a message has some hundred."""


class HostCalls:
    """Answers the calls of one instance."""

    def __init__(
        self, numbers: Mapping[str, int], functions: Functions, *, call: Callable[..., int], memory: Memory
    ) -> None:
        """Takes the built-ins that a module calls, with their numbers.

        Raises:
            EngineError: the module calls a built-in that is not among `functions`.
        """
        if missing := sorted(set(numbers) - set(functions)):
            raise errors.EngineError(f"the compiled policy calls {', '.join(missing)}, which WebAssembly lacks")
        self._functions = {number: functions[name] for name, number in numbers.items()}
        self._call = call
        self._memory = memory
        self._failure = ""

    def __call__(self, number: int, addresses: tuple[int, ...]) -> int:
        """The address of the answer; 0 if the answer is undefined."""
        try:
            arguments = [self._argument(address) for address in addresses]
            return self._answer(self._functions[number](*arguments))
        except rego_values.UndefinedError:
            return 0
        except Exception as error:  # noqa: BLE001 - it would come out of another call; `taken_failure` has it
            self._failure = f"a built-in failed: {type(error).__name__}: {error!s:.200}"
            return 0

    def taken_failure(self) -> str:
        """Why a call of the last evaluation failed, and forgets it; empty if no call failed."""
        failure, self._failure = self._failure, ""
        return failure

    def _argument(self, address: int) -> rego_values.Value:
        return rego_values.parse(self._memory.text(self._call("opa_value_dump", address)).decode())

    def _answer(self, value: rego_values.Value) -> int:
        text = rego_values.written(value).encode()
        if len(text) > LARGEST:
            raise errors.EngineError(f"its answer is larger than {LARGEST} bytes")
        address = self._call("opa_malloc", len(text))
        self._memory.write(address, text)
        return self._call("opa_value_parse", address, len(text))
