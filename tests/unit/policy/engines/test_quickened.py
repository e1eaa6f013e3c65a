"""The faster functions of the compiled policies give the answers of OPA's own ones."""

from pathlib import Path
from typing import Any

import orjson
import pytest
import quicken_module
from hypothesis import given, settings
from hypothesis import strategies as st

import generated_examples
import opa_server
from usher import errors
from usher.policy.checks import catalogue
from usher.policy.engines.engine import Entrypoint
from usher.policy.engines.wasm import WasmEngine

pytestmark = [*opa_server.needs_opa, pytest.mark.costly]

BINARYEN = Path(__file__).parents[4] / ".tools" / "binaryen" / "icpp_binaryen" / "lib"

NAMES = ["", "a", "ab", "seven77", "eight888", "nine99999", "eight889", "sixteen_letters_", "sixteen_letters!", "größe"]

READS = "\n".join(
    f'values["{number}"] := input.value[{orjson.dumps(name).decode()}]' for number, name in enumerate(NAMES)
)

POLICY = f"""package usher.main

findings := {{
	"version": 1,
	"values": values,
	"numbers": [input.value[number] | some number in [0, 1, 2, 7]],
	"late": input_at(-1),
	"again": [values, values],
	"ordered": [[key, value] | some key, value in input.value],
	"members": [[member, other] | some member in members; some other in members],
	"pairs": [pair | some pair in pairs],
	"deep": [value | value := input.value[_].ab.eight888],
	"smaller": {{name | some name in {orjson.dumps(NAMES).decode()}; name < input.text}},
	"equal": {{name | some name in {orjson.dumps(NAMES).decode()}; name == input.text}},
	"sums": [[number * 2, number + 1, json.marshal(number)] | some number in input.value; is_number(number)],
	"holds": [[value, value in all] | some value in values; some all in [values, members, input.value]],
	"reached": [[one, all] | some all in [members, {{input.text, input.digits}}]; some one in all],
	"objects": sort([each |
		some one in values
		some other in values
		each := object.union({{"b": one, "a": [one], "eight888": other}}, wide(one))
	]),
	"set": [each | some each in {{{{"b": one, "eight888": other}} | some one in values; some other in members}}],
	"added": [[one + other, one - other, one * other] | some one in whole; some other in whole],
	"totals": [sum(whole), sum([number | some number in input.value; is_number(number)]), sum({{1, input.size}})],
	"squares": {{number: square | some number in input.value; is_number(number); square := number * number}},
	"number": [number | number := to_number(input.digits)],
	"inner": [inner | inner := json.unmarshal(input.inner)],
	"parts": [upper(input.text), split(input.text, "a"), concat(input.text, ["", input.digits, ""])],
}}

pairs := {{[number, name] | some number in numbers.range(1, input.size); some name in members}}

wide(one) := {{"c": {{number: one | some number in numbers.range(1, 40)}}}} if one == "ab"

else := {{}}

whole := [-2147483648, 2147483647, 65536, -1, input.size]

members := {{member | some member in input.value}} | {{name | some name, _ in input.value}}

default input_at(_) := "nothing"

input_at(number) := input.value[number]

{READS}

intents := {{"version": 1, "value": object.get(input, "value", "nothing")}}

skips := {{"version": 1}}
"""

numbers = st.integers(-3, 10**10) | st.integers(-3, 2**63) | st.floats(-1e6, 1e6)
texts = st.sampled_from(NAMES) | st.text(max_size=20) | st.text('a\x1f\x7f\x80"\\/ ~', max_size=30)
scalars = st.none() | st.booleans() | numbers | texts
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=20)
    ),
    max_leaves=30,
)


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> tuple[WasmEngine, ...]:
    """The plain module, the one with faster functions, and that one optimised, where scripts/policies has run."""
    plain = opa_server.compiled(POLICY, tmp_path_factory.mktemp("plain"))
    modules = [plain, quicken_module.quickened(plain)]
    if BINARYEN.is_dir():
        modules.append(quicken_module.optimised(modules[-1], BINARYEN))
    return tuple(map(WasmEngine, modules))


def answer(engine: WasmEngine, entrypoint: Entrypoint, document: bytes) -> bytes:
    """The answer; empty where OPA itself writes none, as for `to_number("E")`."""
    try:
        return orjson.dumps(engine.evaluate(entrypoint, document))
    except errors.EngineError:
        return b""


@settings(max_examples=generated_examples.up_to(500), deadline=None)
@given(
    value=documents,
    text=st.sampled_from(NAMES) | st.text(max_size=20),
    size=st.integers(0, 9),
    digits=st.integers().map(str) | st.floats(-1e6, 1e6).map(str) | texts,
)
def test_the_answers_are_those_of_the_plain_module_in_the_same_order(
    engines: tuple[WasmEngine, ...], value: Any, text: str, size: int, digits: str
) -> None:
    inner = orjson.dumps(value).decode()
    document = orjson.dumps({"value": value, "text": text, "size": size, "digits": digits, "inner": inner})

    for entrypoint in Entrypoint:
        plain, *quick = (answer(engine, entrypoint, document) for engine in engines)
        assert quick == [plain] * len(quick)


def test_a_module_with_another_runtime_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = opa_server.compiled(POLICY, tmp_path)
    monkeypatch.setitem(quicken_module.KNOWN, "opa_strncmp", "another")

    with pytest.raises(quicken_module.QuickenError, match="opa_strncmp of OPA's runtime is another one"):
        quicken_module.quickened(module)


def test_a_module_whose_rules_forget_values_is_refused(tmp_path: Path) -> None:
    policy = POLICY.replace('skips := {"version": 1}', "skips := changed if changed := findings with input.value as 1")

    with pytest.raises(quicken_module.QuickenError, match="`with`"):
        quicken_module.quickened(opa_server.compiled(policy, tmp_path))


def test_the_policies_that_usher_ships_are_the_faster_ones() -> None:
    module = (opa_server.POLICIES / "policy.wasm").read_bytes()

    with pytest.raises(quicken_module.QuickenError, match="is another one"):
        quicken_module.quickened(module)


def test_the_compiled_policies_are_optimised() -> None:
    """OPA writes the names of all functions, and Binaryen leaves them out."""
    assert b"\x04name" not in catalogue.load().module
