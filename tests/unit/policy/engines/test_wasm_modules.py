"""Modules that the embedded engine refuses, and modules whose word it must not trust."""

from pathlib import Path

import pytest
import wasmtime

import opa_server
from usher import errors
from usher.policy.engines import wasm as engines_wasm
from usher.policy.engines.engine import Entrypoint

pytestmark = opa_server.needs_opa


@pytest.mark.parametrize("module", [b"", b"\x00asm", b"#!/bin/sh\n", b"\x00asm\x01\x00\x00\x00\xff"], ids=repr)
def test_a_file_that_is_not_webassembly_is_refused_at_once(module: bytes) -> None:
    with pytest.raises(errors.EngineError, match="not a usable WebAssembly module"):
        engines_wasm.WasmEngine(module)


def test_a_module_that_opa_did_not_write_is_refused_at_once() -> None:
    with pytest.raises(errors.EngineError, match="cannot be started"):
        engines_wasm.WasmEngine(bytes(wasmtime.wat2wasm("(module)")))


def test_a_module_that_needs_a_built_in_of_the_host_is_refused_at_once(tmp_path: Path) -> None:
    policy = 'package usher.main\nfindings := http.send({"url": input.url})\nintents := 1\nskips := 1\n'

    with pytest.raises(errors.EngineError, match=r"calls http\.send"):
        engines_wasm.WasmEngine(opa_server.compiled(policy, tmp_path))


@pytest.mark.parametrize(
    "rule",
    [
        'http.send({"url": input.url, "method": "get"})',
        'count("x") with count as http.send',
        "opa.runtime().env",
        "[value | walk(input, [_, value])]",
        "time.now_ns()",
        "io.jwt.decode(input.token)",
    ],
)
def test_the_capabilities_refuse_to_build_policies_with_forbidden_functions(tmp_path: Path, rule: str) -> None:
    policy = f"package usher.main\nfindings := value if {{ value := {rule} }}\nintents := 1\nskips := 1\n"

    with pytest.raises(ValueError, match=r"undefined function|is unsafe"):
        opa_server.compiled(policy, tmp_path, capabilities=opa_server.POLICIES / "capabilities.json")


# Modules whose word must not be trusted


def hostile(*, result: int = 512, text: str = '[{"result":{"version":1}}]', evaluation: str = "") -> bytes:
    """A module that answers as OPA's do, from an address of its choice."""
    names = '{\\"usher/main/findings\\":0,\\"usher/main/intents\\":1,\\"usher/main/skips\\":2}'
    escaped = "".join(f"\\{byte:02x}" for byte in text.encode())
    return bytes(
        wasmtime.wat2wasm(f"""
(module
  (import "env" "memory" (memory 1))
  (import "env" "opa_abort" (func $abort (param i32)))
  (data (i32.const 16) "{names}\\00")
  (data (i32.const 128) "{{}}\\00")
  (data (i32.const 512) "{escaped}\\00")
  (func (export "entrypoints") (result i32) (i32.const 16))
  (func (export "builtins") (result i32) (i32.const 128))
  (func (export "opa_json_dump") (param i32) (result i32) (local.get 0))
  (func (export "opa_malloc") (param i32) (result i32) (i32.const 8192))
  (func (export "opa_json_parse") (param i32 i32) (result i32) (local.get 0))
  (func (export "opa_heap_ptr_get") (result i32) (i32.const 16384))
  (func (export "opa_eval") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    {evaluation}
    (i32.const {result})))
""")
    )


def test_the_hostile_module_could_be_an_honest_one() -> None:
    assert engines_wasm.WasmEngine(hostile()).evaluate(Entrypoint.FINDINGS, b"{}") == {"version": 1}


@pytest.mark.parametrize("address", [-1, -(2**31), 65536, 2**31 - 1])
def test_an_address_outside_of_the_memory_is_an_error(address: int) -> None:
    with pytest.raises(errors.EngineError, match="outside of its memory"):
        engines_wasm.WasmEngine(hostile(result=address)).evaluate(Entrypoint.FINDINGS, b"{}")


def test_a_text_without_an_end_is_an_error() -> None:
    fill = "(memory.fill (i32.const 60000) (i32.const 120) (i32.const 5536))"

    with pytest.raises(errors.EngineError, match="without an end"):
        engines_wasm.WasmEngine(hostile(result=60_000, evaluation=fill)).evaluate(Entrypoint.FINDINGS, b"{}")


@pytest.mark.parametrize("text", ["", "nope", "[", '[{"result":', "\ufffe"])
def test_a_result_that_is_not_json_is_an_error(text: str) -> None:
    with pytest.raises(errors.EngineError, match="not JSON"):
        engines_wasm.WasmEngine(hostile(text=text)).evaluate(Entrypoint.FINDINGS, b"{}")


@pytest.mark.parametrize("text", ["null", "{}", "[]", "[1]", "0"])
def test_a_result_set_of_another_shape_is_an_error(text: str) -> None:
    with pytest.raises(errors.EngineError, match="undefined"):
        engines_wasm.WasmEngine(hostile(text=text)).evaluate(Entrypoint.FINDINGS, b"{}")


@pytest.mark.parametrize("address", [512, -1], ids=["text", "nonsense"])
def test_an_abort_is_an_error_whatever_its_message(address: int) -> None:
    abort = f"(call $abort (i32.const {address})) (unreachable)"

    with pytest.raises(errors.EngineError):
        engines_wasm.WasmEngine(
            hostile(text="\udcff".encode("utf-8", "surrogatepass").decode("latin-1"), evaluation=abort)
        ).evaluate(Entrypoint.FINDINGS, b"{}")
