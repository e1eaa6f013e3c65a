"""Policies that were compiled ahead, and files that are not what they seem."""

from pathlib import Path

import pytest
import wasmtime

import builders
from usher import errors
from usher.config import models
from usher.policy import assembly
from usher.policy.checks import catalogue
from usher.policy.decision import Request
from usher.policy.engines import wasm, wasm_runtime


@pytest.fixture(scope="module")
def module() -> bytes:
    return catalogue.load().module


@pytest.fixture
def made(module: bytes, tmp_path: Path) -> Path:
    file = wasm_runtime.machine_code_file(tmp_path, module)
    wasm_runtime.write_machine_code(module, file)
    return file


def fails_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("it was compiled again")

    monkeypatch.setattr(wasmtime, "Module", type("Module", (wasmtime.Module,), {"__init__": refuse}))


def test_an_engine_starts_from_machine_code_and_answers_the_same(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Request(value=builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})))
    compiled = assembly.embedded(models.Config()).decide(asked)
    fails_to_compile(monkeypatch)
    with pytest.raises(AssertionError, match="compiled again"):
        assembly.embedded(models.Config())
    monkeypatch.setattr(wasm_runtime, "machine_code_file", lambda *_: made)

    assert assembly.embedded(models.Config()).decide(asked) == compiled


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\n"], ids=["empty", "another file", "a script"])
def test_another_file_in_its_place_is_ignored(module: bytes, made: Path, content: bytes) -> None:
    made.write_bytes(content)

    wasm.WasmEngine(module, ahead=made).ready()


def test_machine_code_of_another_configuration_is_compiled_instead(tmp_path: Path) -> None:
    without_deadlines, made = wasmtime.Engine(wasmtime.Config()), tmp_path / "module"
    made.write_bytes(wasmtime.Module(without_deadlines, "(module)").serialize())

    assert wasm_runtime.read_machine_code(wasmtime.Engine(wasm_runtime.compiler_configuration()), made) is None


def test_another_module_has_another_file(module: bytes, tmp_path: Path) -> None:
    assert wasm_runtime.machine_code_file(tmp_path, module) != wasm_runtime.machine_code_file(
        tmp_path, module + b"\x00"
    )


def test_policies_from_elsewhere_are_compiled_whatever_lies_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path | None] = []

    class Engine(wasm.WasmEngine):
        def __init__(self, module: bytes, *, ahead: Path | None = None) -> None:
            asked.append(ahead)
            super().__init__(module)

    monkeypatch.setattr(wasm, "WasmEngine", Engine)
    policies = tmp_path / "policies"
    policies.symlink_to(catalogue.find())
    assembly.embedded(models.Config(), directory=policies)
    assembly.embedded(models.Config())

    assert asked[0] is None
    assert asked[1] is not None


def test_a_folder_that_cannot_be_written_is_an_error_of_input_and_nothing_is_left(
    module: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "absent" / "policy.cwasm"

    with pytest.raises(errors.InputError, match="cannot be written: No such file or directory"):
        wasm_runtime.write_machine_code(module, file)
    assert list(tmp_path.iterdir()) == []
