"""Counts the work of the policy engine, which is the same on every machine, and grows the lists of objects."""

import copy
import os
import re
from collections.abc import Iterator
from typing import Any, Final

import wasmtime
from msgspec import Struct

from usher import paths
from usher.policy.checks import bundle
from usher.policy.engines import wasm, wasm_runtime
from usher.policy.engines.engine import Entrypoint

FUEL: Final = 10**17
SECOND: Final = 4_000_000_000
"""Instructions of WebAssembly that a slow core of a server runs in a second; a fast one runs twice as many."""
BOUND: Final = 600.0
"""Seconds after which a test gives up waiting."""


class Work(Struct, frozen=True, kw_only=True):
    """The work for one question to the engine."""

    entrypoint: str
    bytes: int
    """Of the input document."""
    instructions: int
    memory: int
    """Bytes that the evaluation took."""


class CountingSandbox(wasm_runtime.Sandbox):
    """Counts instructions, which takes a quarter more time."""

    def __init__(self) -> None:
        configuration = wasm_runtime.compiler_configuration()
        configuration.consume_fuel = True
        self.engine = wasmtime.Engine(configuration)
        self.process = os.getpid()
        self.clock = wasm_runtime.Clock(self.engine.increment_epoch, deadline=BOUND, owner=self)

    def store(self) -> wasmtime.Store:
        store = wasmtime.Store(self.engine)
        store.set_fuel(FUEL)
        return store


class CountingEngine:
    """The embedded engine, without a deadline and with the memory of a server."""

    name = "counting"
    waits = False

    def __init__(self) -> None:
        policies = bundle.load()
        self.entries = policies.catalogue
        self.done: list[Work] = []
        self._engine = wasm.WasmEngine(policies.module, sandbox=CountingSandbox(), rebuild_above=2**40)

    def evaluate(self, entrypoint: Entrypoint, document: bytes) -> paths.Object:
        instance: Any = self._engine._instance()  # noqa: SLF001 - only the engine knows its instance
        before = instance._store.get_fuel()  # noqa: SLF001
        result = self._engine.evaluate(entrypoint, document)
        self.done.append(
            Work(
                entrypoint=entrypoint,
                bytes=len(document),
                instructions=before - instance._store.get_fuel(),  # noqa: SLF001
                memory=instance._call("opa_heap_ptr_get") - instance._heap,  # noqa: SLF001
            )
        )
        return result

    def ready(self) -> None:
        """Always."""

    def close(self) -> None:
        self._engine.close()


Place = tuple[str | int, ...]


def places(value: paths.Json, place: Place = ()) -> Iterator[Place]:
    """The places of all lists and maps with entries, without the object itself and its status."""
    if isinstance(value, dict):
        if value and place:
            yield place
        for key, item in value.items():
            if place or key != "status":
                yield from places(item, (*place, key))
    elif isinstance(value, list):
        if value:
            yield place
        for index, item in enumerate(value):
            yield from places(item, (*place, index))


def grown(value: paths.Object, place: Place, number: int) -> paths.Object:
    """A copy whose list or map at a place has this number of entries, which are like the first ones."""
    result = copy.deepcopy(value)
    at: Any = result
    for key in place:
        at = at[key]
    if isinstance(at, list):
        first = list(at)
        at.extend(_renamed(copy.deepcopy(first[index % len(first)]), index) for index in range(number - len(first)))
    else:
        entries = list(at.items())
        for index in range(number - len(entries)):
            key, item = entries[index % len(entries)]
            at[_renamed_key(key, index)] = copy.deepcopy(item)
    return result


def _renamed(entry: Any, index: int) -> Any:  # noqa: ANN401 - JSON
    """The entry with another name, so that the API server would take both."""
    if isinstance(entry, dict):
        for key in ("name", "mountPath", "containerPort", "key", "topologyKey", "devicePath"):
            if isinstance(entry.get(key), str):
                return {**entry, key: f"{entry[key]}-{index}"}
            if isinstance(entry.get(key), int):
                return {**entry, key: entry[key] + index}
    return f"{entry}-{index}" if isinstance(entry, str) else entry


def _renamed_key(key: str, index: int) -> str:
    return re.sub(r"\d+|$", str(index), key, count=1)
