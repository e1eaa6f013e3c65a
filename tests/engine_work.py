"""Counts the work of the policy engine, which is the same on every machine, and grows the lists of objects."""

import copy
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import wasmtime
from build_examples import configuration, facts, read_yaml
from msgspec import Struct

from usher import paths
from usher.policy.checks import catalogue
from usher.policy.decision import Request
from usher.policy.engines import wasm, wasm_runtime
from usher.policy.engines.engine import ALL_CHECKS, Entrypoint
from usher.policy.evaluator import Evaluator

FUEL: Final = 10**17
SECOND: Final = 4_000_000_000
"""Instructions of WebAssembly that a slow core of a server runs in a second; a fast one runs twice as many."""
BOUND: Final = 600.0
"""Seconds after which a test gives up waiting."""


class Work(Struct, frozen=True, kw_only=True):
    """The work for one question to the engine."""

    entrypoint: str
    bytes: int
    """The size of the input document."""
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
        policies = catalogue.load()
        self.entries = policies.catalogue
        self.done: list[Work] = []
        self._engine = wasm.WasmEngine(policies.module, sandbox=CountingSandbox(), rebuild_above=2**40)

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:  # noqa: ARG002 - it counts all
        instance: Any = self._engine._instance()
        before = instance._store.get_fuel()
        result = self._engine.evaluate(entrypoint, document)
        self.done.append(
            Work(
                entrypoint=entrypoint,
                bytes=len(document),
                instructions=before - instance._store.get_fuel(),
                memory=instance._call("opa_heap_ptr_get") - instance._heap,
            )
        )
        return result

    def ready(self) -> None:
        """Always."""

    def close(self) -> None:
        self._engine.close()


FEW: Final = 30
MANY: Final = 240
"""Numbers of entries between which growth is measured; most lists of a pod have a limit of 250."""


class Growth(Struct, frozen=True, kw_only=True):
    """How the work for an object grows with its lists."""

    few: int
    """Instructions for FEW entries, beside those for the object as it was."""
    many: int

    @property
    def exponent(self) -> float:
        """1 if twice the entries take twice the work. Tables of sets grow in steps, which adds up to 0.1."""
        return math.log(self.many / self.few, MANY / FEW) if self.few > 0 and self.many > 0 else 0.0


def growth(evaluator: Evaluator, engine: "CountingEngine", value: paths.Object, *at: "Place") -> Growth:
    """The growth of the work for both webhooks when the lists at these places grow together."""

    def instructions(number: int) -> int:
        longer = value
        for place in at:
            longer = grown(longer, place, number)
        engine.done.clear()
        evaluator.decide(Request(value=longer))
        evaluator.mutate(Request(value=longer))
        return sum(work.instructions for work in engine.done)

    base, few, many = (instructions(number) for number in (0, FEW, MANY))
    return Growth(few=few - base, many=many - base)


CHECKS: Final = Path(__file__).parents[1] / "policies" / "usher" / "checks"


def example(name: str, engine: "CountingEngine") -> tuple[Evaluator, Any]:
    """The example of a check, `category/check/file`, and an evaluator with the configuration and facts beside it."""
    file = CHECKS / Path(name).parent / "examples" / f"{Path(name).name}.yaml"
    config, known = configuration(file.parent), facts(file.parent)
    return Evaluator(engine=engine, entries=engine.entries, config=config, facts=known), read_yaml(file)


def examples_of_every_kind() -> dict[str, str]:
    """The name of one example of each kind, by `group/kind`."""
    found: dict[str, str] = {}
    for file in sorted(CHECKS.glob("*/*/examples/bad_*.yaml")):
        value = read_yaml(file)
        kind = f"{str(value.get('apiVersion')).rpartition('/')[0]}/{value.get('kind')}"
        if value.get("kind") != "AdmissionReview":
            found.setdefault(kind, f"{file.parent.parent.relative_to(CHECKS)}/{file.stem}")
    return found


def places_of_different_fields(value: paths.Object) -> Iterator["Place"]:
    """The places of lists and maps, only the first of several entries of a list."""
    seen: set[tuple[str, ...]] = set()
    for place in places(value):
        fields = tuple(key for key in place if isinstance(key, str))
        if fields not in seen:
            seen.add(fields)
            yield place


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


def _renamed(entry: Any, index: int) -> Any:
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
